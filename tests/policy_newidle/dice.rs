// SPDX-License-Identifier: GPL-2.0-only
//! The dice: levels that never yield are searched seldom, but never forgotten.

use scx_sibling::skel::types;

use crate::native_common::ffi;
use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Rng;
use crate::native_common::Stat;
use crate::*;

const SIDES: u32 = 1024;
const NOW: u64 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000;
/// Never lucky unless the ratio is full.
const UNLUCKY: u32 = SIDES - 1;

/// A state with this ratio at the LLC and its free try just used.
fn state(ratio: u32) -> types::cpu_state {
    let mut cs = types::cpu_state::default();
    cs.dice_ratio[LLC as usize] = ratio;
    cs.dice_free_ns[LLC as usize] = NOW;
    cs
}

fn throw(cs: &mut types::cpu_state, rnd: u32, now: u64) -> u32 {
    // SAFETY: writes the state.
    unsafe { ffi::host_dice(cs, LLC, rnd, now) }
}

fn count(cs: &mut types::cpu_state, worth: u32) {
    // SAFETY: writes the state.
    unsafe { ffi::host_dice_update(cs, LLC, worth) }
}

/// How many of all sides are lucky, and what a hit is worth.
fn lucky(ratio: u32) -> (u32, u32) {
    let mut cs = state(ratio);
    let worths: Vec<u32> = (0..SIDES).map(|rnd| throw(&mut cs, rnd, NOW)).collect();
    let hits = worths.iter().filter(|worth| **worth > 0).count() as u32;
    (hits, worths.into_iter().max().unwrap())
}

#[test]
fn without_success_one_search_in_a_thousand_is_made() {
    assert_eq!(lucky(0), (1, SIDES));
}

#[test]
fn with_full_success_every_search_is_made() {
    assert_eq!(lucky(1024), (SIDES, 1));
}

#[test]
fn searches_are_as_frequent_as_success() {
    for ratio in [1, 10, 100, 512, 900] {
        let (hits, _) = lucky(ratio);
        assert!(
            hits.abs_diff(ratio) <= 1,
            "ratio {ratio}: {hits} of {SIDES}"
        );
    }
}

#[test]
fn a_rare_hit_counts_for_the_searches_not_made() {
    for ratio in 0..=1024 {
        let (hits, worth) = lucky(ratio);
        let estimate = hits * worth;
        assert!(
            (SIDES * 2 / 3..=SIDES * 3 / 2).contains(&estimate),
            "{ratio}: {estimate}"
        );
    }
}

#[test]
fn random_numbers_of_any_size_are_thrown_alike() {
    let mut rng = Rng(3);
    let mut cs = state(255);
    let hits = (0..100_000)
        .filter(|_| throw(&mut cs, rng.bits() as u32, NOW) > 0)
        .count();
    assert!((24_000..26_000).contains(&hits), "{hits}");
}

#[test]
fn about_128_tries_a_second_are_always_made() {
    let mut cs = state(0);
    let step = 50_000;
    let tries = (1..=10 * SECOND / step)
        .filter(|n| throw(&mut cs, UNLUCKY, NOW + n * step) > 0)
        .count();
    assert!((1_260..=1_280).contains(&tries), "{tries} in ten seconds");
}

#[test]
fn who_seldom_asks_is_always_let_through() {
    let mut cs = state(0);
    assert!((1..100).all(|n| throw(&mut cs, UNLUCKY, NOW + n * SECOND / 100) > 0));
}

#[test]
fn unused_tries_are_not_saved_up() {
    let mut cs = state(0);
    assert!(throw(&mut cs, UNLUCKY, NOW + 60 * SECOND) > 0);
    assert_eq!(throw(&mut cs, UNLUCKY, NOW + 60 * SECOND + 1), 0);
}

#[test]
fn the_ratio_is_renewed_once_a_window() {
    let mut cs = state(7);
    for call in 0..1023 {
        count(&mut cs, u32::from(call % 4 == 0));
        assert_eq!(cs.dice_ratio[LLC as usize], 7, "call {call}");
    }
    count(&mut cs, 0);
    assert_eq!(cs.dice_ratio[LLC as usize], 256);
    assert_eq!(cs.dice_ratio.iter().sum::<u32>(), 256, "of its level alone");
}

#[test]
fn a_level_gone_dry_is_all_but_given_up_after_some_windows() {
    let mut cs = state(0);
    (0..2048).for_each(|_| count(&mut cs, 1));
    assert_eq!(cs.dice_ratio[LLC as usize], 1024);
    (0..512 * 11).for_each(|_| count(&mut cs, 0));
    assert!(
        cs.dice_ratio[LLC as usize] <= 1,
        "{}",
        cs.dice_ratio[LLC as usize]
    );
}

#[test]
fn the_ratio_never_exceeds_all() {
    let mut cs = state(0);
    for _ in 0..10_000 {
        count(&mut cs, SIDES);
        assert!(cs.dice_ratio[LLC as usize] <= 1024);
    }
}

/// Searches made in `seconds` by a CPU that goes idle every 50 µs beside a waiting task.
fn searches(m: &mut Machine, rng: &mut Rng, seconds: u64) -> u64 {
    let before = m.stat(Stat::STAT_NEWIDLE_TRY, LLC);
    let start = m.global(Global::Clock);
    for n in 1..=20_000 * seconds {
        m.global_set(Global::Clock, start + n * 50_000);
        if m.newidle(0, rng.bits() as u32, false) {
            m.waiting(AT[2], 1);
        }
    }
    m.stat(Stat::STAT_NEWIDLE_TRY, LLC) - before
}

fn barren() -> Machine {
    let mut m = five_levels(&[]);
    m.state.dice_ratio = [512; 5];
    m.global_set(Global::Clock, NOW);
    m.waiting(AT[2], 1);
    m.set(AT[2], Field::Unmovable, 1);
    m
}

#[test]
fn searches_that_never_yield_are_throttled_within_a_second() {
    let (mut m, mut rng) = (barren(), Rng(11));
    searches(&mut m, &mut rng, 1);
    let made = searches(&mut m, &mut rng, 1);
    // 128 free tries and one lucky number in 1024 of 20 000 calls.
    assert!((100..=300).contains(&made), "{made} of 20000");
    assert!(m.stat(Stat::STAT_NEWIDLE_DICED, LLC) > 15_000);
}

#[test]
fn a_level_that_yields_again_is_searched_again_within_seconds() {
    let (mut m, mut rng) = (barren(), Rng(12));
    searches(&mut m, &mut rng, 2);
    m.set(AT[2], Field::Unmovable, 0);
    searches(&mut m, &mut rng, 2);
    let made = searches(&mut m, &mut rng, 1);
    assert!(made > 15_000, "{made} of 20000");
}

#[test]
fn without_the_dice_every_call_searches() {
    let (m, mut rng) = (barren(), Rng(13));
    let mut m = { m }.with(&["NO_NEWIDLE_DICE"]);
    m.state.dice_ratio = [0; 5];
    assert_eq!(searches(&mut m, &mut rng, 1), 20_000);
}

#[test]
fn a_level_skipped_by_the_dice_does_not_end_the_walk() {
    let mut m = barren();
    m.state.dice_free_ns = [NOW; 5];
    m.state.dice_ratio = [0, 0, 0, 1024, 0];
    m.waiting(AT[3], 1);
    assert!(m.newidle(0, UNLUCKY, false));
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_PULLED, NODE), 1);
}
