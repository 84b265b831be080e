// SPDX-License-Identifier: GPL-2.0-only
//! The gate: a search goes on only while the CPU expects to idle longer than it costs.

use crate::native_common::ffi::host_newidle_gated as gated;
use crate::native_common::tunables;
use crate::native_common::value;
use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Stat;
use crate::*;

/// The features word with `changes` applied.
fn features(changes: &[&str]) -> u64 {
    value(
        &tunables(changes),
        scx_sibling::skel::types::tun_id::TUN_FEATURES,
    )
}

#[test]
fn both_costs_count_together() {
    let on = features(&[]);
    assert!(gated(on, 299, 100, 200));
    assert!(!gated(on, 300, 100, 200));
    assert!(!gated(on, 0, 0, 0), "what costs nothing always pays");
}

#[test]
fn either_cost_can_be_switched_off() {
    let measured = features(&["NO_NEWIDLE_FIXED_COST"]);
    assert!(gated(measured, 199, 100, 200) && !gated(measured, 200, 100, 200));
    let fixed = features(&["NO_NEWIDLE_MEASURED_COST"]);
    assert!(gated(fixed, 99, 100, 200) && !gated(fixed, 100, 100, 200));
    let none = features(&["NO_NEWIDLE_FIXED_COST", "NO_NEWIDLE_MEASURED_COST"]);
    assert!(!gated(none, 0, u64::MAX, u64::MAX));
}

#[test]
fn every_level_opens_at_its_own_cost() {
    for level in [CLUSTER, LLC, NODE, SYSTEM] {
        let (cost, src) = (COST[level as usize], AT[level as usize]);
        let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
        m.waiting(src, 1);
        m.state.avg_idle_ns = cost - 1;
        assert!(!m.newidle(0, 0, false), "level {level}");
        assert_eq!(m.stat(Stat::STAT_NEWIDLE_GATED, level), 1);
        assert_eq!(m.stat(Stat::STAT_NEWIDLE_TRY, level), 0);
        m.state.avg_idle_ns = cost;
        assert!(m.newidle(0, 0, false), "level {level}");
        assert_eq!(m.stat(Stat::STAT_NEWIDLE_PULLED, level), 1);
    }
}

#[test]
fn a_sibling_thread_is_open_to_a_cpu_that_never_idles() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.state.avg_idle_ns = 0;
    m.waiting(AT[0], 1);
    assert!(m.newidle(0, 0, false));
}

#[test]
fn the_measured_cost_of_the_level_closes_it() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(AT[2], 1);
    m.state.avg_idle_ns = COST[2] + 9_999;
    m.state.pull_cost_ns = [0, 1_000_000, 10_000, 0, 0];
    assert!(!m.newidle(0, 0, false), "its own: 10 µs too much");
    m.state.avg_idle_ns += 1;
    assert!(
        m.newidle(0, 0, false),
        "not that of a level where nothing waits"
    );
}

#[test]
fn nothing_beyond_a_gated_level_is_searched() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE", "migration_cost_ns.system=0"]);
    m.waiting(AT[2], 1);
    m.waiting(AT[4], 1);
    m.state.avg_idle_ns = COST[2] - 1;
    assert!(!m.newidle(0, 0, false));
    assert!(m.pulls().is_empty());
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_GATED, SYSTEM), 0);
}

#[test]
fn a_forced_search_passes_the_gate_the_dice_and_hotness() {
    for level in [SMT, CLUSTER, LLC, NODE, SYSTEM] {
        let mut m = five_levels(&[]);
        m.global_set(Global::Clock, 1_000_000_000);
        m.state.avg_idle_ns = 0;
        m.state.dice_ratio = [0; 5];
        m.state.dice_free_ns = [1_000_000_000; 5];
        m.waiting(AT[level as usize], 1);
        m.set(AT[level as usize], Field::SinceRan, 0);
        if level > SMT {
            assert!(!m.newidle(0, 1_023, false), "level {level}");
        }
        assert!(m.newidle(0, 1_023, true), "level {level}");
    }
}

#[test]
fn a_tick_opens_the_gate_only_for_what_waited_longer_than_the_move_costs() {
    let mut m = five_levels(&[]);
    m.state.avg_idle_ns = 0;
    m.waiting(AT[2], 1);
    m.set(AT[2], Field::SinceRan, COST[2] - 1);
    assert!(!m.newidle_sent(0, 0, 1));
    m.set(AT[2], Field::SinceRan, COST[2]);
    assert!(m.newidle_sent(0, 0, 1));
}

#[test]
fn a_forced_search_does_not_move_what_must_not_move() {
    let mut m = five_levels(&["newidle.max_level=3"]);
    m.waiting(AT[2], 1);
    m.set(AT[2], Field::Unmovable, 1);
    m.waiting(AT[4], 1);
    assert!(!m.newidle(0, 0, true));
    assert_eq!(m.get(AT[2], Field::Waiting), 1);
    assert_eq!(m.get(AT[4], Field::Waiting), 1, "beyond the level allowed");
}

#[test]
fn an_interrupted_search_does_not_close_the_gate_for_good() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(AT[2], 1);
    m.set(AT[2], Field::Unmovable, 1);
    // The hypervisor took the CPU for 10 ms in the middle of the first search.
    m.global_set(Global::ClockStep, 10_000_000);
    m.newidle(0, 0, false);
    m.global_set(Global::ClockStep, 1_000);
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_TRY, LLC), 1);

    // Ten minutes of long idle stays, a hundred a second, with work to fetch.
    m.set(AT[2], Field::Unmovable, 0);
    let fetched = (0..60_000).any(|n| {
        m.global_set(Global::Clock, 1_000_000_000 + n * 10_000_000);
        m.newidle(0, 0, false)
    });
    assert!(
        fetched,
        "still closed at a cost of {} ns",
        m.state.pull_cost_ns[2]
    );
}
