// SPDX-License-Identifier: GPL-2.0-only
//! Who gets how much, and where: loads that never sleep.

use crate::machine::Machine;
use crate::output::Output;

/// A hog loses this many microseconds a second to the tick, the load's own sampling, and kernel
/// threads. Waiting for another hog costs thousands of times as much.
const NOISE_NS: f64 = 10e6;
/// Longest time a task may wait where its CPU was taken or shared.
const WORST_WAIT_NS: f64 = 100e6;

/// The most frequent number of CPUs in use, and the most any hog waited.
#[track_caller]
fn spread(out: &Output, name: &str) -> (f64, f64) {
    let cpus = out.number(name, "/distinct_cpus_mode");
    let waited = out
        .numbers(name, "/hogs", "/wait_ns")
        .into_iter()
        .fold(0.0, f64::max);
    println!(
        "{name}: {cpus} CPUs in use, a hog waited {:.2} ms",
        waited / 1e6
    );
    (cpus, waited)
}

#[track_caller]
fn check_placement(out: &Output) {
    let alone = out.number("four", "/samples_one_per_core");
    println!(
        "four hogs: one per core in {:.1} % of samples",
        alone * 100.0
    );
    assert!(
        alone >= 0.95,
        "4 hogs: one per core in only {:.1} %",
        alone * 100.0
    );
    let (cpus, waited) = spread(out, "six");
    assert_eq!(cpus, 6.0, "6 hogs on {cpus} CPUs");
    assert!(
        waited <= NOISE_NS,
        "6 hogs: one waited {:.1} ms of 1 s",
        waited / 1e6
    );
}

#[track_caller]
fn check_shares(out: &Output) {
    let ratio = out.number("nine", "/share_ratio");
    println!("nine hogs on 8 CPUs: largest share {ratio:.2} x the smallest");
    assert!(
        ratio <= 1.3,
        "9 hogs on 8 CPUs: shares differ by {ratio:.2}"
    );
    let cpu = out.numbers("nice", "/hogs", "/cpu_ns");
    let ratio = cpu[0] / cpu[1];
    println!("nice 0 against nice 5: {ratio:.2}");
    assert!(
        (ratio / 3.05 - 1.0).abs() <= 0.15,
        "nice 0 against 5: {ratio:.2}, not 3.05"
    );
    let late = out.number("pinned", "/max_us") * 1e3;
    println!(
        "pinned among 16 hogs: late by {:.1} ms at worst",
        late / 1e6
    );
    assert!(
        late < WORST_WAIT_NS,
        "a pinned task among 16 hogs was {:.1} ms late",
        late / 1e6
    );
}

#[test]
fn hogs_use_cores_then_threads_and_share_evenly() {
    let out = Machine::fine_counting().run("hogs", &[]);
    out.assert_healthy("sibling");
    check_placement(&out);
    check_shares(&out);
}

#[test]
fn hogs_use_all_cpus_and_leave_one_that_a_realtime_task_takes() {
    let out = Machine::fine_counting().four_llcs().run("hogs16", &[]);
    out.assert_healthy("sibling");
    let (cpus, _) = spread(&out, "twelve");
    assert_eq!(cpus, 12.0, "12 hogs on {cpus} CPUs");

    let share = out.number("rt", "/share");
    let window = out.number("beside", "/window_ns");
    let least = out
        .numbers("beside", "/hogs", "/share")
        .into_iter()
        .fold(1.0, f64::min);
    let lost = (1.0 - least) * window;
    let released = out.count("sibling", "rt.release");
    println!(
        "CPU taken ({:.0} % of it): a hog lost {:.1} ms",
        share * 100.0,
        lost / 1e6
    );
    assert!(share > 0.8, "the real-time task got {share:.2} of its CPU");
    assert!(released >= 1.0, "no CPU was seen taken");
    assert!(
        lost < WORST_WAIT_NS,
        "a hog lost {:.1} ms when its CPU was taken",
        lost / 1e6
    );
}
