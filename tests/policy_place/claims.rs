// SPDX-License-Identifier: GPL-2.0-only
//! Two wakers never get one idle CPU, and who loses a race goes on looking.

use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Machine;
use crate::native_common::Shape;
use crate::native_common::Stat;
use crate::native_common::Wake;

fn smt() -> Machine {
    Machine::new(&Shape::new(1, 1, 4, 2))
}

#[test]
fn who_loses_prev_to_another_waker_gets_the_next_idle_cpu() {
    let m = smt();
    m.busy(&[7]);
    m.global_set(Global::LoseClaims, 1);
    let p = m.wake(Wake::new(0, 7));
    assert!(p.claimed && p.cpu != 0, "{p:?}");
}

#[test]
fn every_candidate_of_a_lost_race_is_one_cpu_less() {
    for lost in 0..7 {
        let m = smt();
        m.busy(&[7]);
        m.global_set(Global::LoseClaims, lost);
        let p = m.wake(Wake::new(0, 7));
        assert_eq!(
            m.global(Global::LoseClaims),
            0,
            "{lost} lost: gave up early"
        );
        assert!(p.claimed, "{lost} lost: {p:?}");
    }
}

#[test]
fn who_loses_every_race_queues_and_holds_nothing() {
    let m = smt();
    m.busy(&[7]);
    m.global_set(Global::LoseClaims, u64::MAX);
    let p = m.wake(Wake::new(0, 7));
    assert_eq!(
        (p.step, p.claimed, p.stacked),
        (Stat::STAT_PLACE_QUEUE, false, false)
    );
    assert!((0..8).contains(&p.cpu));
}

#[test]
fn losing_every_race_ends_on_the_largest_machine_too() {
    let m = Machine::new(&Shape::new(8, 8, 8, 2));
    m.busy(&[0]);
    m.global_set(Global::LoseClaims, u64::MAX);
    assert_eq!(m.wake(Wake::new(0, 0)).step, Stat::STAT_PLACE_QUEUE);
    assert!(
        m.global(Global::Claims) < 1024,
        "no CPU is tried over and over"
    );
}

#[test]
fn a_cpu_that_looks_idle_but_is_promised_to_another_is_not_taken() {
    let m = smt();
    m.idle_only(&[0, 1, 4, 5]);
    // The other waker took the bit; its task is still on its way.
    m.set(0, Field::Idle, 0);
    let p = m.wake(Wake::new(0, 7));
    assert!(p.claimed && [4, 5].contains(&p.cpu), "{p:?}");
}

#[test]
fn a_cpu_with_a_real_time_task_is_no_idle_prev() {
    let m = smt();
    m.busy(&[7]);
    // The bit is still set while the task that needs no bit already runs.
    m.set(0, Field::Running, 1);
    assert_ne!(m.wake(Wake::new(0, 7)).cpu, 0);
}

#[test]
fn as_many_wakers_as_idle_cpus_get_one_each() {
    for shape in [
        Shape::new(1, 1, 2, 1),
        Shape::new(1, 1, 8, 1),
        Shape::new(1, 1, 4, 2),
        Shape::new(1, 1, 2, 8),
        Shape::new(2, 2, 2, 2),
        Shape::new(8, 1, 2, 2),
        Shape::new(1, 1, 96, 1),
    ] {
        let m = Machine::new(&shape);
        m.busy(&[0]);
        let want = m.online.len() - 1;
        let mut cpus: Vec<i32> = (0..want)
            .map(|_| m.wake(Wake::new(0, 0)))
            .inspect(|p| assert!(p.claimed, "{shape:?}: {p:?}"))
            .map(|p| p.cpu)
            .collect();
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus.len(), want, "{shape:?}");
        assert!(!m.wake(Wake::new(0, 0)).claimed, "{shape:?}");
    }
}

#[test]
fn a_pinned_and_a_free_task_woken_together_run_on_two_cpus() {
    let m = Machine::new(&Shape::new(1, 1, 2, 1));
    let pinned = m.wake(Wake::new(0, 1).allowed(&[0]));
    assert_eq!((pinned.cpu, pinned.claimed), (0, true));
    let free = m.wake(Wake::new(0, 1));
    assert_eq!((free.cpu, free.claimed), (1, true));
}
