// SPDX-License-Identifier: GPL-2.0-only
//! Whether two arms differ at all: Wilcoxon's signed-rank test, exact.
//!
//! The order within a round is random, so with no difference between the arms
//! each pair's difference is as likely as its opposite, whatever the noise does
//! from slot to slot. Hence all signs are tried; ranks bound what a single burst
//! of noise can do.

/// Two-sided p-value of the differences `other` - `base` of logarithms, round by
/// round. Rounds without a difference do not count; 1 where none is left. Values
/// must be positive.
pub fn p_value(base: &[f64], other: &[f64]) -> f64 {
    let differences: Vec<f64> = base
        .iter()
        .zip(other)
        .map(|(b, o)| o.ln() - b.ln())
        .filter(|d| *d != 0.0)
        .collect();
    p_of_differences(&differences)
}

/// Two-sided p-value of `differences`, none of which is 0.
pub fn p_of_differences(differences: &[f64]) -> f64 {
    let ranks = doubled_ranks(differences);
    let total: usize = ranks.iter().sum();
    let positive: usize = ranks
        .iter()
        .zip(differences)
        .filter(|(_, d)| **d > 0.0)
        .map(|(rank, _)| rank)
        .sum();
    let extreme = positive.min(total - positive);
    let tail: f64 = distribution(&ranks, total)[..=extreme].iter().sum();
    (2.0 * tail).min(1.0)
}

/// Ranks of the absolute values, ties sharing the mean of theirs; doubled, so
/// that they are whole.
fn doubled_ranks(differences: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|a, b| differences[*a].abs().total_cmp(&differences[*b].abs()));
    let mut ranks = vec![0; order.len()];
    let mut first = 0;
    while first < order.len() {
        let size = differences[order[first]].abs();
        let ties = order[first..]
            .iter()
            .take_while(|at| differences[**at].abs() == size)
            .count();
        for at in &order[first..first + ties] {
            ranks[*at] = 2 * first + ties + 1;
        }
        first += ties;
    }
    ranks
}

/// Probability of each sum of the ranks with a positive sign, over all signs.
fn distribution(ranks: &[usize], total: usize) -> Vec<f64> {
    let mut chance = vec![0.0; total + 1];
    chance[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = if sum >= *rank {
                chance[sum - rank]
            } else {
                0.0
            };
            chance[sum] = (chance[sum] + with) / 2.0;
        }
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_one_sign_is_the_least_there_is() {
        let p = p_of_differences(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((p - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(p_of_differences(&[]), 1.0);
        assert_eq!(p_value(&[1.0, 2.0], &[1.0, 2.0]), 1.0);
    }

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(doubled_ranks(&[1.0, -1.0, 3.0, 2.0]), [3, 3, 8, 6]);
    }

    #[test]
    fn chances_add_up_for_hundreds_of_rounds() {
        let ranks: Vec<usize> = (1..=300).map(|r| 2 * r).collect();
        let sum: f64 = distribution(&ranks, ranks.iter().sum()).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}
