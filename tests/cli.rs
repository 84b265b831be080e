// SPDX-License-Identifier: GPL-2.0-only
//! The binary's command line where no kernel is needed.

#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::process::Output;

use scx_sibling::exit::EXIT_CODES;
use scx_sibling::stats;
use scx_sibling::tunables;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scx_sibling"))
        .args(args)
        .output()
        .unwrap()
}

fn stdout(args: &[&str]) -> String {
    let out = run(args);
    assert!(out.status.success(), "{args:?}: {out:?}");
    String::from_utf8(out.stdout).unwrap()
}

fn refusal(args: &[&str]) -> (i32, String) {
    let out = run(args);
    (
        out.status.code().unwrap(),
        String::from_utf8(out.stderr).unwrap(),
    )
}

#[test]
fn help_lists_subcommands_and_exit_codes() {
    let help = stdout(&["--help"]);
    for word in ["topology", "check", "load", "--stats", "--monitor", "--set"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    for line in EXIT_CODES.lines() {
        assert!(help.contains(line.trim()), "{line} in {help}");
    }
}

#[test]
fn every_counter_is_explained() {
    let help = stdout(&["--help-stats"]);
    for row in stats::counter_rows() {
        assert!(
            help.contains(&row.name) && help.contains(row.meaning),
            "{}",
            row.name
        );
    }
}

#[test]
fn every_tunable_and_switch_is_explained() {
    let help = stdout(&["--help-tunables"]);
    for t in tunables::TUNABLES {
        assert!(
            help.contains(t.name) && help.contains(t.meaning),
            "{}",
            t.name
        );
    }
    for f in tunables::FEATURES {
        assert!(
            help.contains(f.name) && help.contains(f.meaning),
            "{}",
            f.name
        );
    }
}

#[test]
fn a_wrong_setting_is_refused_before_anything_starts() {
    let (code, text) = refusal(&["--set", "slice_nss=1ms"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("did you mean slice_ns"), "{text}");
    let (code, text) = refusal(&["--set", "slice_ns=1h"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("ns, us, ms or s"), "{text}");
}

#[test]
fn an_unknown_option_exits_with_two() {
    assert_eq!(refusal(&["--no-such-option"]).0, 2);
    assert_eq!(refusal(&["--stats", "never"]).0, 2);
    assert_eq!(refusal(&["--stats", "0"]).0, 2);
}

#[test]
fn topology_prints_this_machine_as_text_and_json() {
    assert!(stdout(&["topology"]).contains("online"));
    let json: serde_json::Value = serde_json::from_str(&stdout(&["topology", "--json"])).unwrap();
    for key in ["online", "cpus", "nodes", "distance", "warnings"] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

#[test]
fn a_root_without_a_machine_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let (code, text) = refusal(&["topology", "--sysfs", root]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains(root), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn check_names_what_is_missing_and_start_says_the_same() {
    if std::path::Path::new("/sys/kernel/sched_ext/state").exists() {
        eprintln!("SKIP check_names_what_is_missing: this kernel has sched_ext");
        return;
    }
    let check = run(&["check"]);
    assert_eq!(check.status.code(), Some(3));
    let (code, text) = refusal(&[]);
    assert_eq!(code, 3);
    let told = String::from_utf8(check.stdout).unwrap();
    let reason = text.trim().trim_start_matches("scx_sibling: ");
    assert!(told.contains(reason), "{told}\n{reason}");
    assert!(reason.contains("CONFIG_SCHED_CLASS_EXT"), "{reason}");
}
