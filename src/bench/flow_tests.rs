// SPDX-License-Identifier: GPL-2.0-only
//! The whole course without a machine: everything is played, faults included.

use std::cell::Cell;
use std::cell::RefCell;
use std::io;

use super::super::budget::Budget;
use super::super::judged::Row;
use super::super::loads;
use super::super::result::Outcomes;
use super::super::result::FORMAT;
use super::super::stats::Better;
use super::super::stats::Verdict;
use super::*;

/// What the mocks share: a played machine.
#[derive(Default)]
struct World {
    now_s: Cell<f64>,
    /// The scheduler in force; `None`: the fair class.
    on: RefCell<Option<Arm>>,
    stopped: Cell<bool>,
    /// Runs of loads so far, warm-ups included.
    runs: Cell<usize>,
    starts: Cell<usize>,
    restored: Cell<usize>,
    kept: RefCell<Vec<Record>>,
    fault: Fault,
}

/// What goes wrong.
#[derive(Default)]
struct Fault {
    /// Loads crash under this arm, at once and so in next to no time.
    crash_under: Option<Arm>,
    /// This arm does not start.
    no_start: Option<Arm>,
    /// The scheduler is thrown out during this run.
    ejected_in: Option<usize>,
    /// The disk takes so many records.
    room: Option<usize>,
    /// Ctrl-C during this run.
    interrupt_in: Option<usize>,
}

struct Mock<'a>(&'a World);

impl Executor for Mock<'_> {
    fn run(&mut self, case: &Case, warmup: bool) -> Result<Ran, NoRun> {
        let world = self.0;
        let run = world.runs.get();
        world.runs.set(run + 1);
        if world.fault.interrupt_in == Some(run) {
            world.stopped.set(true);
            return Err(NoRun::Interrupted);
        }
        let on = world.on.borrow().clone();
        if world.fault.crash_under.is_some() && on == world.fault.crash_under {
            return Err(NoRun::Failed("signal 11: it printed nothing".into()));
        }
        // 1 s under the fair class, 0.9 under others, and some noise.
        let noise = (run * 7919 % 13) as f64 / 1000.0;
        let took = if on.is_some() { 0.9 } else { 1.0 } + noise;
        world
            .now_s
            .set(world.now_s.get() + if warmup { 0.1 } else { took });
        if world.fault.ejected_in == Some(run) {
            world.on.replace(None);
        }
        let slow = if case.name.contains("nothing") {
            ""
        } else {
            "t="
        };
        Ok(Ran {
            output: format!("{slow}{took}"),
            wall_s: took,
        })
    }
}

impl Clock for Mock<'_> {
    fn now(&self) -> Duration {
        Duration::from_secs_f64(self.0.now_s.get())
    }

    fn unix_s(&self) -> u64 {
        self.0.now_s.get() as u64
    }
}

impl Switch for Mock<'_> {
    fn to(&mut self, arm: &Arm) -> Result<(), String> {
        self.0.starts.set(self.0.starts.get() + 1);
        if self.0.fault.no_start.as_ref() == Some(arm) {
            self.0.on.replace(None);
            return Err("it is not installed".into());
        }
        self.0.on.replace((*arm != Arm::Fair).then(|| arm.clone()));
        Ok(())
    }

    fn holds(&mut self, arm: &Arm) -> Result<(), String> {
        let wanted = (*arm != Arm::Fair).then(|| arm.clone());
        if *self.0.on.borrow() == wanted {
            Ok(())
        } else {
            Err("ejected: runnable task stall".into())
        }
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        BTreeMap::from([("pull.llc".into(), self.0.runs.get() as u64)])
    }

    fn restore(&mut self) -> Result<(), String> {
        self.0.restored.set(self.0.restored.get() + 1);
        self.0.on.replace(None);
        Ok(())
    }
}

impl Watch for Mock<'_> {
    fn begin(&mut self) {}

    fn end(&mut self) -> Vec<String> {
        if self.0.runs.get() == 2 {
            vec!["other load took 30 % of the CPUs".into()]
        } else {
            vec![]
        }
    }
}

impl Store for Mock<'_> {
    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut kept = self.0.kept.borrow_mut();
        if self.0.fault.room.is_some_and(|room| kept.len() >= room) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        kept.push(record.clone());
        Ok(())
    }
}

fn sibling() -> Arm {
    Arm::Sibling(vec![])
}

fn start(max_rounds: usize, command: &str) -> Start {
    Start {
        format: FORMAT,
        version: "0".into(),
        at_s: 0,
        seed: 3,
        budget: Budget {
            max_rounds,
            precision_pct: 0.0,
        },
        arms: vec!["fair".into(), "sibling".into()],
        cases: vec![loads::command(command, Some("t=([0-9.]+)"), Better::Lower).unwrap()],
        environment: BTreeMap::new(),
    }
}

fn play(world: &World, start: &Start, blocks: &mut Vec<Block>) -> Result<Ending> {
    let (mut executor, mut switch, mut watch, mut store) =
        (Mock(world), Mock(world), Mock(world), Mock(world));
    let mut parts = Parts {
        executor: &mut executor,
        clock: &Mock(world),
        switch: &mut switch,
        watch: &mut watch,
        store: &mut store,
        stop: &|| world.stopped.get(),
        progress: &mut |_| {},
    };
    let ended = run(start, &[Arm::Fair, sibling()], blocks, &mut parts);
    assert_eq!(world.restored.get(), 1, "restored once");
    assert_eq!(*world.on.borrow(), None, "on the scheduler from before");
    ended
}

fn rows(start: &Start, blocks: &[Block]) -> Vec<Row> {
    judged::rows(&Outcomes {
        start: start.clone(),
        blocks: blocks.to_vec(),
        complete: true,
        length: 0,
    })
}

fn with(fault: Fault) -> World {
    World {
        fault,
        ..World::default()
    }
}

#[test]
fn a_whole_measurement_finds_the_faster_arm() {
    let (world, start, mut blocks) = (World::default(), start(10, "x"), vec![]);
    assert_eq!(play(&world, &start, &mut blocks).unwrap(), Ending::Complete);
    assert_eq!(blocks.len(), 20);
    let rows = rows(&start, &blocks);
    let found = rows[1].comparison.clone().unwrap();
    assert_eq!(found.verdict, Verdict::Faster, "{found}");
    assert_eq!(rows[0].disturbed + rows[1].disturbed, 1);
    // Each round's arms stand in the planned order, each with what was counted.
    for (round, pair) in blocks.chunks(2).enumerate() {
        let order: Vec<usize> = pair.iter().map(|block| block.arm).collect();
        assert_eq!(order, plan::order(2, round, start.seed));
        assert_eq!(pair[0].counters["pull.llc"], 1);
    }
    // The last arm of a round is often the first of the next: no needless switch.
    assert!(world.starts.get() < 20, "{}", world.starts.get());
    assert!(matches!(
        world.kept.borrow().last(),
        Some(Record::End { .. })
    ));
}

#[test]
fn a_load_that_crashes_under_one_arm_is_not_fast() {
    let (world, start, mut blocks) = (
        with(Fault {
            crash_under: Some(sibling()),
            ..Fault::default()
        }),
        start(10, "x"),
        vec![],
    );
    assert_eq!(play(&world, &start, &mut blocks).unwrap(), Ending::Complete);
    let rows = rows(&start, &blocks);
    assert_eq!(rows[1].verdict(), "failed");
    assert!(rows[1].words().contains("signal 11"), "{}", rows[1].words());
    // And it is not crashed again for the whole budget.
    assert_eq!(rows[1].failures.len(), judged::MAX_FAILURES);
}

#[test]
fn an_arm_that_does_not_start_is_a_result_too() {
    let fault = Fault {
        no_start: Some(sibling()),
        ..Fault::default()
    };
    let (world, start, mut blocks) = (with(fault), start(10, "x"), vec![]);
    assert_eq!(play(&world, &start, &mut blocks).unwrap(), Ending::Complete);
    let rows = rows(&start, &blocks);
    assert_eq!(rows[1].verdict(), "failed");
    assert!(rows[1].words().contains("not installed"));
    assert_eq!(rows[0].failures, Vec::<String>::new());
}

#[test]
fn a_scheduler_thrown_out_during_a_block_costs_that_block() {
    let start = start(10, "x");
    // Both runs of a block: the warm-up and the measured one.
    for run in 0..12 {
        let fault = Fault {
            ejected_in: Some(run),
            ..Fault::default()
        };
        let (world, mut blocks) = (with(fault), vec![]);
        play(&world, &start, &mut blocks).unwrap();
        let rows = rows(&start, &blocks);
        let failed = &rows[1].failures;
        assert_eq!(rows[0].failures, Vec::<String>::new(), "run {run}");
        assert!(
            failed.len() <= 1,
            "run {run}: the next block starts it anew"
        );
        if let [why] = &failed[..] {
            assert!(why.contains("runnable task stall"), "{why}");
            assert_eq!(rows[1].verdict(), "failed", "though the others were fast");
        }
    }
}

#[test]
fn a_load_that_prints_no_figure_has_failed() {
    let (world, start, mut blocks) = (World::default(), start(10, "nothing"), vec![]);
    play(&world, &start, &mut blocks).unwrap();
    assert!(rows(&start, &blocks)[0].words().contains("no figure"));
}

#[test]
fn a_full_disk_ends_it_with_all_blocks_kept() {
    let fault = Fault {
        room: Some(5),
        ..Fault::default()
    };
    let (world, start, mut blocks) = (with(fault), start(10, "x"), vec![]);
    let error = play(&world, &start, &mut blocks).unwrap_err();
    let said = format!("{error:#}");
    assert!(
        said.contains("resume") && said.contains("No space"),
        "{said}"
    );
    assert_eq!((blocks.len(), world.kept.borrow().len()), (5, 5));
}

#[test]
fn wherever_it_is_interrupted_resuming_gives_the_same_blocks() {
    let start = start(6, "x");
    let key = |block: &Block| (block.round, block.arm, block.case);
    let mut whole = vec![];
    play(&World::default(), &start, &mut whole).unwrap();
    let want: Vec<_> = whole.iter().map(key).collect();
    for run in 0..24 {
        let fault = Fault {
            interrupt_in: Some(run),
            ..Fault::default()
        };
        let (world, mut blocks) = (with(fault), vec![]);
        assert_eq!(
            play(&world, &start, &mut blocks).unwrap(),
            Ending::Interrupted
        );
        // Two runs a block: all that ended before are there, and on disk.
        assert_eq!(blocks.len(), run / 2, "interrupted in run {run}");
        assert_eq!(world.kept.borrow().len(), blocks.len());
        let end = play(&World::default(), &start, &mut blocks).unwrap();
        assert_eq!(end, Ending::Complete);
        assert_eq!(blocks.iter().map(key).collect::<Vec<_>>(), want);
    }
}
