// SPDX-License-Identifier: GPL-2.0-only
//! Two samples that have nothing in common, as of two sessions: exact rank-sum test
//! (Wilcoxon, Mann and Whitney) and the bootstrap of a ratio of medians.

use super::bootstrap::Interval;
use super::bootstrap::RESAMPLES;
use super::quantile::median;
use super::quantile::median_in_place;
use super::quantile::of_sorted;
use super::rng::Rng;
use super::verdict::Better;
use super::verdict::Comparison;
use super::verdict::Verdict;
use super::verdict::LEVEL;

/// Compares `b` with `a`; the verdict stays open until [`super::judge`] has seen all
/// comparisons. What drifted from one session to the other is in it.
pub fn compare_apart(a: &[f64], b: &[f64], better: Better, seed: u64) -> Comparison {
    Comparison {
        rounds: a.len().min(b.len()),
        base: median(a),
        other: median(b),
        ratio: median(b) / median(a),
        interval: ratio_interval(a, b, 1.0 - LEVEL, seed),
        p: rank_sum_p(a, b),
        p_adjusted: 1.0,
        better,
        verdict: Verdict::NoEvidence,
    }
}

/// The percentile bootstrap interval of median(b) / median(a), each sample drawn anew
/// by itself. `None` for fewer than two values or where one is not positive.
pub fn ratio_interval(a: &[f64], b: &[f64], level: f64, seed: u64) -> Option<Interval> {
    let usable = |v: &f64| v.is_finite() && *v > 0.0;
    if a.len() < 2 || b.len() < 2 || !a.iter().chain(b).all(usable) {
        return None;
    }
    let mut rng = Rng::new(seed);
    let mut drawn = |sample: &[f64]| {
        let mut new: Vec<f64> = sample
            .iter()
            .map(|_| sample[rng.below(sample.len())])
            .collect();
        median_in_place(&mut new)
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| drawn(b) / drawn(a)).collect();
    ratios.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0 * 100.0;
    Some(Interval {
        low: of_sorted(&ratios, tail),
        high: of_sorted(&ratios, 100.0 - tail),
    })
}

/// Two-sided p-value of the sum of `a`'s ranks among all values, over every choice of
/// as many of them; ties share the mean of their ranks.
pub fn rank_sum_p(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = a.iter().map(|v| (*v, true)).collect();
    all.extend(b.iter().map(|v| (*v, false)));
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    // Doubled, so that they are whole.
    let mut ranks = vec![];
    while ranks.len() < all.len() {
        let first = ranks.len();
        let ties = all[first..]
            .iter()
            .take_while(|v| v.0 == all[first].0)
            .count();
        ranks.resize(first + ties, 2 * first + ties + 1);
    }
    let own = ranks.iter().zip(&all).filter(|(_, v)| v.1);
    let sum: usize = own.map(|(rank, _)| rank).sum();
    let chance = distribution(&ranks, a.len());
    let below: f64 = chance[..=sum].iter().sum();
    let above: f64 = chance[sum..].iter().sum();
    (2.0 * below.min(above)).min(1.0)
}

/// Probability of each sum of `n` of the ranks, all choices alike.
fn distribution(ranks: &[usize], n: usize) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    // ways[k][s]: share of the choices so far that took k and reached s. In shares, as
    // the number of choices has no room in a float for a few hundred values.
    let mut ways = vec![vec![0.0; total + 1]; n + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        let left = (ranks.len() - seen) as f64;
        for taken in (0..=n.min(seen)).rev() {
            // The chance that this one is among the n, given that so many are.
            let take = (n - taken) as f64 / left;
            for sum in (0..=total).rev() {
                let share = ways[taken][sum];
                if share == 0.0 {
                    continue;
                }
                if take > 0.0 {
                    ways[taken + 1][sum + rank] += share * take;
                }
                ways[taken][sum] = share * (1.0 - take).max(0.0);
            }
        }
    }
    ways.swap_remove(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apart_and_alike() {
        // 3 of 6: 20 choices, the most extreme of both ends.
        assert!((rank_sum_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.1).abs() < 1e-12);
        assert_eq!(rank_sum_p(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        assert_eq!(rank_sum_p(&[], &[1.0]), 1.0);
    }

    #[test]
    fn the_interval_is_around_the_ratio() {
        let a: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i % 7)).collect();
        let b: Vec<f64> = a.iter().map(|v| v * 1.2).collect();
        let interval = ratio_interval(&a, &b, 0.95, 1).unwrap();
        assert!(interval.low < 1.2 && interval.high > 1.2 && interval.excludes_one());
        assert_eq!(ratio_interval(&a, &[1.0], 0.95, 1), None);
    }
}
