// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn kernel(state: &str, ops: &str) -> Kernel {
    Kernel {
        state: state.into(),
        ops: ops.into(),
        enable_seq: Some(3),
    }
}

fn records() -> (tempfile::TempDir, Records) {
    let dir = tempfile::tempdir().unwrap();
    let records = Records::at(dir.path());
    (dir, records)
}

fn recorded(pid: u32, enable_seq: u64) -> Run {
    Run {
        pid,
        version: "0.1.0".into(),
        args: vec!["scx_sibling".into(), "--stats".into(), "1".into()],
        enable_seq,
        ..Run::default()
    }
}

#[test]
fn the_kernel_s_word_decides() {
    let (_dir, records) = records();
    let code = |state: &str, ops: &str| {
        let status = Status::new(kernel(state, ops), &records);
        status.verdict().err().map_or(0, |failure| failure.code())
    };
    assert_eq!(code("enabled", "sibling_0.1.0"), 0);
    assert_eq!(code("enabled", "other_1.0"), 5);
    assert_eq!(code("disabled", ""), 8);
    assert_eq!(code("", ""), 8);
}

#[test]
fn a_dead_loader_is_reported_as_killed() {
    let (_dir, records) = records();
    // No loader has this number: it is above the kernel's largest.
    records.begin(&recorded(u32::MAX, 3)).unwrap();
    let text = Status::new(kernel("disabled", ""), &records).to_text();
    assert!(text.contains("the loader was killed"), "{text}");
    assert!(text.contains("fair class"), "{text}");
}

#[test]
fn a_stranger_without_a_record_is_no_guess() {
    let (_dir, records) = records();
    let text = Status::new(kernel("enabled", "sibling_0.1.0"), &records).to_text();
    assert!(text.contains("it left no record"), "{text}");
}

#[test]
fn exits_are_listed_newest_first_and_in_json_all() {
    let (_dir, records) = records();
    for (why, text) in [(Why::Ejected, "runnable task stall"), (Why::Asked, "")] {
        records.begin(&recorded(1, 3)).unwrap();
        records.end(&recorded(1, 3), why, text).unwrap();
    }
    let status = Status::new(kernel("disabled", ""), &records);
    let text = status.to_text();
    let asked = text.find("stopped as asked").unwrap();
    let ejected = text
        .find("ejected by the kernel: runnable task stall")
        .unwrap();
    assert!(asked < ejected, "{text}");
    assert_eq!(status.to_json()["exits"][0]["why"], "ejected");
    assert_eq!(status.to_json()["running"], false);
}
