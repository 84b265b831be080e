// SPDX-License-Identifier: GPL-2.0-only
//! Latency histograms that several processes can fill and one can read.
//!
//! Buckets are log-linear, the idea of HdrHistogram: exact below 256 ns, above that
//! 128 equal buckets per power of two, so a percentile is off by 0.4 % at most.
//! Count, sum and maximum are exact.

use super::round;
use serde::Serialize;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// log2 of the buckets per power of two.
const SUB_BITS: u32 = 7;
const SUB: usize = 1 << SUB_BITS;
/// Largest value told apart, about 36 minutes in nanoseconds.
const MAX_VALUE: u64 = (1 << 41) - 1;
const BUCKETS: usize = (41 - SUB_BITS as usize + 1) * SUB;
const COUNT: usize = 0;
const SUM: usize = 1;
const MAX: usize = 2;
const FIRST: usize = 3;

/// Words of shared memory one histogram takes.
pub const HIST_WORDS: usize = FIRST + BUCKETS;

/// A histogram of nanoseconds in shared memory, written by one process.
#[derive(Clone, Copy)]
pub struct Hist<'a>(&'a [AtomicU64]);

impl<'a> Hist<'a> {
    /// The histogram with number `index` in `words`.
    pub fn at(words: &'a [AtomicU64], index: usize) -> Self {
        Self(&words[index * HIST_WORDS..(index + 1) * HIST_WORDS])
    }

    /// Adds one value. There is one writer only, so plain loads and stores do.
    pub fn record(&self, ns: u64) {
        let add = |at: usize, by: u64| self.0[at].store(self.0[at].load(Relaxed) + by, Relaxed);
        add(COUNT, 1);
        add(SUM, ns);
        if ns > self.0[MAX].load(Relaxed) {
            self.0[MAX].store(ns, Relaxed);
        }
        add(FIRST + bucket_of(ns), 1);
    }
}

/// The bucket a value falls into.
fn bucket_of(ns: u64) -> usize {
    let ns = ns.min(MAX_VALUE);
    if ns < 2 * SUB as u64 {
        return ns as usize;
    }
    let shift = 63 - ns.leading_zeros() - SUB_BITS;
    shift as usize * SUB + (ns >> shift) as usize
}

/// The value in the middle of a bucket.
fn value_of(bucket: usize) -> u64 {
    if bucket < 2 * SUB {
        return bucket as u64;
    }
    let shift = bucket / SUB - 1;
    let low = ((bucket % SUB + SUB) as u64) << shift;
    low + ((1 << shift) - 1) / 2
}

/// What a set of histograms says, in microseconds.
#[derive(Serialize, Debug, Clone, PartialEq)]
pub struct Summary {
    pub count: u64,
    pub mean_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

impl Summary {
    /// Adds the first `count` histograms in `words` up.
    pub fn of(words: &[AtomicU64], count: usize) -> Self {
        let hists: Vec<Hist> = (0..count).map(|i| Hist::at(words, i)).collect();
        let total = |at: usize| hists.iter().map(|h| h.0[at].load(Relaxed)).sum::<u64>();
        let max = hists
            .iter()
            .map(|h| h.0[MAX].load(Relaxed))
            .max()
            .unwrap_or(0);
        let buckets: Vec<u64> = (0..BUCKETS).map(|b| total(FIRST + b)).collect();
        let n = total(COUNT);
        let at = |permille| round(percentile(&buckets, permille).min(max) as f64 / 1e3, 3);
        Self {
            count: n,
            mean_us: round(
                if n == 0 {
                    0.0
                } else {
                    total(SUM) as f64 / n as f64 / 1e3
                },
                3,
            ),
            p50_us: at(500),
            p99_us: at(990),
            p999_us: at(999),
            max_us: round(max as f64 / 1e3, 3),
        }
    }

    /// The figures as part of a line of text.
    pub fn text(&self) -> String {
        format!(
            "p50 {:.1} p99 {:.1} p99.9 {:.1} max {:.1} us ({} samples)",
            self.p50_us, self.p99_us, self.p999_us, self.max_us, self.count
        )
    }
}

/// The value below or at which `permille` of all values lie (nearest rank); 0 for an
/// empty histogram.
fn percentile(buckets: &[u64], permille: u64) -> u64 {
    let total: u128 = buckets.iter().map(|&c| u128::from(c)).sum();
    let rank = (total * u128::from(permille)).div_ceil(1000).max(1);
    let mut seen = 0u128;
    for (bucket, &count) in buckets.iter().enumerate() {
        seen += u128::from(count);
        if count > 0 && seen >= rank {
            return value_of(bucket);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(values: impl Iterator<Item = u64>) -> Vec<AtomicU64> {
        let words: Vec<AtomicU64> = (0..HIST_WORDS).map(|_| AtomicU64::new(0)).collect();
        values.for_each(|v| Hist::at(&words, 0).record(v));
        words
    }

    #[test]
    fn small_values_are_exact() {
        let s = Summary::of(&filled(1..=100), 1);
        assert_eq!((s.count, s.mean_us), (100, 0.051));
        assert_eq!(
            (s.p50_us, s.p99_us, s.p999_us, s.max_us),
            (0.05, 0.099, 0.1, 0.1)
        );
    }

    #[test]
    fn one_value_is_every_percentile() {
        let s = Summary::of(&filled([12_345_678].into_iter()), 1);
        assert_eq!(s.max_us, 12_345.678);
        assert!((s.p50_us / 12_345.678 - 1.0).abs() < 0.004, "{s:?}");
        assert!(s.p999_us <= s.max_us);
    }

    #[test]
    fn nothing_recorded_is_zero() {
        let s = Summary::of(&filled(std::iter::empty()), 1);
        assert_eq!(
            (s.count, s.p50_us, s.p999_us, s.max_us, s.mean_us),
            (0, 0.0, 0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn known_large_values() {
        // 1000 values 1..=1000 us: p50 500 us, p99 990 us, p99.9 999 us.
        let s = Summary::of(&filled((1..=1000).map(|v| v * 1000)), 1);
        for (got, want) in [(s.p50_us, 500.0), (s.p99_us, 990.0), (s.p999_us, 999.0)] {
            assert!((got / want - 1.0_f64).abs() < 0.004, "{got} {want}");
        }
        assert_eq!((s.mean_us, s.max_us), (500.5, 1000.0));
    }

    #[test]
    fn buckets_are_contiguous_and_close() {
        let mut last = 0;
        for v in (0..41).flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + (1 << e) / 3]) {
            let b = bucket_of(v);
            assert!(b < BUCKETS && b >= last, "{v}");
            last = b.min(bucket_of(v.next_power_of_two() - 1));
            assert!(
                value_of(b).abs_diff(v) as f64 <= 0.004 * v as f64,
                "{v} {}",
                value_of(b)
            );
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert!((0..BUCKETS).all(|b| bucket_of(value_of(b)) == b));
    }

    #[test]
    fn several_histograms_add_up() {
        let words: Vec<AtomicU64> = (0..2 * HIST_WORDS).map(|_| AtomicU64::new(0)).collect();
        (0..99).for_each(|_| Hist::at(&words, 0).record(10));
        Hist::at(&words, 1).record(200);
        let s = Summary::of(&words, 2);
        assert_eq!(
            (s.count, s.p50_us, s.p99_us, s.p999_us),
            (100, 0.01, 0.01, 0.2)
        );
    }
}
