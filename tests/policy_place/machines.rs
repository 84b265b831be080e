// SPDX-License-Identifier: GPL-2.0-only
//! Odd machines: the smallest, SMT switched off, sparse numbers, isolation, wide caches.

use crate::native_common::Machine;
use crate::native_common::Shape;
use crate::native_common::Stat;
use crate::native_common::Wake;

#[test]
fn one_cpu_is_all_there_is() {
    let m = Machine::new(&Shape::new(1, 1, 1, 1));
    let p = m.wake(Wake::new(0, 0));
    assert_eq!((p.cpu, p.claimed), (0, true));
    m.busy(&[0]);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!(
        (p.cpu, p.claimed, p.step),
        (0, false, Stat::STAT_PLACE_QUEUE)
    );
    assert_eq!(m.fork(Wake::new(0, 0)), -1);
}

#[test]
fn two_cpus_share_the_load() {
    let m = Machine::new(&Shape::new(1, 1, 2, 1));
    m.busy(&[0]);
    assert_eq!(m.wake(Wake::new(0, 0)).cpu, 1);
    m.busy(&[1]);
    assert_eq!(m.wake(Wake::new(1, 0)).step, Stat::STAT_PLACE_QUEUE);
}

#[test]
fn without_smt_every_cpu_is_a_core() {
    let m = Machine::new(&Shape::new(1, 1, 8, 1));
    for prev in 0..8u32 {
        m.idle_only(&[prev, (prev + 3) % 8]);
        let p = m.wake(Wake::new(prev as i32, (prev as i32 + 1) % 8));
        assert_eq!(
            (p.cpu as u32, p.claimed),
            (prev, true),
            "an idle prev needs no other core"
        );
    }
}

#[test]
fn with_smt_switched_off_a_busy_cpu_is_never_taken_for_idle() {
    // Every second thread is offline, as after `nosmt`.
    let m = Machine::new(&Shape::new(1, 1, 8, 2).offline(&[1, 3, 5, 7, 9, 11, 13, 15]));
    for idle in (2..16).step_by(2) {
        m.idle_only(&[idle]);
        let p = m.wake(Wake::new(0, 0));
        assert_eq!((p.cpu as u32, p.claimed), (idle, true));
    }
    m.idle_only(&[]);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!(
        (p.cpu, p.claimed, p.step),
        (0, false, Stat::STAT_PLACE_QUEUE)
    );
}

#[test]
fn twelve_hogs_on_sixteen_threads_keep_twelve_threads_busy() {
    let m = Machine::new(&Shape::new(2, 2, 2, 2));
    let mut taken: Vec<i32> = Vec::new();
    for hog in 0..12 {
        let p = m.wake(Wake::new(hog % 4, 0));
        assert!(
            p.claimed && !taken.contains(&p.cpu),
            "hog {hog}: {p:?} after {taken:?}"
        );
        m.running(p.cpu as u32, 1);
        taken.push(p.cpu);
    }
}

#[test]
fn sparse_cpu_numbers_are_no_obstacle() {
    let m = Machine::new(&Shape::new(2, 2, 2, 2).gap(60));
    m.busy(&[0]);
    let mut cpus: Vec<i32> = (0..15).map(|_| m.wake(Wake::new(0, 0)).cpu).collect();
    cpus.sort_unstable();
    assert_eq!(cpus, (1..16).map(|n| n * 60).collect::<Vec<i32>>());
}

#[test]
fn the_highest_cpu_number_is_as_good_as_any() {
    // 341 × 3 = 1023.
    let m = Machine::new(&Shape::new(2, 3, 57, 1).gap(3));
    let top = 341 * 3;
    m.idle_only(&[top]);
    let p = m.wake(Wake::new(top as i32 - 3, top as i32 - 3));
    assert_eq!((p.cpu as u32, p.claimed), (top, true));
}

#[test]
fn a_cpu_that_went_offline_is_not_returned_to() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).offline(&[2, 3]));
    m.busy(&[0]);
    for prev in [2, 3, 8, 1000] {
        let p = m.wake(Wake::new(prev, 0));
        assert!(
            m.online.contains(p.cpu as u32) && p.claimed,
            "{prev}: {p:?}"
        );
    }
}

#[test]
fn isolated_cpus_are_left_to_those_bound_to_them() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).isolated(&[4, 5, 6, 7]));
    m.busy(&[0]);
    for _ in 0..10 {
        assert!(m.wake(Wake::new(0, 0)).cpu < 4);
    }
    m.idle_only(&[4, 5, 6, 7]);
    assert_eq!(m.wake(Wake::new(0, 0)).cpu, 0, "queue rather than disturb");
    assert_eq!(m.wake(Wake::new(5, 0).allowed(&[5])).cpu, 5, "bound there");
}

#[test]
fn two_tasks_bound_to_isolated_cpus_do_not_share_one() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).isolated(&[4, 5]));
    let [a, b, c] = [(); 3].map(|()| m.wake(Wake::new(4, 0).allowed(&[4, 5])));
    assert!(a.claimed && b.claimed && a.cpu != b.cpu, "{a:?} {b:?}");
    assert_eq!((c.cpu, c.claimed), (4, false), "queue where its cache is");
}

#[test]
fn an_unbound_task_comes_off_an_isolated_cpu_when_woken() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).isolated(&[6, 7]));
    m.busy(&[0]);
    let p = m.wake(Wake::new(6, 0));
    assert!(p.cpu < 6 && p.claimed, "{p:?}");
}

#[test]
fn an_unbound_task_woken_from_an_isolated_cpu_does_not_end_up_there() {
    // As a timer on the isolated CPU 0 would wake it.
    let m = Machine::new(&Shape::new(1, 1, 4, 2).isolated(&[0, 1]));
    let p = m.wake(Wake::new(0, 0));
    assert!(p.cpu > 1, "{p:?}");
}

#[test]
fn a_task_woken_from_an_isolated_cpu_does_not_end_up_on_an_offline_one() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).offline(&[0]).isolated(&[1]));
    let p = m.wake(Wake::new(1, 1));
    assert!(m.online.contains(p.cpu as u32), "{p:?}");
}

#[test]
fn a_machine_all_isolated_is_scheduled_as_a_whole() {
    let m = Machine::new(&Shape::new(1, 1, 2, 1).isolated(&[0, 1]));
    m.busy(&[0]);
    assert_eq!(m.wake(Wake::new(0, 0)).cpu, 1);
}

#[test]
fn a_cache_of_96_cores_is_used_in_full() {
    let m = Machine::new(&Shape::new(1, 1, 96, 1));
    for (prev, idle) in [
        (0, 50),
        (0, 63),
        (63, 0),
        (0, 64),
        (0, 95),
        (95, 3),
        (64, 63),
    ] {
        m.idle_only(&[idle]);
        let p = m.wake(Wake::new(prev, prev));
        assert_eq!((p.cpu as u32, p.claimed), (idle, true), "prev {prev}");
    }
}

#[test]
fn tasks_cross_eight_nodes_to_the_only_idle_cpu() {
    let m = Machine::new(&Shape::new(8, 1, 4, 2));
    for idle in [9, 17, 33, 63] {
        m.idle_only(&[idle]);
        let p = m.wake(Wake::new(0, 0));
        assert_eq!((p.cpu as u32, p.step), (idle, Stat::STAT_PLACE_SYSTEM));
    }
}
