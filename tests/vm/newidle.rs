// SPDX-License-Identifier: GPL-2.0-only
//! How far CPUs that go idle pull from, by the cost of the move.

use crate::machine::Machine;
use crate::output::Output;

/// Tasks pulled by CPUs going idle, from the levels given.
#[track_caller]
fn pulled(out: &Output, run: &str, levels: &[&str]) -> f64 {
    levels
        .iter()
        .map(|level| out.count(run, &format!("newidle.pulled.{level}")))
        .sum()
}

#[test]
fn newidle_pulls_as_far_as_the_expected_idle_time_pays_for() {
    let out = Machine::fine_counting().run("newidle", &[]);
    let runs = ["plain", "dear", "naps", "free"];
    for run in runs {
        out.assert_healthy(run);
        let by_level = ["smt", "cluster", "llc", "node", "system"].map(|l| pulled(&out, run, &[l]));
        println!("{run}: pulled {by_level:?} from smt, cluster, llc, node, system");
    }
    let [plain, dear, naps, free] = runs.map(|run| pulled(&out, run, &["node", "system"]));
    assert!(
        plain >= 50.0,
        "only {plain} pulls across LLCs: no load to judge by"
    );
    assert!(
        plain >= 5.0 * dear,
        "llc cost x 10: {dear} pulls across LLCs, {plain} without"
    );
    assert!(free >= 50.0, "all costs 0: only {free} pulls across LLCs");

    let near = pulled(&out, "naps", &["smt", "cluster"]);
    let far = naps + pulled(&out, "naps", &["llc"]);
    assert!(near >= 50.0, "short naps: only {near} pulls inside cores");
    assert!(
        far <= 0.02 * near,
        "short naps: {far} pulls beyond the core, {near} inside"
    );
}
