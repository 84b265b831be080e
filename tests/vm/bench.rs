// SPDX-License-Identifier: GPL-2.0-only
//! `scx_sibling bench` on a real kernel: whatever happens, the machine ends on the
//! scheduler it had, and nothing measured is lost.

use crate::machine::Machine;

#[test]
fn a_measurement_is_interrupted_resumed_and_killed() {
    let out = Machine::counting()
        .smp("4,sockets=2,cores=2")
        .run("bench", &[]);
    let says = |name: &str, words: &[&str]| {
        let text = out.text(&format!("{name}.says"));
        for word in words {
            assert!(text.contains(word), "{name} lacks {word:?}: {text}");
        }
    };
    for at in ["interrupted", "resumed", "killed", "others"] {
        assert_eq!(out.text(&format!("{at}.state")), "disabled", "{at}");
    }
    assert_eq!(out.number("interrupted.code", ""), 0.0);
    says("interrupted", &["bench resume"]);
    let before = out.number("interrupted.lines", "");
    assert!((5.0..13.0).contains(&before), "{before}");

    // The header, 4 rounds of 3 arms, the end.
    assert_eq!(out.number("resumed.code", ""), 0.0);
    assert_eq!(out.number("resumed.lines", ""), 14.0);
    assert_eq!(out.number("resumed.values", ""), 12.0, "some blocks failed");
    says("resumed", &["baseline", "sibling:NO_SYNC"]);
    // Four arms' turns of scx_sibling's are left at least; without flipping them in
    // the running one each would be a load.
    let loads = out.number("resumed.loads", "");
    assert!((1.0..=6.0).contains(&loads), "{loads} loads");

    assert_eq!(out.number("others.code", ""), 0.0);
    says("others", &["FAILED", "scx_nonexistent", "not found"]);

    assert_eq!(out.number("refused.code", ""), 5.0);
    says(
        "refused",
        &["another sched_ext scheduler is loaded: sibling"],
    );
    out.assert_healthy("mine");
}
