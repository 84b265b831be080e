// SPDX-License-Identifier: GPL-2.0-only
//! Virtual time: shares by weight, bounded lag, slices, preemption.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod native_common;

use native_common::ffi::host_vtime_before as before;
use native_common::ffi::host_vtime_clamp as clamp_shared;
use native_common::ffi::host_vtime_preempts as preempts;
use native_common::ffi::host_vtime_scale as scale;
use native_common::ffi::host_vtime_slice as slice_of;
use native_common::Rng;

const MS: u64 = 1_000_000;
const SLICE: u64 = 20 * MS;
const NICE_0: u32 = 100;
/// The kernel's `sched_prio_to_weight[]` at nice 5, 335, in units where nice 0 is 100.
const NICE_5: u32 = 33;
const LIGHTEST: u32 = 1;
const HEAVIEST: u32 = 10_000;
const RUNS: u32 = 10_000;

/// Always runs the task with the earliest virtual time for 1 ms; the time each got.
fn share<const N: usize>(start: u64, weights: [u32; N]) -> [u64; N] {
    let mut vtime = [start; N];
    let mut got = [0; N];
    for _ in 0..RUNS {
        let mut next = 0;
        for i in 1..N {
            if before(vtime[i], vtime[next]) {
                next = i;
            }
        }
        vtime[next] = vtime[next].wrapping_add(scale(MS, weights[next]));
        got[next] += MS;
    }
    got
}

/// On a CPU shared by two.
fn clamp(vtime: u64, now: u64, slice_ns: u64, weight: u32) -> u64 {
    clamp_shared(vtime, now, slice_ns, weight, 2)
}

/// A nice-0 task's.
fn slice(slice_ns: u64, least_ns: u64, nr_running: u32) -> u64 {
    slice_of(slice_ns, least_ns, NICE_0, nr_running)
}

fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}

#[test]
fn nice_0_gets_three_times_the_share_of_nice_5() {
    let [zero, five] = share(0, [NICE_0, NICE_5]);
    let r = ratio(zero, five);
    // 1024 to 335 in the fair class.
    assert!((r - 3.05).abs() < 0.15 * 3.05, "{r}");
}

#[test]
fn equal_weights_get_equal_shares() {
    let [a, b, c] = share(0, [NICE_0; 3]);
    assert!(a.abs_diff(b) <= MS && b.abs_diff(c) <= MS, "{a} {b} {c}");
}

#[test]
fn the_extremes_of_the_weight_range_do_not_starve_each_other_of_progress() {
    let [light, heavy] = share(0, [LIGHTEST, NICE_0]);
    let r = ratio(heavy, light);
    assert!((85.0..115.0).contains(&r), "{r}");
    assert_eq!(scale(SLICE, HEAVIEST), SLICE / 100);
}

#[test]
fn shares_hold_across_the_wrap_of_virtual_time() {
    let start = 0u64.wrapping_sub(100 * MS);
    let [zero, five] = share(start, [NICE_0, NICE_5]);
    assert_eq!(share(0, [NICE_0, NICE_5]), [zero, five]);
}

#[test]
fn a_weight_of_zero_is_no_division_by_zero() {
    assert_eq!(scale(MS, 0), scale(MS, LIGHTEST));
}

#[test]
fn order_is_modulo_2_to_the_64() {
    assert!(before(u64::MAX, 0) && before(u64::MAX - 5, 5));
    assert!(!before(0, u64::MAX) && !before(7, 7));
}

#[test]
fn a_long_sleep_is_worth_one_slice_and_no_more() {
    let now = 1_000 * SLICE;
    for vtime in [0, now - 500 * SLICE, now - SLICE - 1] {
        assert_eq!(clamp(vtime, now, SLICE, NICE_0), now - SLICE);
    }
    assert_eq!(clamp(now - SLICE, now, SLICE, NICE_0), now - SLICE);
}

#[test]
fn a_change_of_queue_costs_no_more_than_what_a_task_may_have_overrun() {
    let now = 1_000 * SLICE;
    let far = now + 500 * SLICE;
    let bound = clamp(far, now, SLICE, NICE_0);
    // One slice is what it just ran, another what a late tick lets it overrun.
    assert!(bound >= now + SLICE && bound <= now + 2 * SLICE);
    assert_eq!(clamp(bound, now, SLICE, NICE_0), bound);
}

#[test]
fn a_light_task_keeps_the_virtual_time_of_the_slice_it_ran() {
    let now = 1_000 * SLICE;
    for weight in [LIGHTEST, 15, NICE_5, NICE_0] {
        let vtime = now + scale(slice_of(SLICE, 3 * MS, weight, 2), weight);
        assert_eq!(clamp(vtime, now, SLICE, weight), vtime, "weight {weight}");
    }
    // The light one's own bound, not that of nice 0, which would hand it a nice-0 share.
    let light = clamp(now + scale(500 * SLICE, NICE_5), now, SLICE, NICE_5);
    assert!(light >= now + scale(SLICE, NICE_5));
}

#[test]
fn what_lies_within_the_bounds_is_left_alone() {
    let now = 1_000 * SLICE;
    for vtime in [now - SLICE / 2, now, now + SLICE / 2] {
        assert_eq!(clamp(vtime, now, SLICE, NICE_0), vtime);
    }
}

#[test]
fn the_bounds_wrap_with_virtual_time() {
    assert_eq!(
        clamp(u64::MAX - 100 * SLICE, 5, SLICE, NICE_0),
        5u64.wrapping_sub(SLICE)
    );
    let now = u64::MAX - 5;
    assert_eq!(clamp(10, now, SLICE, NICE_0), 10);
    let hi = clamp(100 * SLICE, now, SLICE, NICE_0);
    assert!(before(now, hi) && hi < 100 * SLICE);
}

#[test]
fn clamping_and_scaling_never_swap_two_tasks() {
    let mut rng = Rng(0x7e57);
    for case in 0..200_000 {
        let now = rng.bits();
        let weight = 1 + rng.below(HEAVIEST);
        let slice_ns = MS / 10 + rng.bits() % (1_000 * MS);
        // A stretch of virtual time short enough for the modulo order to mean something.
        let spread = u64::MAX >> (2 + rng.below(62));
        let a = now
            .wrapping_sub(spread / 2)
            .wrapping_add(rng.bits() % spread);
        let b = a.wrapping_add(rng.bits() % spread);
        let ca = clamp(a, now, slice_ns, weight);
        let cb = clamp(b, now, slice_ns, weight);
        if before(b, a) || !before(b.wrapping_sub(now), 1 << 62) {
            continue;
        }
        assert!(!before(cb, ca), "case {case}: {a} {b} at {now}: {ca} {cb}");
        let (short, long) = (rng.bits() % SLICE, rng.bits() % SLICE + SLICE);
        assert!(scale(short, weight) <= scale(long, weight), "case {case}");
    }
}

#[test]
fn more_waiting_tasks_mean_shorter_slices_down_to_the_least() {
    let least = 3 * MS;
    assert_eq!(slice(SLICE, least, 0), SLICE);
    assert_eq!(slice(SLICE, least, 1), SLICE);
    assert_eq!(slice(SLICE, least, 2), SLICE);
    let mut last = SLICE;
    for nr in 3..10_000 {
        let s = slice(SLICE, least, nr);
        assert!(s <= last && s >= least, "{nr} tasks: {s}");
        last = s;
    }
    assert!(slice(SLICE, least, 4) < SLICE);
    assert_eq!(last, least);
}

#[test]
fn a_least_slice_above_the_slice_wins() {
    assert_eq!(slice(MS, 5 * MS, 1), 5 * MS);
}

#[test]
fn a_newcomer_preempts_only_with_a_lead_of_more_than_the_granularity() {
    let curr = 1_000 * MS;
    assert!(preempts(curr - MS - 1, curr, MS));
    assert!(!preempts(curr - MS, curr, MS));
    assert!(!preempts(curr, curr, MS));
    assert!(!preempts(curr + SLICE, curr, MS));
}

#[test]
fn no_granularity_means_any_lead_preempts_but_a_tie_does_not() {
    assert!(preempts(9, 10, 0));
    assert!(!preempts(10, 10, 0));
}

#[test]
fn preemption_works_across_the_wrap() {
    assert!(preempts(u64::MAX - 2 * MS, 0, MS));
    assert!(!preempts(0, u64::MAX - 2 * MS, MS));
}

#[test]
fn no_debt_outlasts_the_watchdog() {
    let now = 1000 * SLICE;
    for nr in [1, 2, 4, 250, 1000] {
        for weight in [LIGHTEST, NICE_5, NICE_0, HEAVIEST] {
            let debt = clamp_shared(now + (1 << 50), now, SLICE, weight, nr) - now;
            // Virtual time moves by the clock divided by the tasks that share it.
            let wait_ns = debt * u64::from(nr);
            assert!(wait_ns <= 10_000 * MS, "weight {weight}, {nr}: {wait_ns}");
        }
    }
}

#[test]
fn a_light_task_runs_shorter_slices() {
    assert_eq!(slice_of(SLICE, MS, NICE_5, 1), SLICE * 33 / 100);
    assert_eq!(slice_of(SLICE, 3 * MS, LIGHTEST, 1), 3 * MS);
    assert_eq!(slice_of(SLICE, 3 * MS, HEAVIEST, 1), SLICE);
}
