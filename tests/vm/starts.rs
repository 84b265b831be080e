// SPDX-License-Identifier: GPL-2.0-only
//! It starts, schedules and leaves on every shape of machine.

use std::path::Path;

use crate::machine::Machine;
use crate::output::Output;

/// It started, two loads ran, it left; and the machine is the one that was asked for.
#[track_caller]
fn assert_ran(out: &Output, run: &str, online: &str) {
    assert_eq!(out.text("online"), online, "online CPUs");
    assert_eq!(
        out.at("topology", "/online"),
        online,
        "online CPUs in the topology"
    );
    let ops = out.text(&format!("{run}.ops"));
    assert!(ops.starts_with("sibling"), "the kernel runs {ops:?}");
    out.assert_healthy(run);
    let placed = out.total(run, "place.") + out.total(run, "pinned.");
    assert!(
        placed > 10.0,
        "only {placed} wake-ups went through the scheduler"
    );
    let requests = out.number(&format!("{run}.messages"), "/count");
    assert!(requests > 10.0, "only {requests} requests were served");
}

#[test]
fn starts_on_the_default_machine_and_without_cache_directories() {
    let out = Machine::new().run("starts", &["hide-caches"]);
    assert_ran(&out, "plain", "0-7");
    assert_eq!(out.at("topology", "/cpus/5/llc"), "4-7");
    assert_ran(&out, "hidden", "0-7");
    // Without caches the package stands in for the LLC.
    assert_eq!(out.at("topology.hidden", "/cpus/5/llc"), "4-7");
}

#[test]
fn starts_on_the_oldest_kernel() {
    let kernels = std::env::var("SIBLING_KERNELS").unwrap_or_else(|_| "../shared/kernels".into());
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join(kernels);
    let found = std::fs::read_dir(&kernels)
        .ok()
        .into_iter()
        .flatten()
        .flatten();
    if !found.into_iter().any(|file| {
        file.file_name()
            .to_string_lossy()
            .starts_with("vmlinuz-6.12")
    }) {
        println!(
            "SKIP no kernel image vmlinuz-6.12* in {}",
            kernels.display()
        );
        return;
    }
    let out = Machine::new()
        .option("--kernel", &["6.12"])
        .run("starts", &[]);
    assert!(
        out.text("kernel").starts_with("6.12"),
        "kernel {}",
        out.text("kernel")
    );
    assert_ran(&out, "plain", "0-7");
}

#[test]
fn starts_on_one_cpu() {
    let out = Machine::new().smp("1").run("starts", &[]);
    assert_ran(&out, "plain", "0");
}

#[test]
fn starts_on_two_cpus() {
    let out = Machine::new().smp("2").run("starts", &[]);
    assert_ran(&out, "plain", "0-1");
}

#[test]
fn starts_on_four_llcs_and_two_nodes() {
    let out = Machine::new().four_llcs().run("starts", &[]);
    assert_ran(&out, "plain", "0-15");
    assert_eq!(out.at("topology", "/cpus/5/llc"), "4-7");
    assert_eq!(out.at("topology", "/cpus/8/node"), 1);
}

#[test]
fn starts_where_more_cpus_are_possible_than_online() {
    let out = Machine::new()
        .smp("4,maxcpus=16")
        // The kernel counts absent CPUs as possible only under a hypervisor it knows.
        .option("--qemu", &["-cpu"])
        .option("--qemu", &["max,-hypervisor"])
        .option("--qemu", &["-smbios"])
        .option("--qemu", &["type=1,serial=VMware-1"])
        .run("starts", &[]);
    assert_eq!(out.text("possible"), "0-15", "possible CPUs");
    assert_ran(&out, "plain", "0-3");
}

#[test]
fn starts_with_sibling_threads_switched_off() {
    let out = Machine::new()
        .option("--append", &["nosmt"])
        .run("starts", &[]);
    assert_ran(&out, "plain", "0,2,4,6");
    assert_eq!(out.at("topology", "/cpus/2/smt"), "2");
}
