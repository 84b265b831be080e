// SPDX-License-Identifier: GPL-2.0-only
//! A measurement from its first block to its last, whatever happens meanwhile.
//!
//! The machine is behind traits: programs, scheduler, clock and disk are replaced by
//! mocks in tests, faults included.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use anyhow::Result;

use super::arm::Arm;
use super::case::Case;
use super::judged;
use super::plan;
use super::result::Block;
use super::result::Outcome;
use super::result::Record;
use super::result::Start;
use super::result::Store;
use super::stats;

/// What a program that ended well printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// Standard output and standard error.
    pub output: String,
    /// Seconds from its start to its end.
    pub wall_s: f64,
}

/// Why a program gave nothing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRun {
    /// The user wants to stop.
    Interrupted,
    /// It is missing, crashed, or took too long; in words.
    Failed(String),
}

/// Runs loads.
pub trait Executor {
    /// Runs a case; `warmup`: a short run of it, whose figures nobody reads.
    ///
    /// # Errors
    /// See [`NoRun`].
    fn run(&mut self, case: &Case, warmup: bool) -> Result<Ran, NoRun>;
}

/// Reads and passes time.
pub trait Clock {
    /// Time since some moment in the past.
    fn now(&self) -> Duration;
    /// Seconds since 1970.
    fn unix_s(&self) -> u64;
}

/// Brings schedulers into force.
pub trait Switch {
    /// The machine is on `arm`, settled, when this returns.
    ///
    /// # Errors
    /// It is not; the text says why.
    fn to(&mut self, arm: &Arm) -> Result<(), String>;
    /// Has it been on the arm ever since?
    ///
    /// # Errors
    /// No; the text says what happened.
    fn holds(&mut self, arm: &Arm) -> Result<(), String>;
    /// Counters of the running scheduler; none for one that has none.
    fn counters(&mut self) -> BTreeMap<String, u64>;
    /// Back to the scheduler from before the first [`Switch::to`].
    ///
    /// # Errors
    /// The machine is left on another; the text says on which.
    fn restore(&mut self) -> Result<(), String>;
}

/// Looks for what else goes on.
pub trait Watch {
    /// A block begins.
    fn begin(&mut self);
    /// It has ended; what disturbed it, in words.
    fn end(&mut self) -> Vec<String>;
}

/// How far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    /// Blocks that have ended.
    pub done: usize,
    /// Blocks if every case takes all rounds.
    pub most: usize,
    /// Which round it is.
    pub round: usize,
    /// The arm that runs now.
    pub arm: &'a str,
    /// The case that runs now.
    pub case: &'a str,
    /// Seconds that are left at most; unknown for the first block.
    pub left_s: Option<f64>,
}

/// Everything a measurement uses.
pub struct Parts<'a> {
    /// Runs loads.
    pub executor: &'a mut dyn Executor,
    /// Reads the time.
    pub clock: &'a dyn Clock,
    /// Changes the scheduler.
    pub switch: &'a mut dyn Switch,
    /// Sees disturbances.
    pub watch: &'a mut dyn Watch,
    /// Keeps the blocks.
    pub store: &'a mut dyn Store,
    /// Does the user want to stop?
    pub stop: &'a dyn Fn() -> bool,
    /// Shown before each block.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// How a measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All is measured.
    Complete,
    /// The user stopped it; it can be resumed.
    Interrupted,
}

/// Measures what `blocks` lacks. Whatever happens, the machine is back on the
/// scheduler it had.
///
/// # Errors
/// A block could not be kept, or the scheduler not be restored. Nothing that a load or
/// a scheduler does is an error: their failures are results.
pub fn run(
    start: &Start,
    arms: &[Arm],
    blocks: &mut Vec<Block>,
    parts: &mut Parts,
) -> Result<Ending> {
    let mut flow = Flow {
        start,
        arms,
        blocks,
        parts,
        on: None,
        spent: vec![],
    };
    let ended = flow.rounds();
    let restored = flow.parts.switch.restore();
    let ended = ended?;
    restored.map_err(|why| anyhow::anyhow!("going back to the scheduler from before: {why}"))?;
    Ok(ended)
}

struct Flow<'a, 'b> {
    start: &'a Start,
    arms: &'a [Arm],
    blocks: &'a mut Vec<Block>,
    parts: &'a mut Parts<'b>,
    /// The arm the machine is on.
    on: Option<usize>,
    /// What each block of this session took, switch and warm-up included.
    spent: Vec<f64>,
}

impl Flow<'_, '_> {
    fn rounds(&mut self) -> Result<Ending> {
        for round in 0..self.start.budget.max_rounds {
            let open = open(self.start, self.blocks, round);
            if open.is_empty() {
                break;
            }
            for arm in plan::order(self.arms.len(), round, self.start.seed) {
                for case in &open {
                    if self.has(round, arm, *case) || self.given_up(round, arm, *case) {
                        continue;
                    }
                    if (self.parts.stop)() || !self.block(round, arm, *case)? {
                        return Ok(Ending::Interrupted);
                    }
                }
            }
        }
        let end = Record::End {
            at_s: self.parts.clock.unix_s(),
        };
        self.keep(&end)?;
        Ok(Ending::Complete)
    }

    fn has(&self, round: usize, arm: usize, case: usize) -> bool {
        let same = |b: &Block| (b.round, b.arm, b.case) == (round, arm, case);
        self.blocks.iter().any(same)
    }

    fn given_up(&self, round: usize, arm: usize, case: usize) -> bool {
        given_up(self.blocks, round, arm, case)
    }

    fn keep(&mut self, record: &Record) -> Result<()> {
        self.parts.store.append(record).context(
            "writing the result; all blocks before this one are kept, make room and use `scx_sibling bench resume`",
        )
    }

    /// Measures one block; false if the user stopped it.
    fn block(&mut self, round: usize, arm: usize, case: usize) -> Result<bool> {
        self.show(round, arm, case);
        let begin = self.parts.clock.now();
        let Some((outcome, wall_s, disturbed, counters)) = self.measure(arm, case) else {
            return Ok(false);
        };
        if matches!(outcome, Outcome::Failed(_)) {
            // Whatever it was, the next block begins with a fresh start of its arm.
            self.on = None;
        }
        let block = Block {
            round,
            arm,
            case,
            at_s: self.parts.clock.unix_s(),
            wall_s,
            outcome,
            disturbed,
            counters,
        };
        self.keep(&Record::Block(block.clone()))?;
        self.blocks.push(block);
        let took = self.parts.clock.now().saturating_sub(begin);
        self.spent.push(took.as_secs_f64());
        Ok(true)
    }

    fn show(&mut self, round: usize, arm: usize, case: usize) {
        let most = self.start.cases.len() * self.arms.len() * self.start.budget.max_rounds;
        let done = self.blocks.len();
        let left = most.saturating_sub(done) as f64;
        let progress = Progress {
            done,
            most,
            round,
            arm: &self.start.arms[arm],
            case: &self.start.cases[case].name,
            left_s: (!self.spent.is_empty()).then(|| stats::mean(&self.spent) * left),
        };
        (self.parts.progress)(&progress);
    }

    /// Outcome, seconds, disturbances, counters; `None` if the user stopped it.
    #[allow(clippy::type_complexity)]
    fn measure(
        &mut self,
        arm: usize,
        case: usize,
    ) -> Option<(Outcome, f64, Vec<String>, BTreeMap<String, u64>)> {
        let failed = |why| Some((Outcome::Failed(why), 0.0, vec![], BTreeMap::new()));
        let (arm_is, case) = (&self.arms[arm], &self.start.cases[case]);
        if self.on != Some(arm) {
            self.on = None;
            if let Err(why) = self.parts.switch.to(arm_is) {
                return if (self.parts.stop)() {
                    None
                } else {
                    failed(why)
                };
            }
            self.on = Some(arm);
        }
        match self.parts.executor.run(case, true) {
            Err(NoRun::Interrupted) => return None,
            Err(NoRun::Failed(why)) => return failed(format!("warm-up: {why}")),
            Ok(_) => {}
        }
        let before = self.parts.switch.counters();
        self.parts.watch.begin();
        let ran = self.parts.executor.run(case, false);
        let disturbed = self.parts.watch.end();
        let after = self.parts.switch.counters();
        // First: a load that fails because its scheduler was ejected is the scheduler's failure.
        if let Err(why) = self.parts.switch.holds(arm_is) {
            return if (self.parts.stop)() {
                None
            } else {
                failed(why)
            };
        }
        match ran {
            Err(NoRun::Interrupted) => None,
            Err(NoRun::Failed(why)) => failed(why),
            Ok(ran) => {
                let outcome = match case.read(&ran.output, ran.wall_s) {
                    Ok(values) => Outcome::Values(values),
                    Err(why) => Outcome::Failed(why),
                };
                Some((outcome, ran.wall_s, disturbed, delta(&after, &before)))
            }
        }
    }
}

fn delta(after: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown = |(name, n): (&String, &u64)| {
        let n = n.saturating_sub(before.get(name).copied().unwrap_or(0));
        (n > 0).then(|| (name.clone(), n))
    };
    after.iter().filter_map(grown).collect()
}

/// Has this arm failed this case too often in the rounds before `round`?
fn given_up(blocks: &[Block], round: usize, arm: usize, case: usize) -> bool {
    let before: Vec<Block> = blocks.iter().filter(|b| b.round < round).cloned().collect();
    judged::failures(&before, case, arm).len() >= judged::MAX_FAILURES
}

/// The cases that round `round` still measures. Only rounds before it count, so that a
/// run resumed in the middle decides as one that was not interrupted.
pub fn open(start: &Start, blocks: &[Block], round: usize) -> Vec<usize> {
    let before: Vec<Block> = blocks.iter().filter(|b| b.round < round).cloned().collect();
    let least = stats::rounds_needed(judged::comparisons(start));
    let is_open = |case: &usize| {
        let lost = |arm| given_up(&before, round, arm, *case);
        let rest: Vec<usize> = (1..start.arms.len()).filter(|arm| !lost(*arm)).collect();
        if lost(0) || (rest.is_empty() && start.arms.len() > 1) {
            return false;
        }
        let of_case = before.iter().filter(|b| b.case == *case);
        let rounds = of_case.map(|b| b.round + 1).max().unwrap_or(0);
        let compared = rest
            .iter()
            .map(|arm| judged::compare(start, &before, *case, *arm));
        match compared.collect::<Option<Vec<_>>>() {
            Some(comparisons) => !start.budget.spent(rounds, least, &comparisons),
            None => rounds < start.budget.max_rounds,
        }
    };
    (0..start.cases.len()).filter(is_open).collect()
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
