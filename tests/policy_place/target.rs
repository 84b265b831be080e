// SPDX-License-Identifier: GPL-2.0-only
//! Steps 1 to 5: waker's CPU or previous CPU, and the CPUs a task knows.

use crate::native_common::ffi::host_wake_wide as wake_wide;
use crate::native_common::Machine;
use crate::native_common::Shape;
use crate::native_common::Stat;
use crate::native_common::Wake;

/// Nodes 0-7 and 8-15, LLCs of two SMT2 cores: 0-3, 4-7, 8-11, 12-15.
fn four_llcs() -> Machine {
    Machine::new(&Shape::new(2, 2, 2, 2))
}

/// One LLC of four SMT2 cores: (0,1) (2,3) (4,5) (6,7).
fn one_llc() -> Machine {
    Machine::new(&Shape::new(1, 1, 4, 2))
}

#[test]
fn an_idle_prev_far_from_a_busy_waker_is_taken() {
    let m = four_llcs();
    m.busy(&[8]);
    let p = m.wake(Wake::new(0, 8));
    assert_eq!(
        (p.cpu, p.step, p.claimed),
        (0, Stat::STAT_PLACE_TARGET, true)
    );
}

#[test]
fn an_interrupt_on_an_idle_cpu_leaves_the_task_on_idle_prev() {
    let m = four_llcs();
    assert_eq!(m.wake(Wake::new(0, 2)).cpu, 0);
}

#[test]
fn an_interrupt_on_an_idle_cpu_keeps_the_task_of_a_busy_prev() {
    let m = four_llcs();
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 2));
    assert_eq!(
        (p.cpu, p.step, p.claimed),
        (2, Stat::STAT_PLACE_TARGET, true)
    );
}

#[test]
fn without_wa_idle_an_idle_waker_is_judged_by_its_load() {
    let m = four_llcs().with(&["NO_WA_IDLE", "NO_WA_WEIGHT"]);
    m.idle_only(&[2, 3]);
    // Nothing draws the task to CPU 2, so it is found as an idle core beside prev.
    let p = m.wake(Wake::new(0, 2));
    assert_eq!((p.cpu, p.step), (2, Stat::STAT_PLACE_CORE));
}

#[test]
fn a_sync_waker_alone_on_its_cpu_draws_the_wakee_to_its_cache() {
    let m = four_llcs();
    m.busy(&[8]);
    let p = m.wake(Wake::new(0, 8).sync());
    assert!((8..12).contains(&p.cpu) && p.claimed, "{p:?}");
}

#[test]
fn the_sync_hint_can_be_ignored() {
    let m = four_llcs().with(&["NO_SYNC"]);
    m.busy(&[8]);
    assert_eq!(m.wake(Wake::new(0, 8).sync()).cpu, 0);
}

#[test]
fn a_sync_waker_with_others_on_its_cpu_draws_nobody() {
    let m = four_llcs();
    m.running(8, 2);
    assert_eq!(m.wake(Wake::new(0, 8).sync()).cpu, 0);
}

#[test]
fn a_sync_wakeup_on_a_busy_machine_does_not_pile_on_a_busy_waker() {
    let m = four_llcs();
    m.idle_only(&[]);
    m.running(8, 4);
    let p = m.wake(Wake::new(0, 8).sync());
    assert_eq!(
        (p.cpu, p.step, p.claimed),
        (0, Stat::STAT_PLACE_QUEUE, false)
    );
}

#[test]
fn with_nothing_idle_the_less_loaded_of_waker_and_prev_is_the_target() {
    let m = four_llcs();
    m.idle_only(&[]);
    m.running(0, 3);
    assert_eq!(m.wake(Wake::new(0, 8)).cpu, 8);
    m.running(8, 3);
    assert_eq!(
        m.wake(Wake::new(0, 8)).cpu,
        0,
        "a tie stays with prev's cache"
    );
}

#[test]
fn without_wa_weight_load_does_not_matter() {
    let m = four_llcs().with(&["NO_WA_WEIGHT"]);
    m.idle_only(&[]);
    m.running(0, 3);
    assert_eq!(m.wake(Wake::new(0, 8)).cpu, 0);
}

#[test]
fn a_waker_of_many_does_not_pull_its_wakees() {
    let m = four_llcs();
    m.idle_only(&[]);
    m.running(0, 3);
    // Four CPUs in the waker's LLC: more partners than fit.
    assert_eq!(m.wake(Wake::new(0, 8).flips(16, 4)).cpu, 0);
    assert_eq!(m.wake(Wake::new(0, 8).flips(15, 4)).cpu, 8);
    let m = { m }.with(&["NO_WAKE_WIDE"]);
    assert_eq!(m.wake(Wake::new(0, 8).flips(16, 4)).cpu, 8);
}

#[test]
fn wake_wide_needs_both_sides_to_be_wider_than_the_cache() {
    let llc = 8;
    assert!(!wake_wide(0, 0, llc));
    assert!(
        !wake_wide(1_000_000, 7, llc),
        "one client each: 1:N within the cache"
    );
    assert!(!wake_wide(63, 8, llc));
    assert!(wake_wide(64, 8, llc));
    for (a, b) in [(64, 8), (8, 64), (100, 3), (9, 9)] {
        assert_eq!(
            wake_wide(a, b, llc),
            wake_wide(b, a, llc),
            "either may be the server"
        );
    }
}

#[test]
fn an_idle_prev_is_taken_although_a_sync_waker_is_the_target() {
    let m = one_llc();
    m.busy(&[2]);
    let p = m.wake(Wake::new(0, 2).sync());
    assert_eq!((p.cpu, p.step, p.claimed), (0, Stat::STAT_PLACE_PREV, true));
}

#[test]
fn an_idle_core_beats_a_half_idle_prev() {
    let m = one_llc();
    m.idle_only(&[0, 4, 5]);
    let p = m.wake(Wake::new(0, 7));
    assert!([4, 5].contains(&p.cpu), "{p:?}");
    assert_eq!((p.step, p.claimed), (Stat::STAT_PLACE_CORE, true));
}

#[test]
fn no_idle_core_keeps_the_task_on_a_half_idle_prev() {
    let m = one_llc().with(&["NO_IDLE_CORE"]);
    m.idle_only(&[0, 4, 5]);
    assert_eq!(m.wake(Wake::new(0, 7)).cpu, 0);
}

#[test]
fn prev_before_core_keeps_the_task_on_a_half_idle_prev() {
    let m = one_llc().with(&["PREV_BEFORE_CORE"]);
    m.idle_only(&[0, 4, 5]);
    assert_eq!(m.wake(Wake::new(0, 7)).cpu, 0);
    // Only prev goes before: a busy one still means an idle core.
    m.idle_only(&[1, 4, 5]);
    let p = m.wake(Wake::new(0, 7));
    assert!([4, 5].contains(&p.cpu), "{p:?}");
}

#[test]
fn a_half_idle_prev_is_used_when_no_core_is_wholly_idle() {
    let m = one_llc();
    m.idle_only(&[0, 2, 5]);
    let p = m.wake(Wake::new(0, 7));
    assert_eq!((p.cpu, p.claimed), (0, true));
}

#[test]
fn a_kthread_that_is_about_to_sleep_keeps_its_client() {
    let m = one_llc();
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).kthread());
    assert_eq!((p.cpu, p.step), (0, Stat::STAT_PLACE_KTHREAD));
    assert!(p.stacked && !p.claimed);
}

#[test]
fn no_kthread_stack_sends_the_client_to_an_idle_cpu() {
    let m = one_llc().with(&["NO_KTHREAD_STACK"]);
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).kthread());
    assert!(p.cpu != 0 && p.claimed, "{p:?}");
}

#[test]
fn nobody_is_stacked_behind_a_kthread_with_others_waiting() {
    let m = one_llc();
    m.running(0, 2);
    let p = m.wake(Wake::new(0, 0).kthread());
    assert!(p.cpu != 0 && p.claimed && !p.stacked, "{p:?}");
}

#[test]
fn nobody_is_stacked_behind_a_kthread_of_another_cpu() {
    let m = one_llc();
    m.busy(&[0, 2]);
    let p = m.wake(Wake::new(2, 0).kthread());
    assert!(p.claimed && !p.stacked, "{p:?}");
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).kthread().allowed(&[4, 5]));
    assert!([4, 5].contains(&p.cpu) && !p.stacked, "{p:?}");
}

#[test]
fn stacking_behind_a_kthread_comes_before_the_recent_cpu() {
    let m = one_llc();
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).kthread().recent(6));
    assert_eq!((p.cpu, p.stacked), (0, true), "{p:?}");
}

#[test]
fn the_cpu_before_prev_is_tried_before_other_idle_cores() {
    let m = one_llc();
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).recent(6));
    assert_eq!(
        (p.cpu, p.step, p.claimed),
        (6, Stat::STAT_PLACE_RECENT, true)
    );
}

#[test]
fn no_recent_cpu_forgets_it() {
    let m = one_llc().with(&["NO_RECENT_CPU"]);
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).recent(6));
    assert_eq!(p.step, Stat::STAT_PLACE_CORE);
}

#[test]
fn a_recent_cpu_that_is_far_forbidden_or_gone_is_not_used() {
    let m = four_llcs();
    m.busy(&[0]);
    assert!(m.wake(Wake::new(0, 0).recent(12)).cpu < 4, "another LLC");
    drop(m);

    let m = Machine::new(&Shape::new(1, 1, 4, 2).offline(&[6]).isolated(&[7]));
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0).recent(5).allowed(&[0, 2, 3]));
    assert!([2, 3].contains(&p.cpu), "forbidden: {p:?}");
    for gone in [6, 7, 900] {
        let p = m.wake(Wake::new(0, 0).recent(gone));
        assert!(p.cpu != gone && p.claimed, "{gone}: {p:?}");
        m.idle_only(&[1, 2, 3, 4, 5, 7]);
    }
}

#[test]
fn a_partner_that_hands_its_cpu_over_gets_the_wakee_behind_it() {
    let m = one_llc();
    m.busy(&[2]);
    for prev in [0, 2] {
        let p = m.wake(Wake::new(prev, 2).partner());
        assert_eq!((p.cpu, p.step), (2, Stat::STAT_PLACE_SYNC));
        assert!(p.stacked && !p.claimed);
    }
}

#[test]
fn nobody_is_stacked_where_others_run_or_may_not_run() {
    let m = one_llc();
    m.busy(&[2]);
    let p = m.wake(Wake::new(0, 2).partner().allowed(&[0, 1]));
    assert_eq!((p.cpu, p.claimed), (0, true));
    m.running(2, 2);
    assert_eq!(
        m.wake(Wake::new(4, 2).partner()).step,
        Stat::STAT_PLACE_PREV
    );
}

#[test]
fn without_sync_a_partner_is_like_any_other() {
    let m = one_llc().with(&["NO_SYNC"]);
    m.busy(&[2]);
    assert_eq!(
        m.wake(Wake::new(0, 2).partner()).step,
        Stat::STAT_PLACE_PREV
    );
}
