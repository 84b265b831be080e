// SPDX-License-Identifier: GPL-2.0-only
//! Results for the tests of reports.

use std::collections::BTreeMap;

use super::budget::Budget;
use super::loads;
use super::result::Block;
use super::result::Outcome;
use super::result::Outcomes;
use super::result::Start;
use super::result::FORMAT;

/// A machine of 8 CPUs on which every program is installed.
pub fn cases(texts: &[&str]) -> Vec<super::case::Case> {
    let host = loads::Host {
        cpus: 8,
        program: "/bin/scx_sibling",
        which: &|name| Some(format!("/usr/bin/{name}")),
        place: &|_| true,
    };
    let cases = texts
        .iter()
        .flat_map(|text| loads::cases(text, &host).unwrap());
    cases.collect()
}

/// A result with `value(case, arm, round)` for every figure; no value is a failure.
pub fn outcomes(
    arms: &[&str],
    loads: &[&str],
    rounds: usize,
    value: impl Fn(usize, usize, usize) -> Option<f64>,
) -> Outcomes {
    let environment = [
        ("cpu", "i4790"),
        ("kernel", "7.3.4"),
        ("cpus online", "0-7"),
    ];
    let start = Start {
        format: FORMAT,
        version: "0.1.0".into(),
        at_s: 1_750_000_000,
        seed: 1,
        budget: Budget::default(),
        arms: arms.iter().map(|arm| arm.to_string()).collect(),
        cases: cases(loads),
        environment: environment.map(|(k, v)| (k.into(), v.into())).into(),
    };
    let mut blocks = vec![];
    for round in 0..rounds {
        for arm in 0..arms.len() {
            for (case, is) in start.cases.iter().enumerate() {
                let outcome = match value(case, arm, round) {
                    Some(value) => Outcome::Values(vec![value; is.figures.len()]),
                    None => Outcome::Failed("it crashed <&>".into()),
                };
                blocks.push(Block {
                    round,
                    arm,
                    case,
                    at_s: 1_750_000_000,
                    wall_s: 1.0,
                    outcome,
                    disturbed: vec![],
                    counters: BTreeMap::from([("pull.llc".into(), (arm * 7) as u64)]),
                });
            }
        }
    }
    Outcomes {
        start,
        blocks,
        complete: true,
        length: 0,
    }
}
