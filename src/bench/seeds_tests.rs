// SPDX-License-Identifier: GPL-2.0-only
//! The mails' own figures must come out as the mails' own lines.

use super::super::played::outcomes;
use super::*;

#[track_caller]
fn has(text: &str, line: &str) {
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = text.lines().any(|l| squeezed(l) == squeezed(line));
    assert!(found, "no line {line:?} in\n{text}");
}

#[test]
fn tbench_as_in_2016() {
    // 4 x E7-8890 at 128 clients: master, masterx, masterx NO_IDLE_CORE.
    let runs = [
        [39846.0, 38397.0, 39026.0],
        [23066.0, 23044.0, 23028.0],
        [23248.0, 23136.0, 23133.0],
    ];
    let arms = ["fair", "sibling", "sibling:NO_IDLE_CORE"];
    let text = text(&outcomes(
        &arms,
        &["tbench:clients=128"],
        3,
        |_, arm, round| Some(runs[arm][round]),
    ));
    has(&text, "128 39846 38397 39026 39090 1.000");
    has(&text, "128 23066 23044 23028 23046 0.590");
    has(&text, "128 23248 23136 23133 23172 0.593 1.005");
    has(&text, "sibling:NO_IDLE_CORE avg");
    has(&text, "i4790, kernel 7.3.4, cpus 0-7");
}

#[test]
fn hackbench_and_oltp_as_in_2018() {
    let arms = ["fair", "sibling"];
    let loads = ["hackbench:groups=4,fds=40,loops=100000"];
    let text = text(&outcomes(&arms, &loads, 2, |_, arm, _| {
        Some([9.701, 9.623][arm])
    }));
    has(
        &text,
        "| 100000 | 40 | 4 | 9.701 | 0.00 | 9.623 (+0.80%) | 0.00 |",
    );
    let rules: Vec<usize> = text
        .lines()
        .filter(|line| line.starts_with(['+', '|']))
        .map(|line| line.chars().count())
        .collect();
    assert!(
        rules.len() == 6 && rules.iter().all(|n| *n == rules[0]),
        "{text}"
    );
}

#[test]
fn pipe_and_rr_as_in_2014() {
    let arms = ["fair", "sibling"];
    let loads = ["pipe:place=core", "rr:bind=no/3"];
    let text = text(&outcomes(&arms, &loads, 1, |case, arm, _| {
        Some(
            [
                [3.770737, 4.543532],
                [91360.56, 72523.30],
                [94289.95, 81219.02],
            ][case][arm],
        )
    }));
    has(&text, "pipe-test, core");
    has(
        &text,
        "fair 3.770737 usecs/loop -- avg 3.770737 530.4 KHz 1.000",
    );
    // The mail's .829 was taken from its rounded KHz.
    has(
        &text,
        "sibling 4.543532 usecs/loop -- avg 4.543532 440.2 KHz .830",
    );
    has(&text, "TCP_RR trans/sec (unbound)");
    has(&text, "sibling 72523.30 .794");
    has(&text, "TCP_RR trans/sec (bound to cpu3)");
    has(&text, "sibling 81219.02 .861");
}

#[test]
fn many_runs_are_summed_up_and_failures_stand_there() {
    let result = outcomes(
        &["fair", "sibling"],
        &["tbench:clients=2"],
        9,
        |_, arm, round| (arm == 0).then_some(100.0 + round as f64),
    );
    let text = text(&result);
    assert!(text.contains("the least, the middle and the most"));
    has(&text, "2 100 104 108 104 1.000");
    has(&text, "2 failed");
}

#[test]
fn other_loads_are_none_of_the_mails() {
    let text = text(&outcomes(&["fair"], &["schbench"], 1, |_, _, _| Some(1.0)));
    assert!(text.contains("None of the mails' loads"), "{text}");
    assert_eq!(count("0-3,8,10-11"), 7);
}
