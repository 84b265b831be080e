// SPDX-License-Identifier: GPL-2.0-only
//! Where wake-ups land.

use crate::machine::Machine;
use crate::output::Output;

/// Wake-ups dispatched to an idle CPU, stacked behind a running task, and queued. Stacking behind
/// a kthread or a sync partner is meant, but it is no dispatch to an idle CPU.
fn placements(out: &Output, run: &str) -> (f64, f64, f64) {
    let queued = out.count(run, "place.queue");
    let stacked: f64 = ["kthread", "sync", "sched_idle"]
        .iter()
        .map(|reason| out.count(run, &format!("place.{reason}")))
        .sum();
    let all = out.total(run, "place.");
    (all - queued - stacked, stacked, queued)
}

/// Wake-ups that were not dispatched to an idle CPU though one was allowed, as a fraction.
#[track_caller]
fn idle_missed(out: &Output, run: &str) -> f64 {
    let (direct, stacked, queued) = placements(out, run);
    let missed = out.count(run, "wake.idle_missed") + stacked;
    println!("{run}: {direct} direct, {queued} queued, {missed} of all missed an idle CPU");
    assert!(
        direct > 3000.0,
        "{run}: only {direct} wake-ups on idle CPUs"
    );
    missed / (direct + missed)
}

/// Placements on a half idle core though the LLC had a wholly idle one, as a fraction.
#[track_caller]
fn core_missed(out: &Output, run: &str) -> f64 {
    let missed = out.count(run, "wake.core_missed");
    let whole = placements(out, run).0 - out.count(run, "wake.core_shared");
    println!("{run}: {whole} on wholly idle cores, {missed} missed one");
    assert!(
        missed + whole > 1000.0,
        "{run}: only {whole} + {missed} placements counted"
    );
    missed / (missed + whole)
}

#[test]
fn wakeups_go_to_idle_cpus_and_with_idle_core_to_idle_cores() {
    let out = Machine::fine_counting().run("wakeups", &[]);
    for run in ["core", "thread"] {
        out.assert_healthy(run);
        let missed = idle_missed(&out, run);
        assert!(
            missed <= 0.01,
            "{run}: {:.2} % missed an idle CPU",
            missed * 100.0
        );
    }
    let missed = core_missed(&out, "core");
    assert!(
        missed <= 0.01,
        "IDLE_CORE: {:.2} % missed an idle core",
        missed * 100.0
    );
    let missed = core_missed(&out, "thread");
    assert!(
        missed > 0.02,
        "NO_IDLE_CORE: only {:.2} % missed an idle core",
        missed * 100.0
    );
}
