// SPDX-License-Identifier: GPL-2.0-only
//! Long and rough lives: everything at once, starts and stops, CPUs that come and go.

use crate::machine::Machine;

/// The long form, with the counts a release is judged by.
fn full() -> bool {
    std::env::var("SIBLING_VM_FULL").is_ok_and(|value| value == "1")
}

#[test]
fn survives_everything_at_once() {
    let seconds = if full() { "60" } else { "30" };
    let out = Machine::new().run("stress", &[seconds]);
    assert_eq!(
        out.text("failed"),
        "",
        "not everything that was started finished"
    );
    println!("pinned task in {seconds} s: {}", out.at("waiter", ""));
    out.assert_healthy("sibling");
}

#[test]
fn loads_and_unloads_again_and_again_under_load() {
    let cycles = if full() { 50 } else { 10 };
    let out = Machine::new()
        .smp("2")
        // About 40 s each were seen where another machine ran beside it.
        .option("--timeout", &[&(90 * cycles).to_string()])
        .run("cycles", &[&cycles.to_string()]);
    println!("{cycles} cycles in {} guest seconds", out.at("seconds", ""));
    assert_eq!(
        out.number("enabled", ""),
        f64::from(cycles),
        "times enabled"
    );
    assert_eq!(out.at("load_failed", ""), false, "the load broke off");
    assert_eq!(out.text("log"), "", "kernel log");
}

#[test]
fn follows_a_cpu_that_comes_and_goes_under_load() {
    // In the long form it has to be back each time, in the short one after each burst. So many
    // loads are more than an emulator with a thread per CPU survives: the kernel patches its code
    // at each, and another CPU may run into the middle of it.
    let (machine, burst) = if full() {
        (Machine::counting().option("--timeout", &["3000"]), "1")
    } else {
        (Machine::new(), "10")
    };
    let out = machine
        .smp("4,sockets=2,cores=2")
        .run("hotplug", &["50", burst]);
    let (restarts, late) = (out.number("restarts", ""), out.number("after", "/max_us"));
    println!("{restarts} restarts; a task on the CPU then was {late} us late at worst");
    println!("log: {} errors: {}", out.text("log"), out.text("errors"));
    assert!(
        restarts >= if full() { 50.0 } else { 5.0 },
        "only {restarts} restarts"
    );
    assert_eq!(out.text("log"), "", "kernel log");
    let errors = out.text("errors");
    assert!(
        !errors.contains("panicked"),
        "the loader panicked: {errors}"
    );
    out.assert_stopped("sibling");
}
