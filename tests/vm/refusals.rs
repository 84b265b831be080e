// SPDX-License-Identifier: GPL-2.0-only
//! Starts that cannot succeed say why, with the documented exit code, and change nothing.

use crate::machine::Machine;
use crate::output::Output;

/// The start and `check` both fail with `code` and a text with all of `words`.
#[track_caller]
fn assert_refused(out: &Output, name: &str, code: f64, words: &[&str]) {
    let text = out.text(&format!("{name}.text"));
    let check = out.text(&format!("{name}.check"));
    println!("{name}: {text}");
    assert_eq!(
        out.number(&format!("{name}.exit"), ""),
        code,
        "exit code, with {text}"
    );
    assert_eq!(
        out.number(&format!("{name}.check_exit"), ""),
        code,
        "check's, with {check}"
    );
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text:?}");
    }
    assert!(!text.contains("panicked"), "{text}");
    let reason = text.trim_start_matches("scx_sibling: ");
    assert!(
        check.contains(reason),
        "check does not say {reason:?} but {check:?}"
    );
}

#[test]
fn refuses_what_cannot_work_and_leaves_a_running_scheduler_alone() {
    let out = Machine::new().smp("2").run("refuses", &[]);
    assert_refused(&out, "user", 4.0, &["CAP_BPF"]);
    assert_refused(&out, "btf", 3.0, &["BTF"]);
    assert_refused(
        &out,
        "kernel",
        3.0,
        &["sched_ext", "CONFIG_SCHED_CLASS_EXT"],
    );
    assert_eq!(
        out.text("untouched"),
        "disabled 0",
        "state, and times enabled"
    );

    assert_refused(&out, "second", 5.0, &[out.text("first.ops")]);
    // Not only still running: its statistics socket, too, was not taken by the second one.
    for name in ["first.monitor", "first.monitor_after", "again.monitor"] {
        assert!(
            out.text(name).starts_with("placed"),
            "{name} printed {:?}",
            out.text(name)
        );
    }
    out.assert_healthy("first");
    // And one that was killed does not stand in the way of the next.
    out.assert_healthy("again");
}
