// SPDX-License-Identifier: GPL-2.0-only
//! What a comparison says, in words.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::bootstrap::median_interval;
use super::bootstrap::round_ratios;
use super::bootstrap::Interval;
use super::holm::holm;
use super::quantile::median;
use super::signed_rank;

/// Chance of a false call among all comparisons of a result.
pub const LEVEL: f64 = 0.05;

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A rate: more is better.
    Higher,
    /// A time: less is better.
    Lower,
}

/// What can be said of an arm against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better than the baseline.
    Faster,
    /// Worse than the baseline.
    Slower,
    /// Neither can be said from these rounds.
    NoEvidence,
}

/// An arm against the baseline on one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Rounds in which both have a value.
    pub rounds: usize,
    /// Median of the baseline.
    pub base: f64,
    /// Median of the arm.
    pub other: f64,
    /// Median of the rounds' ratios, arm / baseline.
    pub ratio: f64,
    /// 95 % interval of the ratio; `None` for fewer than two rounds.
    pub interval: Option<Interval>,
    /// p-value of this comparison alone.
    pub p: f64,
    /// p-value corrected for all comparisons of the result; set by [`judge`].
    pub p_adjusted: f64,
    /// Which way the figure is better.
    pub better: Better,
    /// Set by [`judge`].
    pub verdict: Verdict,
}

/// Compares the arms' values, one of each per round and all positive. The verdict
/// stays open until [`judge`] has seen all comparisons.
pub fn compare(base: &[f64], other: &[f64], better: Better, seed: u64) -> Comparison {
    let ratios = round_ratios(base, other);
    Comparison {
        rounds: ratios.len(),
        base: median(base),
        other: median(other),
        ratio: median(&ratios),
        interval: median_interval(&ratios, 1.0 - LEVEL, seed),
        p: signed_rank::p_value(base, other),
        p_adjusted: 1.0,
        better,
        verdict: Verdict::NoEvidence,
    }
}

/// Corrects the p-values of all comparisons of a result and sets the verdicts. A
/// difference is called where test and interval agree.
pub fn judge(comparisons: &mut [Comparison]) {
    let p_values: Vec<f64> = comparisons.iter().map(|c| c.p).collect();
    for (comparison, p) in comparisons.iter_mut().zip(holm(&p_values)) {
        comparison.p_adjusted = p;
        let apart = comparison.interval.is_some_and(|i| i.excludes_one());
        comparison.verdict = if p > LEVEL || !apart {
            Verdict::NoEvidence
        } else if (comparison.ratio > 1.0) == (comparison.better == Better::Higher) {
            Verdict::Faster
        } else {
            Verdict::Slower
        };
    }
}

/// The fewest rounds with which one of `comparisons` can be called a difference:
/// with n rounds no p-value is below 2 / 2^n.
pub fn rounds_needed(comparisons: usize) -> usize {
    let wanted = 2.0 * comparisons.max(1) as f64 / LEVEL;
    wanted.log2().ceil() as usize
}

impl fmt::Display for Comparison {
    /// "3.1 % faster (1.9 to 4.4 %)"; the sign is that of the verdict.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(interval) = self.interval else {
            return write!(f, "no evidence (too few rounds: {})", self.rounds);
        };
        let gain = |ratio: f64| match self.better {
            Better::Higher => (ratio - 1.0) * 100.0,
            Better::Lower => (1.0 - ratio) * 100.0,
        };
        let (a, b) = (gain(interval.low), gain(interval.high));
        let (low, high) = (a.min(b), a.max(b));
        let size = gain(self.ratio);
        match self.verdict {
            Verdict::Faster => write!(f, "{size:.1} % faster ({low:.1} to {high:.1} %)"),
            Verdict::Slower => {
                write!(f, "{:.1} % slower ({:.1} to {:.1} %)", -size, -high, -low)
            }
            // An interval of so few may look sure and is not.
            Verdict::NoEvidence if self.rounds < rounds_needed(1) => {
                let least = rounds_needed(1);
                write!(
                    f,
                    "no evidence (too few rounds: {}, {least} at least)",
                    self.rounds
                )
            }
            Verdict::NoEvidence => {
                write!(f, "no evidence of a difference ({low:+.1} to {high:+.1} %)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(factor: f64, better: Better) -> Comparison {
        let base: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i * 7 % 5)).collect();
        let other: Vec<f64> = base.iter().map(|v| v * factor).collect();
        let mut all = [compare(&base, &other, better, 1)];
        judge(&mut all);
        all[0].clone()
    }

    #[test]
    fn the_direction_is_the_figure_s() {
        let rate = compared(1.1, Better::Higher);
        assert_eq!(rate.verdict, Verdict::Faster);
        assert_eq!(rate.to_string(), "10.0 % faster (10.0 to 10.0 %)");
        let time = compared(1.1, Better::Lower);
        assert_eq!(time.verdict, Verdict::Slower);
        assert_eq!(time.to_string(), "10.0 % slower (10.0 to 10.0 %)");
        assert_eq!(compared(0.9, Better::Lower).verdict, Verdict::Faster);
    }

    #[test]
    fn the_same_is_no_evidence() {
        let same = compared(1.0, Better::Lower);
        assert_eq!(same.verdict, Verdict::NoEvidence);
        assert!(same.to_string().contains("no evidence"), "{same}");
    }

    #[test]
    fn few_rounds_show_no_interval() {
        let mut few = [compare(&[10.0, 11.0], &[12.0, 13.0], Better::Lower, 1)];
        judge(&mut few);
        let said = few[0].to_string();
        assert_eq!(said, "no evidence (too few rounds: 2, 6 at least)");
    }

    #[test]
    fn many_comparisons_need_more_rounds() {
        assert_eq!([1, 2, 10].map(rounds_needed), [6, 7, 9]);
        // 12 rounds: 2 / 4096 each.
        let mut many = vec![compared(1.1, Better::Higher); 200];
        judge(&mut many);
        assert!(many.iter().all(|c| c.verdict == Verdict::NoEvidence));
        judge(&mut many[..100]);
        assert!(many[..100].iter().all(|c| c.verdict == Verdict::Faster));
    }
}
