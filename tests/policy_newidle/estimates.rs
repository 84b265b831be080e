// SPDX-License-Identifier: GPL-2.0-only
//! The two numbers the gate compares: expected idle time, and measured cost.

use scx_sibling::skel::types;

use crate::native_common::ffi;
use crate::native_common::tunables;
use crate::native_common::Rng;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn average(avg: u64, sample: u64, t: &types::tunables) -> u64 {
    // SAFETY: reads the tunables.
    unsafe { ffi::host_avg_idle_update(avg, sample, t) }
}

/// The measured cost of `level` after a search of `spent` at `now`.
fn cost(cs: &mut types::cpu_state, level: usize, spent: u64, now: u64) -> u64 {
    // SAFETY: writes the state.
    unsafe { ffi::host_newidle_cost_update(cs, level as u32, spent, now) };
    cs.pull_cost_ns[level]
}

#[test]
fn each_stay_counts_an_eighth() {
    let t = tunables(&[]);
    assert_eq!(average(800_000, 0, &t), 700_000);
    assert_eq!(average(0, 800_000, &t), 100_000);
    assert_eq!(average(500_000, 500_000, &t), 500_000);
}

#[test]
fn the_mean_follows_a_change_of_load_within_some_tens_of_stays() {
    let t = tunables(&[]);
    let mut avg = 900_000;
    for sample in [20_000, 600_000, 5_000] {
        for _ in 0..60 {
            avg = average(avg, sample, &t);
        }
        assert!(
            avg.abs_diff(sample) <= sample / 50 + 400,
            "{avg} for stays of {sample}"
        );
    }
}

#[test]
fn one_long_night_counts_no_more_than_twice_the_dearest_move() {
    let night = 8 * 3_600 * SECOND;
    assert_eq!(average(0, night, &tunables(&[])), MS / 8);
    assert_eq!(
        average(0, night, &tunables(&["migration_cost_ns.cluster=5ms"])),
        10 * MS / 8
    );
    assert_eq!(
        average(MS, night, &tunables(&[])),
        MS,
        "at the cap and no further"
    );
}

#[test]
fn with_all_moves_free_the_cap_is_a_millisecond() {
    let free = tunables(&[
        "migration_cost_ns.smt=0",
        "migration_cost_ns.cluster=0",
        "migration_cost_ns.llc=0",
        "migration_cost_ns.node=0",
        "migration_cost_ns.system=0",
    ]);
    assert_eq!(average(0, SECOND, &free), MS / 8);
    assert_eq!(average(0, MS, &free), MS / 8);
}

#[test]
fn a_lowered_cost_brings_the_mean_down_to_the_new_cap() {
    let t = tunables(&[]);
    let avg = (0..80).fold(10 * MS, |avg, _| average(avg, SECOND, &t));
    assert!(avg <= MS + MS / 100, "{avg}");
}

#[test]
fn the_mean_stays_between_its_old_value_and_the_stay() {
    let t = tunables(&[]);
    let mut rng = Rng(7);
    for _ in 0..100_000 {
        let (avg, sample) = (rng.bits() % (2 * MS), rng.bits() >> rng.below(64));
        let new = average(avg, sample, &t);
        let capped = sample.min(MS);
        assert!(
            new >= avg.min(capped) && new <= avg.max(capped),
            "{avg} {sample}: {new}"
        );
    }
}

#[test]
fn the_first_search_sets_the_cost() {
    let mut cs = types::cpu_state::default();
    assert_eq!(cost(&mut cs, 2, 3_000, SECOND), 3_000);
    assert_eq!(cs.pull_cost_ns, [0, 0, 3_000, 0, 0], "of its level alone");
}

#[test]
fn cheap_searches_do_not_hide_the_dear_ones() {
    let mut cs = types::cpu_state::default();
    cost(&mut cs, 1, 8_000, SECOND);
    for n in 0..100 {
        assert_eq!(cost(&mut cs, 1, 100, SECOND + n * MS), 8_000);
    }
}

#[test]
fn dearer_searches_raise_the_cost_but_not_beyond_them() {
    let mut cs = types::cpu_state::default();
    cost(&mut cs, 3, 1_000, SECOND);
    let mut last = 1_000;
    for n in 0..40 {
        let c = cost(&mut cs, 3, 9_000, SECOND + n);
        assert!(c >= last && c <= 9_000, "{c}");
        last = c;
    }
    assert!(last >= 8_900, "{last}");
}

#[test]
fn one_interrupted_search_raises_the_cost_by_a_part() {
    let mut cs = types::cpu_state::default();
    cost(&mut cs, 3, 2_000, SECOND);
    assert!(cost(&mut cs, 3, 10 * MS, SECOND + 1) <= 10 * MS / 3);
}

#[test]
fn the_cost_decays_by_about_one_percent_a_second() {
    let mut cs = types::cpu_state::default();
    let start = cost(&mut cs, 4, MS, SECOND);
    let mut now = SECOND;
    // Ten searches a second for 100 seconds and a little.
    for _ in 0..1_010 {
        now += SECOND / 10 + 1;
        cost(&mut cs, 4, 10, now);
    }
    let left = cs.pull_cost_ns[4] as f64 / start as f64;
    assert!((0.25..0.45).contains(&left), "{left} of the cost left");
}
