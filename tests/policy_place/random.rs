// SPDX-License-Identifier: GPL-2.0-only
//! What must hold of every placement, on random machines in random states.

use scx_sibling::topology::CpuSet;
use scx_sibling::topology::Topology;
use scx_sibling::tunables::FEATURES;

use crate::native_common::Field;
use crate::native_common::Machine;
use crate::native_common::Placed;
use crate::native_common::Rng;
use crate::native_common::Shape;
use crate::native_common::Stat;
use crate::native_common::Wake;

const CASES: u32 = 2_000;

fn shapes() -> Vec<Shape> {
    vec![
        Shape::new(1, 1, 1, 1),
        Shape::new(1, 1, 2, 1),
        Shape::new(1, 1, 1, 2),
        Shape::new(1, 1, 8, 1),
        Shape::new(2, 2, 2, 2),
        Shape::new(2, 2, 2, 2).far_siblings(),
        Shape::new(1, 1, 4, 4),
        Shape::new(2, 1, 2, 8),
        Shape::new(1, 2, 4, 1).clusters(2),
        Shape::new(1, 2, 4, 2).clusters(2),
        Shape::new(2, 4, 2, 2).gap(7),
        Shape::new(8, 1, 4, 2).far_siblings(),
        Shape::new(1, 1, 96, 1),
        Shape::new(1, 1, 96, 2).far_siblings(),
        Shape::new(2, 2, 2, 2).offline(&[0, 3, 9]),
        Shape::new(2, 2, 4, 2).isolated(&[0, 1, 6, 20]),
        Shape::new(1, 1, 8, 2).offline(&[1, 3, 5, 7, 9, 11, 13, 15]),
    ]
}

struct Case {
    topology: Topology,
    machine: Machine,
    rng: Rng,
}

impl Case {
    fn new(shape: &Shape, seed: u64) -> Self {
        let topology = shape.topology();
        let machine = Machine::from_topology(&topology);
        Case {
            topology,
            machine,
            rng: Rng(seed),
        }
    }

    /// Idle or loaded, each CPU by a coin whose bias is random too.
    fn shuffle(&mut self) {
        let bias = self.rng.pick(&[1, 2, 4, 16, 64]);
        let inverse = self.rng.one_in(2);
        for cpu in self.machine.online.iter() {
            if self.rng.one_in(bias) != inverse {
                self.machine.idle(cpu);
            } else {
                self.machine.running(cpu, 1 + u64::from(self.rng.below(3)));
            }
            let sched_idle = self.rng.one_in(8);
            self.machine.set(cpu, Field::SchedIdle, sched_idle.into());
        }
    }

    fn online(&mut self) -> u32 {
        let all: Vec<u32> = self.machine.online.iter().collect();
        self.rng.pick(&all)
    }

    fn wake(&mut self) -> Wake {
        let prev = if self.rng.one_in(16) {
            self.rng.below(1024)
        } else {
            self.online()
        };
        let mut wake = Wake::new(prev as i32, self.online() as i32);
        match self.rng.below(4) {
            0 => {}
            1 => wake = wake.allowed(&[prev]),
            2 => wake = wake.allowed(&[self.online(), self.online(), self.online()]),
            _ => {
                let all: Vec<u32> = self.machine.online.iter().collect();
                let some: Vec<u32> = all.into_iter().filter(|_| self.rng.one_in(2)).collect();
                wake = wake.allowed(&some);
            }
        }
        if self.rng.one_in(3) {
            wake = wake.recent(self.online() as i32);
        }
        if self.rng.one_in(3) {
            wake = wake.sync();
        }
        if self.rng.one_in(8) {
            wake = wake.partner();
        }
        if self.rng.one_in(6) {
            wake = wake.kthread();
        }
        if self.rng.one_in(6) {
            wake = wake.sched_idle();
        }
        wake.flips(self.rng.below(100), self.rng.below(20))
    }

    /// The CPUs searched as one with `cpu`: its LLC, or the part of 64 of a wider one.
    fn llc(&self, cpu: i32) -> CpuSet {
        let layout = &self.machine.layout;
        let llc = &layout.llcs[usize::from(layout.cpus[cpu as usize].llc)];
        let cpus = &llc.cpus[..usize::from(llc.nr_cpus)];
        cpus.iter().map(|cpu| u32::from(*cpu)).collect()
    }

    /// Whether all threads of the core idle, isolated ones included.
    fn core_idles(&self, cpu: u32, idle: &CpuSet) -> bool {
        self.topology.cpus[&cpu].smt.is_subset(idle)
    }
}

/// Holds with any switches: allowed, existing, and at most that one idle bit taken.
fn check_always(case: &Case, wake: &Wake, before: &CpuSet, p: Placed) {
    let mask = wake.mask();
    let usable = mask.intersect(&case.machine.layout.usable);
    let what = format!("{wake:?} with {before} idle: {p:?}");
    assert_eq!(p.cpu < 0, mask.is_empty(), "{what}");
    assert!(
        p.cpu < 0 || mask.contains(p.cpu as u32),
        "not allowed: {what}"
    );
    if !usable.is_empty() {
        assert!(usable.contains(p.cpu as u32), "offline or isolated: {what}");
    }
    let after = case.machine.idle_set();
    let taken: CpuSet = p.claimed.then_some(p.cpu as u32).into_iter().collect();
    assert_eq!(before.minus(&after), taken, "{what}");
    assert!(after.is_subset(before), "{what}");
    assert!(!(p.claimed && p.stacked), "{what}");
}

/// Holds with the default switches.
fn check_default(case: &Case, wake: &Wake, before: &CpuSet, p: Placed) {
    let reach = wake.mask().intersect(&case.machine.layout.usable);
    let stacked = [Stat::STAT_PLACE_KTHREAD, Stat::STAT_PLACE_SYNC];
    if !reach.contains(p.cpu as u32) || stacked.contains(&p.step) {
        return;
    }
    let what = format!("{wake:?} with {before} idle: {p:?}");
    // A wait is always a slice here, longer than any move costs.
    // Background work of the own LLC makes way before one farther off is taken.
    let left = reach.intersect(before);
    if p.step == Stat::STAT_PLACE_SCHED_IDLE {
        let near = left.intersect(&case.llc(p.cpu));
        assert!(near.is_empty(), "idle CPU left: {what}");
    } else {
        assert!(p.claimed || left.is_empty(), "idle CPU left: {what}");
    }
    let beyond = [Stat::STAT_PLACE_NODE, Stat::STAT_PLACE_SYSTEM].contains(&p.step);
    if p.claimed && !beyond && !case.core_idles(p.cpu as u32, before) {
        let near = reach.intersect(&case.llc(p.cpu));
        let core = near.iter().find(|cpu| case.core_idles(*cpu, before));
        assert_eq!(core, None, "idle core missed: {what}");
    }
}

#[test]
fn default_switches() {
    for (seed, shape) in (0x51b1..).zip(shapes()) {
        let mut case = Case::new(&shape, seed);
        for _ in 0..CASES {
            case.shuffle();
            let wake = case.wake();
            let before = case.machine.idle_set();
            let p = case.machine.wake(wake.clone());
            check_always(&case, &wake, &before, p);
            check_default(&case, &wake, &before, p);
        }
    }
}

#[test]
fn any_switches() {
    for (seed, shape) in (0xf1a6..).zip(shapes()) {
        let mut case = Case::new(&shape, seed);
        for _ in 0..CASES {
            let rng = &mut case.rng;
            let mut set = vec![
                format!("wake.max_level={}", 2 + rng.below(3)),
                format!("wake.scan_budget={}", 1 + rng.below(16)),
            ];
            set.extend(
                FEATURES
                    .iter()
                    .map(|f| format!("{}={}", f.name, rng.below(2))),
            );
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            case.machine.tunables = crate::native_common::tunables(&set);
            case.shuffle();
            let wake = case.wake();
            let before = case.machine.idle_set();
            let p = case.machine.wake(wake.clone());
            check_always(&case, &wake, &before, p);
        }
    }
}

#[test]
fn two_placements_in_a_row_never_claim_one_cpu() {
    for (seed, shape) in (0x2222..).zip(shapes()) {
        let mut case = Case::new(&shape, seed);
        for _ in 0..CASES {
            case.shuffle();
            let first = case.wake();
            let second = if case.rng.one_in(2) {
                first.clone()
            } else {
                case.wake()
            };
            let a = case.machine.wake(first);
            let b = case.machine.wake(second);
            assert!(
                !(a.claimed && b.claimed && a.cpu == b.cpu),
                "{shape:?}: {a:?} {b:?}"
            );
        }
    }
}

#[test]
fn new_tasks() {
    for (seed, shape) in (0xf0f0..).zip(shapes()) {
        let mut case = Case::new(&shape, seed);
        for _ in 0..CASES {
            case.shuffle();
            let wake = case.wake();
            let reach = wake.mask().intersect(&case.machine.layout.usable);
            let before = case.machine.idle_set();
            let cpu = case.machine.fork(wake.clone());
            let taken = before.minus(&case.machine.idle_set());
            let what = format!("{wake:?} with {before} idle: {cpu}");
            if cpu < 0 {
                assert!(taken.is_empty(), "{what}");
            } else {
                assert!(reach.contains(cpu as u32), "{what}");
                assert_eq!(taken, CpuSet::single(cpu as u32), "{what}");
            }
        }
    }
}
