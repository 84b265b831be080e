// SPDX-License-Identifier: GPL-2.0-only
//! Busy CPUs even out among themselves.

use crate::native_common::ffi::host_busy_threshold as threshold;
use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Stat;
use crate::*;

const MS: u64 = 1_000_000;
/// A quarter of the default interval.
const LEAST_WAIT: u64 = 5 * MS;

#[test]
fn the_other_must_be_busier_by_the_imbalance() {
    assert_eq!(threshold(1, 117), 2);
    assert_eq!(threshold(2, 117), 3);
    assert_eq!(threshold(10, 117), 12);
    assert_eq!(threshold(100, 117), 117);
    assert_eq!(threshold(4, 200), 8);
}

#[test]
fn an_equally_busy_cpu_is_never_busier() {
    for pct in 100..1000 {
        for running in 0..200 {
            assert!(threshold(running, pct) > running, "{running} at {pct} %");
        }
    }
}

/// Four CPUs of one LLC, no SMT, with these many tasks.
fn four(tasks: [u64; 4]) -> Machine {
    let m = Machine::new(&Shape::new(1, 1, 4, 1));
    for (cpu, n) in (0..).zip(tasks) {
        m.waiting(cpu, n - 1);
    }
    m
}

#[test]
fn with_five_hogs_on_four_cpus_the_extra_one_goes_round() {
    let m = four([1, 1, 1, 2]);
    assert!(m.busy_balance(0, 0, 1));
    assert_eq!(m.pulls()[0].src, 3);
    assert_eq!(m.stat(Stat::STAT_BUSY_PULLED, LLC), 1);
    // Now CPU 0 has two, and CPU 1 may be next but CPU 3 is not.
    m.waiting(0, 1);
    assert!(!m.busy_balance(0, 0, 2), "nobody has three");
    assert!(m.busy_balance(1, 0, 1));
}

#[test]
fn even_load_is_left_alone() {
    let m = four([2, 2, 2, 2]);
    for cpu in 0..4 {
        assert!(!m.busy_balance(cpu, 0, 2), "CPU {cpu}");
    }
    assert!(m.pulls().is_empty());
}

#[test]
fn the_user_says_how_much_busier() {
    let m = four([4, 1, 1, 6]).with(&["balance.imbalance_pct=200"]);
    assert!(!m.busy_balance(0, 0, 4));
    m.waiting(3, 7);
    assert!(m.busy_balance(0, 0, 4));
}

#[test]
fn a_task_must_have_waited_and_longer_the_farther_it_goes() {
    let waits = [
        LEAST_WAIT,
        LEAST_WAIT,
        LEAST_WAIT,
        2 * LEAST_WAIT,
        4 * LEAST_WAIT,
    ];
    for (level, wait) in (0..).zip(waits) {
        let m = five_levels(&[]);
        let src = AT[level as usize];
        m.running(0, 1);
        m.waiting(src, 1);
        m.set(src, Field::SinceRan, wait - 1);
        assert!(!m.busy_balance(0, 0, 1), "level {level}");
        m.set(src, Field::SinceRan, wait);
        assert!(m.busy_balance(0, 0, 1), "level {level}");
        assert_eq!(m.stat(Stat::STAT_BUSY_PULLED, level), 1);
    }
}

#[test]
fn a_task_whose_move_costs_more_than_it_waited_stays() {
    let m = five_levels(&["migration_cost_ns.llc=50ms"]);
    m.running(0, 1);
    m.waiting(AT[2], 1);
    m.set(AT[2], Field::SinceRan, 49 * MS);
    assert!(!m.busy_balance(0, 0, 1));
    m.set(AT[2], Field::SinceRan, 50 * MS);
    assert!(m.busy_balance(0, 0, 1));
}

#[test]
fn the_nearest_busier_cpu_gives() {
    let m = five_levels(&[]);
    m.running(0, 1);
    AT.iter().for_each(|cpu| m.waiting(*cpu, 1));
    for src in AT {
        assert!(m.busy_balance(0, 0, 1));
        assert_eq!(m.get(src, Field::Waiting), 0, "CPU {src}");
    }
}

#[test]
fn nothing_waiting_costs_no_search() {
    let m = five_levels(&[]);
    m.running(0, 1);
    assert!(!m.busy_balance(0, 0, 1));
    assert_eq!(m.global(Global::Looks), 0);
}

#[test]
fn a_nearby_cpu_that_is_not_busier_does_not_hide_a_far_one_that_is() {
    let m = five_levels(&[]);
    m.waiting(0, 1);
    m.waiting(AT[0], 1);
    m.waiting(AT[4], 3);
    assert!(m.busy_balance(0, 0, 2));
    assert_eq!(m.pulls()[0].src as u32, AT[4]);
}

#[test]
fn the_most_loaded_of_a_cache_gives() {
    let m = four([1, 2, 4, 3]);
    assert!(m.busy_balance(0, 0, 1));
    assert_eq!(m.pulls()[0].src, 2);
}

#[test]
fn whoever_waits_behind_a_realtime_task_is_pulled_from_an_even_load() {
    let m = four([2, 2, 2, 2]);
    m.set(3, Field::Taken, 1);
    assert!(m.busy_balance(0, 0, 2));
    assert_eq!(m.pulls()[0].src, 3);
}
