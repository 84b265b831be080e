// SPDX-License-Identifier: GPL-2.0-only
//! What waits behind a real-time task is fetched past the gate; that a CPU had one is forgotten
//! once it has not.

use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Stat;
use crate::native_common::Wake;
use crate::*;

/// CPU 0 never idles for long, so that the gate is shut beyond its core; a task waits on each of
/// `cpus`.
fn gated(cpus: &[u32]) -> Machine {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.state.avg_idle_ns = 0;
    cpus.iter().for_each(|cpu| m.waiting(*cpu, 1));
    m
}

#[test]
fn what_waits_behind_a_real_time_task_passes_the_gate() {
    for level in [CLUSTER, LLC] {
        let src = AT[level as usize];
        let mut m = gated(&[src]);
        assert!(!m.newidle(0, 0, false), "level {level}: gated");
        m.set(src, Field::Taken, 1);
        assert!(m.newidle(0, 0, false), "level {level}: taken");
        assert_eq!(m.get(src, Field::Noted), 1, "it may have more to give");
    }
}

#[test]
fn a_cpu_that_its_real_time_task_left_is_forgotten() {
    let mut m = gated(&[4]);
    m.set(4, Field::Taken, 1);
    m.set(4, Field::Taken, 0);
    assert_eq!(m.get(4, Field::Noted), 1, "nobody told");
    assert!(!m.newidle(0, 0, false));
    assert!(m.pulls().is_empty());
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_GATED, LLC), 1);
    assert_eq!(m.get(4, Field::Noted), 0);
}

#[test]
fn a_cpu_that_was_left_does_not_hide_one_that_is_taken() {
    let mut m = gated(&[4, 6]);
    for cpu in [4, 6] {
        m.set(cpu, Field::Taken, 1);
    }
    m.set(4, Field::Taken, 0);
    assert!(m.newidle(0, 0, false));
    assert_eq!((m.get(4, Field::Noted), m.get(6, Field::Noted)), (0, 1));
}

#[test]
fn forgetting_one_cpu_leaves_those_of_other_caches() {
    let mut m = gated(&[4, 8]);
    for cpu in [4, 8] {
        m.set(cpu, Field::Taken, 1);
        m.set(cpu, Field::Taken, 0);
    }
    assert!(!m.newidle(0, 0, false));
    assert_eq!((m.get(4, Field::Noted), m.get(8, Field::Noted)), (0, 1));
}

#[test]
fn what_was_forgotten_is_noted_again_by_who_must_wait_there() {
    let mut m = gated(&[4]);
    m.set(4, Field::Taken, 1);
    m.set(4, Field::Taken, 0);
    assert!(!m.newidle(0, 0, false), "forgets it");
    // A real-time task woken on an idle CPU: the kernel does not tell of it. All of the cache is
    // as bad, so the wakee queues there all the same.
    (0..8).for_each(|cpu| m.set(cpu, Field::Taken, 1));
    (0..8).for_each(|cpu| m.set(cpu, Field::Noted, 0));
    m.running(0, 1);
    let placed = m.wake(Wake::new(4, 4));
    assert_eq!(placed.cpu, 4);
    assert_eq!(m.get(4, Field::Noted), 1);
    m.waiting(4, 1);
    assert!(m.newidle(0, 0, false));
    assert!(m.global(Global::PullCount) > 0);
}
