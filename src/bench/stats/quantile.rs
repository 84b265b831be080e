// SPDX-License-Identifier: GPL-2.0-only
//! Middle, spread and percentiles of a sample.

/// The value below which `percent` of the sample lies, interpolated between
/// neighbours (type 7 of Hyndman and Fan, the default of R and NumPy). NaN for an
/// empty sample.
pub fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted, percent)
}

/// [`percentile`] of what is sorted already.
pub(super) fn of_sorted(sorted: &[f64], percent: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = percent.clamp(0.0, 100.0) / 100.0 * last as f64;
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64)
}

/// The middle value; the mean of the two middle ones of an even number. NaN for none.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 50.0)
}

/// [`median`] without a copy; leaves `values` in another order.
pub(super) fn median_in_place(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return f64::NAN;
    }
    let (below, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    if n % 2 == 1 {
        return middle;
    }
    let other = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (other + middle) / 2.0
}

/// The arithmetic mean; NaN for none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation of the sample (n - 1); NaN for fewer than two.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let middle = mean(values);
    let squares: f64 = values.iter().map(|v| (v - middle).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_place_is_the_same_median() {
        for n in 1..20u32 {
            let mut values: Vec<f64> = (0..n).map(|i| f64::from(i * 7919 % 31)).collect();
            let want = median(&values);
            assert_eq!(median_in_place(&mut values), want, "{n}");
        }
        assert!(median_in_place(&mut []).is_nan());
    }

    #[test]
    fn nothing_has_no_middle() {
        assert!(median(&[]).is_nan() && mean(&[]).is_nan() && deviation(&[1.0]).is_nan());
    }
}
