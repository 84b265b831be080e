// SPDX-License-Identifier: GPL-2.0-only
//! In which order the arms run.

use super::stats::Rng;

/// The arms of round `round`, each once, as indices below `arms`.
///
/// Rounds come in pairs: a random order, then its mirror image (ABBA for two
/// arms), so that a steady drift adds the same to every arm of a pair. The order
/// is random by pair because the test of [`super::stats::signed_rank`] takes its
/// validity from that, and because a periodic disturbance must not meet the same
/// arm each time. The same seed gives the same order, also to a run that is
/// resumed in the middle.
pub fn order(arms: usize, round: usize, seed: u64) -> Vec<usize> {
    let mut rng = Rng::new(seed ^ (round as u64 / 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut order: Vec<usize> = (0..arms).collect();
    for last in (1..arms).rev() {
        order.swap(last, rng.below(last + 1));
    }
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_once_a_round_and_the_mirror_next() {
        for seed in 0..50 {
            for pair in 0..10 {
                let forth = order(4, 2 * pair, seed);
                let mut back = order(4, 2 * pair + 1, seed);
                back.reverse();
                assert_eq!(forth, back);
                let mut sorted = forth;
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2, 3]);
            }
        }
    }

    #[test]
    fn both_orders_of_two_arms_come_about_equally_often() {
        let first = (0..1000).filter(|seed| order(2, 0, *seed)[0] == 0).count();
        assert!((430..570).contains(&first), "{first}");
        let first = (0..1000).filter(|pair| order(2, 2 * pair, 7)[0] == 0);
        assert!((430..570).contains(&first.count()));
    }

    #[test]
    fn one_arm_and_none() {
        assert_eq!(order(1, 3, 0), [0]);
        assert!(order(0, 0, 0).is_empty());
    }
}
