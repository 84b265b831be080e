// SPDX-License-Identifier: GPL-2.0-only
//! How often a difference is called, in noise without one and with one of 3 %.

use scx_sibling::bench::budget::Budget;
use scx_sibling::bench::plan;
use scx_sibling::bench::stats;
use scx_sibling::bench::stats::Better;
use scx_sibling::bench::stats::Comparison;
use scx_sibling::bench::stats::Verdict;

use crate::noise;
use crate::noise::Noise;

const CASES: u64 = 1000;

/// A whole measurement of two arms at the default budget; the second takes
/// `factor` times as long.
fn interleaved(noise: Noise, factor: f64, seed: u64) -> Comparison {
    let budget = Budget::default();
    let slots = noise::slots(noise, 2 * budget.max_rounds, seed);
    let mut times = [vec![], vec![]];
    let least = stats::rounds_needed(1);
    for round in 0..budget.max_rounds {
        for (place, arm) in plan::order(2, round, seed).into_iter().enumerate() {
            let own = if arm == 1 { factor } else { 1.0 };
            times[arm].push(slots[2 * round + place] * own);
        }
        if round % 2 == 1 && round >= least {
            let compared = judged(&times);
            if budget.spent(round + 1, least, std::slice::from_ref(&compared)) {
                return compared;
            }
        }
    }
    judged(&times)
}

/// The same slots used up by one arm after the other, as scripts often do.
fn one_after_the_other(noise: Noise, seed: u64) -> Comparison {
    let rounds = Budget::default().max_rounds;
    let slots = noise::slots(noise, 2 * rounds, seed);
    judged(&[slots[..rounds].to_vec(), slots[rounds..].to_vec()])
}

fn judged(times: &[Vec<f64>; 2]) -> Comparison {
    let mut all = [stats::compare(&times[0], &times[1], Better::Lower, 1)];
    stats::judge(&mut all);
    let [compared] = all;
    compared
}

fn share(case: impl Fn(u64) -> bool) -> f64 {
    (0..CASES).filter(|seed| case(*seed)).count() as f64 / CASES as f64
}

#[test]
fn noise_alone_is_seldom_called_a_difference() {
    for noise in noise::ALL {
        let called = share(|seed| interleaved(noise, 1.0, seed).verdict != Verdict::NoEvidence);
        println!("{noise:?}: {called:.3} of A/A cases called different");
        assert!(called <= 0.05, "{noise:?}: {called}");
    }
}

#[test]
fn three_percent_are_found_at_the_default_budget() {
    for noise in noise::ALL {
        let found = share(|seed| interleaved(noise, 1.03, seed).verdict == Verdict::Slower);
        println!("{noise:?}: {found:.3} of 3 % slowdowns found");
        assert!(found >= 0.8, "{noise:?}: {found}");
    }
}

#[test]
fn one_arm_after_the_other_finds_the_drift() {
    let called =
        share(|seed| one_after_the_other(Noise::Drift, seed).verdict != Verdict::NoEvidence);
    println!("{called:.3} of A/A cases called different without interleaving");
    assert!(called > 0.5, "{called}");
}
