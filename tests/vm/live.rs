// SPDX-License-Identifier: GPL-2.0-only
//! The tunables of a running scheduler: what is said, what is kept, who may.

use crate::machine::Machine;
use crate::output::Output;

/// The exit code of `name` and, flattened to a line, what it printed.
#[track_caller]
fn said(out: &Output, name: &str, code: f64, words: &[&str]) {
    let text = out.text(&format!("{name}.says"));
    assert_eq!(
        out.number(&format!("{name}.code"), ""),
        code,
        "{name}: {text}"
    );
    for word in words {
        assert!(text.contains(word), "{name} lacks {word:?}: {text}");
    }
}

#[track_caller]
fn says_exactly(out: &Output, name: &str, text: &str) {
    said(out, name, 0.0, &[]);
    assert_eq!(out.text(&format!("{name}.says")), text, "{name}");
}

fn settings_live_in_the_kernel(machine: Machine) {
    let out = machine.smp("4,sockets=2,cores=2").run("live", &[]);
    let out = &out;
    said(out, "before.tune", 8.0, &["not running"]);
    said(out, "before.status", 8.0, &["not running", "fair class"]);

    // File, then --set.
    let start = "slice_ns=10000000  (default 20000000) SYNC=off  (default on)";
    says_exactly(out, "start", start);
    said(
        out,
        "status",
        0.0,
        &["sibling_", "pid", "slice_ns=10000000 SYNC=off", "--config"],
    );
    says_exactly(out, "set", "");
    says_exactly(
        out,
        "get",
        "slice_ns=7000000 IDLE_CORE=off migration_cost_ns.llc=500000 wake.sync_run_ns=0",
    );

    // What is refused changes nothing.
    said(out, "both", 2.0, &["slice_ns=1h", "nothing was changed"]);
    said(out, "range", 2.0, &["100 … 1000"]);
    said(out, "name", 2.0, &["did you mean IDLE_CORE"]);
    said(
        out,
        "pair",
        2.0,
        &["slice_min_ns=3000000", "nothing was changed"],
    );
    says_exactly(out, "kept", "slice_ns=7000000 IDLE_CORE=off");
    let rows = scx_sibling::tunables::all_names().count();
    assert_eq!(out.text("json"), rows.to_string());

    says_exactly(out, "save", "");
    says_exactly(out, "reset", "");
    says_exactly(out, "load", "");
    said(
        out,
        "loaded",
        0.0,
        &["slice_ns=7000000", "IDLE_CORE=off", "SYNC=off"],
    );
    said(out, "full", 1.0, &["No space left", "it is as it was"]);
    assert_eq!(out.text("full.file"), "same");
    assert_eq!(
        out.text("full.rest.says"),
        "f fill",
        "left over on the full disk"
    );

    for who in ["nobody.list", "nobody.set"] {
        said(out, who, 4.0, &["root"]);
    }
    said(
        out,
        "nobody.status",
        0.0,
        &["sibling_", "settings  unknown"],
    );
    said(out, "nobody.map", 1.0, &["denied"]);
    said(
        out,
        "second",
        5.0,
        &["another sched_ext scheduler is loaded: sibling"],
    );
    says_exactly(out, "after.second", "slice_ns=9000000");

    says_exactly(out, "hup", "slice_ns=6000000 SYNC=on IDLE_CORE=off");
    says_exactly(out, "hup.bad", "slice_ns=6000000");
    says_exactly(out, "hotplug", "slice_ns=6000000 SYNC=on IDLE_CORE=off");

    said(out, "killed.tune", 8.0, &["loader died"]);
    said(
        out,
        "killed.status",
        8.0,
        &["the loader was killed", "loaded again"],
    );
    says_exactly(out, "again", "");
    said(
        out,
        "stopped.status",
        8.0,
        &["stopped as asked", "the loader was killed"],
    );
    says_exactly(out, "stopped.pins", "");
    out.assert_stopped("again");
}

#[test]
fn settings_live_in_the_kernel_and_outlast_a_restart() {
    settings_live_in_the_kernel(Machine::new());
}

#[test]
fn a_storm_of_settings_under_load_tears_nothing() {
    let seconds = 30;
    let storm = Machine::example("tune_storm");
    let out = Machine::new()
        .option("--copy", &[&format!("{storm}:/usr/local/bin/tune_storm")])
        .run("storm", &[&seconds.to_string(), "1000"]);
    println!("{}", out.at("result", ""));
    assert_eq!(out.number("result", "/torn"), 0.0, "values nobody set");
    assert!(out.number("result", "/reads") > 10_000.0);
    // The writers catch up on what an emulated CPU kept them from.
    assert!(out.number("result", "/sets") > 0.9 * f64::from(1000 * seconds));
    out.assert_healthy("storm");
}
