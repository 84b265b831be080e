// SPDX-License-Identifier: GPL-2.0-only
//! What a wake-up costs, in instructions, beside the fair class.

use crate::machine::Machine;

/// Placement, and the highest cost as a multiple of the fair class's: what scx_cosmos 1.1.7 takes
/// (usecs a loop, both measured on one kernel and machine like the one here).
const LIMITS: [(&str, f64); 5] = [
    ("same", 19.2 / 15.9),
    ("smt", 22.2 / 18.2),
    ("core", 22.2 / 18.2),
    ("llc", 22.2 / 18.2),
    ("unbound", 22.7 / 18.9),
];

#[test]
fn a_pipe_round_trip_costs_less_than_under_cosmos() {
    let out = Machine::counting().run("pipe", &[]);
    out.assert_healthy("sibling");
    println!("thousand instructions a loop:");
    println!(
        "{:<8} {:>7} {:>8} {:>6} {:>6}",
        "place", "fair", "sibling", "ratio", "limit"
    );
    let mut over = vec![];
    for (place, limit) in LIMITS {
        let [fair, sibling] = ["fair", "sibling"]
            .map(|class| out.number(&format!("{class}.{place}"), "/us_per_loop"));
        let ratio = sibling / fair;
        println!("{place:<8} {fair:>7.2} {sibling:>8.2} {ratio:>6.3} {limit:>6.3}");
        if ratio > limit {
            over.push(format!(
                "{place}: {sibling:.2} is {ratio:.3} x fair, above {limit:.3}"
            ));
        }
    }
    assert!(over.is_empty(), "not leaner than scx_cosmos: {over:?}");
}
