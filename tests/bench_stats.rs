// SPDX-License-Identifier: GPL-2.0-only
//! The statistics of `scx_sibling bench`: against values computed elsewhere
//! (`bench_stats/vectors.py`), and for what they find in noise.

#![allow(clippy::unwrap_used)]

#[path = "bench_stats/noise.rs"]
mod noise;
#[path = "bench_stats/verdicts.rs"]
mod verdicts;

use scx_sibling::bench::stats;
use scx_sibling::bench::stats::signed_rank;
use serde_json::Value;

fn vectors(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("bench_stats/vectors.json")).unwrap();
    let rows = all[name].as_array().unwrap().clone();
    assert!(!rows.is_empty());
    rows
}

fn numbers(row: &Value, name: &str) -> Vec<f64> {
    let values = row[name].as_array().unwrap();
    values.iter().map(|v| v.as_f64().unwrap()).collect()
}

#[track_caller]
fn same(got: f64, want: &Value, what: &str) {
    let want = want.as_f64().unwrap();
    let close = (got - want).abs() <= 1e-9 * want.abs().max(1e-3);
    assert!(close, "{what}: {got}, not {want}");
}

#[test]
fn quantiles_are_numpy_s() {
    for row in vectors("quantiles") {
        let values = numbers(&row, "values");
        same(stats::median(&values), &row["median"], "median");
        same(stats::mean(&values), &row["mean"], "mean");
        same(stats::deviation(&values), &row["deviation"], "deviation");
        for (percent, want) in numbers(&row, "percents")
            .iter()
            .zip(row["percentiles"].as_array().unwrap())
        {
            same(stats::percentile(&values, *percent), want, "percentile");
        }
    }
}

#[test]
fn signed_ranks_are_scipy_s() {
    for row in vectors("signed_rank") {
        let p = signed_rank::p_value(&numbers(&row, "base"), &numbers(&row, "other"));
        same(p, &row["p"], "p");
    }
    for row in vectors("tied_rank") {
        let p = signed_rank::p_of_differences(&numbers(&row, "differences"));
        same(p, &row["p"], "p with ties");
    }
}

#[test]
fn rank_sums_are_scipy_s() {
    for row in vectors("rank_sum") {
        let p = stats::rank_sum_p(&numbers(&row, "a"), &numbers(&row, "b"));
        same(p, &row["p"], "p");
    }
}

#[test]
fn holm_is_statsmodels_s() {
    for row in vectors("holm") {
        let adjusted = stats::holm(&numbers(&row, "p"));
        for (got, want) in adjusted.iter().zip(row["adjusted"].as_array().unwrap()) {
            same(*got, want, "adjusted p");
        }
    }
}

#[test]
fn intervals_are_scipy_s_but_for_the_drawing() {
    for row in vectors("intervals") {
        let (base, other) = (numbers(&row, "base"), numbers(&row, "other"));
        let (narrow, wide) = (numbers(&row, "level_93"), numbers(&row, "level_97"));
        let got = stats::median_interval(&stats::round_ratios(&base, &other), 0.95, 3).unwrap();
        let between = |v: f64, a: f64, b: f64| v >= a - 1e-9 && v <= b + 1e-9;
        let right = between(got.low, wide[0], narrow[0]) && between(got.high, narrow[1], wide[1]);
        assert!(
            right,
            "{} rounds: {got:?}, not {narrow:?} … {wide:?}",
            base.len()
        );
    }
}
