// SPDX-License-Identifier: GPL-2.0-only
//! When a measurement has seen enough.

use super::stats::Comparison;
use super::stats::Interval;
use serde::Deserialize;
use serde::Serialize;

/// How many rounds a measurement may take, and when fewer do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Rounds after which it ends whatever is known.
    pub max_rounds: usize,
    /// Half the width of every ratio's interval, in percent, at which it may end early.
    pub precision_pct: f64,
}

impl Default for Budget {
    /// Enough to find most differences of 3 % in data that vary by 3 % from run to run.
    fn default() -> Self {
        Budget {
            max_rounds: 32,
            precision_pct: 1.0,
        }
    }
}

impl Budget {
    /// Is every comparison settled after its rounds? Asked after whole pairs of
    /// rounds only, or a drift would meet one arm more than the other.
    ///
    /// The end depends on the width of the intervals and never on the verdict:
    /// looking until a difference shows would find one in any noise.
    pub fn spent(&self, rounds: usize, least: usize, comparisons: &[Comparison]) -> bool {
        if rounds >= self.max_rounds {
            return true;
        }
        // Half as many again as can show anything: an interval from few rounds
        // is narrow by chance too often.
        let narrow = |interval: Interval| interval.half_width() * 100.0 <= self.precision_pct;
        rounds.is_multiple_of(2)
            && rounds >= least * 3 / 2
            && !comparisons.is_empty()
            && comparisons.iter().all(|c| c.interval.is_some_and(narrow))
    }
}

#[cfg(test)]
mod tests {
    use super::super::stats::compare;
    use super::super::stats::Better;
    use super::*;

    #[test]
    fn narrow_is_enough_and_the_most_is_the_most() {
        let budget = Budget::default();
        let flat = [100.0; 32];
        let narrow = [compare(&flat, &flat, Better::Lower, 1)];
        assert!(!budget.spent(8, 6, &narrow));
        assert!(!budget.spent(11, 6, &narrow), "half a pair");
        assert!(budget.spent(12, 6, &narrow));
        assert!(!budget.spent(12, 6, &[]));
        let wide: Vec<f64> = (0..32).map(|i| 100.0 + f64::from(i * 11 % 32)).collect();
        let wide = [narrow[0].clone(), compare(&flat, &wide, Better::Lower, 1)];
        assert!(!budget.spent(30, 6, &wide));
        assert!(budget.spent(32, 6, &wide));
    }
}
