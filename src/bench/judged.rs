// SPDX-License-Identifier: GPL-2.0-only
//! From blocks to what can be said of each arm on each case.

use super::result::Block;
use super::result::Outcome;
use super::result::Outcomes;
use super::result::Start;
use super::stats;
use super::stats::Comparison;
use super::stats::Verdict;

/// Blocks of one case that may fail under one arm before it is tried no more.
pub const MAX_FAILURES: usize = 2;

/// What one arm did on one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// By position in the result's first line.
    pub case: usize,
    /// By position in the result's first line.
    pub arm: usize,
    /// The compared figure, block by block.
    pub values: Vec<f64>,
    /// Why blocks failed.
    pub failures: Vec<String>,
    /// Blocks in which something else happened on the machine.
    pub disturbed: usize,
    /// Against the baseline; `None` for the baseline itself, or with fewer than two
    /// rounds that both have.
    pub comparison: Option<Comparison>,
}

impl Row {
    /// The verdict in words. A load that failed here is never called fast.
    pub fn words(&self) -> String {
        let runs = self.values.len() + self.failures.len();
        match (&self.failures[..], &self.comparison) {
            ([first, ..], _) => {
                format!("FAILED in {} of {runs} runs: {first}", self.failures.len())
            }
            ([], Some(comparison)) => comparison.to_string(),
            ([], None) if self.arm == 0 => "baseline".into(),
            ([], None) => "too few rounds".into(),
        }
    }

    /// The verdict for programs: `faster`, `slower`, `no-evidence`, `failed`, `baseline`.
    pub fn verdict(&self) -> &'static str {
        match (self.failures.is_empty(), &self.comparison) {
            (false, _) => "failed",
            (true, None) if self.arm == 0 => "baseline",
            (true, None) => "no-evidence",
            (true, Some(comparison)) => match comparison.verdict {
                Verdict::Faster => "faster",
                Verdict::Slower => "slower",
                Verdict::NoEvidence => "no-evidence",
            },
        }
    }
}

/// The values of one figure, round by round: `None` where there is none.
pub fn series(blocks: &[Block], case: usize, arm: usize, figure: usize) -> Vec<Option<f64>> {
    let mut series = vec![];
    for block in blocks.iter().filter(|b| b.case == case && b.arm == arm) {
        if series.len() <= block.round {
            series.resize(block.round + 1, None);
        }
        if let Outcome::Values(values) = &block.outcome {
            series[block.round] = values.get(figure).copied();
        }
    }
    series
}

/// The values of two series in the rounds that both have.
fn paired(a: &[Option<f64>], b: &[Option<f64>]) -> (Vec<f64>, Vec<f64>) {
    let both = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    both.unzip()
}

/// An arm against the baseline in one case; the verdict stays open.
pub fn compare(start: &Start, blocks: &[Block], case: usize, arm: usize) -> Option<Comparison> {
    let base = series(blocks, case, 0, 0);
    let (base, other) = paired(&base, &series(blocks, case, arm, 0));
    let better = start.cases.get(case)?.figures.first()?.better;
    (base.len() >= 2).then(|| stats::compare(&base, &other, better, start.seed))
}

/// Why blocks of a case failed under an arm.
pub fn failures(blocks: &[Block], case: usize, arm: usize) -> Vec<String> {
    let of = blocks.iter().filter(|b| b.case == case && b.arm == arm);
    of.filter_map(|block| match &block.outcome {
        Outcome::Failed(why) => Some(why.clone()),
        Outcome::Values(_) => None,
    })
    .collect()
}

/// Comparisons a result makes at most; what the correction counts.
pub fn comparisons(start: &Start) -> usize {
    start.cases.len() * start.arms.len().saturating_sub(1)
}

/// One row for each arm on each case, case by case, verdicts corrected for all of them.
pub fn rows(result: &Outcomes) -> Vec<Row> {
    let (start, blocks) = (&result.start, &result.blocks);
    let mut rows = vec![];
    for case in 0..start.cases.len() {
        for arm in 0..start.arms.len() {
            let own = |b: &&Block| b.case == case && b.arm == arm;
            rows.push(Row {
                case,
                arm,
                values: series(blocks, case, arm, 0).into_iter().flatten().collect(),
                failures: failures(blocks, case, arm),
                disturbed: blocks
                    .iter()
                    .filter(own)
                    .filter(|b| !b.disturbed.is_empty())
                    .count(),
                comparison: (arm > 0)
                    .then(|| compare(start, blocks, case, arm))
                    .flatten(),
            });
        }
    }
    let mut all: Vec<Comparison> = rows
        .iter()
        .filter_map(|row| row.comparison.clone())
        .collect();
    stats::judge(&mut all);
    let mut judged = all.into_iter();
    for row in rows.iter_mut().filter(|row| row.comparison.is_some()) {
        row.comparison = judged.next();
    }
    rows
}
