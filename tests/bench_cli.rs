// SPDX-License-Identifier: GPL-2.0-only
//! `scx_sibling bench` where no kernel is needed: names, refusals, a measurement of
//! the fair class alone, interrupted and resumed.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use scx_sibling::bench::loads::LOADS;

fn bench(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_scx_sibling"))
        .arg("bench")
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = out.status.code().unwrap_or(-1);
    (code, text(out.stdout), text(out.stderr))
}

#[track_caller]
fn refused(args: &[&str], code: i32, words: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let (got, _, said) = bench(dir.path(), args);
    assert_eq!(got, code, "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?} lacks {word:?}: {said}");
    }
    let left = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 0, "{args:?} left a file");
}

#[test]
fn list_names_every_load_and_arm() {
    let dir = tempfile::tempdir().unwrap();
    let (code, text, _) = bench(dir.path(), &["list"]);
    assert_eq!(code, 0);
    for word in LOADS
        .iter()
        .map(|load| load.name)
        .chain(["cmd", "fair", "scx:COMMAND"])
    {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn slips_get_the_nearest_name() {
    refused(
        &["run", "--load", "hackbnech"],
        2,
        &["did you mean hackbench?"],
    );
    refused(
        &["run", "--load", "pipe", "--arm", "siblin"],
        2,
        &["did you mean sibling?"],
    );
    let typo = ["run", "--load", "pipe", "--arm", "sibling:NO_IDLE_COER"];
    refused(&typo, 2, &["did you mean IDLE_CORE?"]);
    refused(&["run", "--cmd", "true", "--figure", "("], 2, &["--figure"]);
    refused(&["report", "nothing"], 2, &["nothing", "No such file"]);
    refused(&["run"], 2, &["--load"]);
}

/// A command that takes a while and prints a figure.
const COMMAND: [&str; 6] = [
    "--cmd",
    "sleep 0.05; echo rate=$$",
    "--figure",
    "rate=([0-9]+)",
    "--higher-is-better",
    "--out",
];

#[test]
fn ctrl_c_loses_one_block_and_resume_goes_on() {
    if scx_sibling::live::words::running_ops().is_some() {
        println!("SKIP another sched_ext scheduler is loaded");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_scx_sibling"))
        .args([
            "bench", "run", "--arm", "fair", "--arm", "cfs", "--rounds", "60",
        ])
        .args(["--precision", "0"])
        .args(COMMAND)
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    while lines() < 5 {
        assert!(child.try_wait().unwrap().is_none(), "ended early");
        thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: a signal to a child that is not reaped yet.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
    let before = fs::read_to_string(&file).unwrap();
    assert!((5..100).contains(&before.lines().count()));

    // Half a line, as a crash would leave.
    fs::write(&file, format!("{before}{{\"record\":\"blo")).unwrap();
    let name = file.to_str().unwrap();
    let (code, text, said) = bench(dir.path(), &["resume", name]);
    assert_eq!(code, 0, "{said}");
    assert!(
        text.contains("baseline") && text.contains("no evidence"),
        "{text}"
    );
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&before));
    assert_eq!(after.lines().count(), 1 + 120 + 1);
    let (code, again, _) = bench(dir.path(), &["report", name]);
    assert_eq!((code, again), (0, text));
    for (form, word) in [
        ("--md", "| cfs |"),
        ("--csv", "round,load,arm"),
        ("--json", "\"verdict\": \"baseline\""),
        ("--html", "<!DOCTYPE html>"),
        ("--suite=seeds", "None of the mails' loads"),
    ] {
        let (code, text, _) = bench(dir.path(), &["report", name, form]);
        assert!(code == 0 && text.contains(word), "{form}: {text}");
    }
    let (code, text, _) = bench(dir.path(), &["compare", name, name]);
    assert!(code == 0 && text.contains("no evidence"), "{text}");
    // Nothing is measured over it.
    let mut args = vec!["run", "--arm", "fair"];
    args.extend(COMMAND);
    args.push(name);
    let (code, _, said) = bench(dir.path(), &args);
    assert!(code != 0 && said.contains("--out"), "{said}");
}
