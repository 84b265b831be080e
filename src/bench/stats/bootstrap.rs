// SPDX-License-Identifier: GPL-2.0-only
//! How sure a ratio of medians is.

use serde::Deserialize;
use serde::Serialize;

use super::quantile::median_in_place;
use super::quantile::of_sorted;
use super::rng::Rng;

/// How often the rounds are drawn again.
pub const RESAMPLES: usize = 2000;

/// An interval of ratios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Is "no difference" outside?
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// Half its width, in parts of the ratio 1.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// other / base, round by round. What a round has in common, such as a slow hour of
/// the machine, cancels here; in a ratio of two medians over all rounds a drift
/// would remain as noise.
pub fn round_ratios(base: &[f64], other: &[f64]) -> Vec<f64> {
    base.iter().zip(other).map(|(b, o)| o / b).collect()
}

/// The percentile bootstrap interval, with `level` (0.95) of the probability, of
/// the median of `ratios`, one of each round: rounds are drawn anew, medians taken.
/// `None` for fewer than two rounds or where a ratio is not positive.
pub fn median_interval(ratios: &[f64], level: f64, seed: u64) -> Option<Interval> {
    let usable = |ratio: &f64| ratio.is_finite() && *ratio > 0.0;
    if ratios.len() < 2 || !ratios.iter().all(usable) {
        return None;
    }
    let mut rng = Rng::new(seed);
    let mut drawn = vec![0.0; ratios.len()];
    let mut medians = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.fill_with(|| ratios[rng.below(ratios.len())]);
        medians.push(median_in_place(&mut drawn));
    }
    medians.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0 * 100.0;
    Some(Interval {
        low: of_sorted(&medians, tail),
        high: of_sorted(&medians, 100.0 - tail),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_rounds_share_cancels() {
        let base: Vec<f64> = (0..20).map(|i| 100.0 + 10.0 * f64::from(i)).collect();
        let other: Vec<f64> = base.iter().map(|v| v * 1.03).collect();
        let interval = median_interval(&round_ratios(&base, &other), 0.95, 1).unwrap();
        assert!((interval.low - 1.03).abs() < 1e-9 && (interval.high - 1.03).abs() < 1e-9);
        assert!(interval.excludes_one());
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let ratios = [0.9, 1.1, 1.0, 1.2, 0.7, 1.05];
        let interval = |seed| median_interval(&ratios, 0.95, seed);
        assert_eq!(interval(5), interval(5));
    }

    #[test]
    fn no_interval_from_too_little() {
        assert_eq!(median_interval(&[1.0], 0.95, 1), None);
        assert_eq!(median_interval(&[1.0, f64::INFINITY], 0.95, 1), None);
        assert_eq!(median_interval(&[1.0, 0.0], 0.95, 1), None);
    }
}
