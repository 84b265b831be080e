// SPDX-License-Identifier: GPL-2.0-only
//! Correction for many comparisons.

/// Holm's step-down p-values (1979), in the order given: with these, the chance of
/// one or more false calls among all comparisons is the level, whatever their
/// dependence.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (step, at) in order.iter().enumerate() {
        let left = (p_values.len() - step) as f64;
        least = least.max((p_values[*at] * left).min(1.0));
        adjusted[*at] = least;
    }
    adjusted
}
