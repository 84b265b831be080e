// SPDX-License-Identifier: GPL-2.0-only
//! Steps 6 to 8: the search of the target's LLC.

use crate::native_common::Field;
use crate::native_common::Machine;
use crate::native_common::Placed;
use crate::native_common::Shape;
use crate::native_common::Stat;
use crate::native_common::Wake;

/// One LLC of four SMT2 cores: (0,1) (2,3) (4,5) (6,7).
fn smt() -> Machine {
    Machine::new(&Shape::new(1, 1, 4, 2))
}

fn step(p: Placed) -> (i32, Stat) {
    (p.cpu, p.step)
}

#[test]
fn an_idle_core_is_found_wherever_it_is() {
    let m = smt();
    for core in [2, 4, 6] {
        for half in 0..8u32 {
            // Threads of all other cores idle by half, which must not distract.
            let mut idle = vec![core, core + 1];
            if half != 0 && half / 2 != core / 2 {
                idle.push(half);
            }
            m.idle_only(&idle);
            let p = m.wake(Wake::new(0, 0));
            assert_eq!(
                (p.cpu as u32 / 2, p.claimed),
                (core / 2, true),
                "{idle:?}: {p:?}"
            );
        }
    }
}

#[test]
fn half_idle_cores_are_used_once_all_idle_cores_are_taken() {
    let m = smt();
    m.busy(&[0]);
    let mut cpus: Vec<i32> = (0..7).map(|_| m.wake(Wake::new(0, 0)).cpu).collect();
    let mut cores: Vec<i32> = cpus[..3].iter().map(|cpu| cpu / 2).collect();
    cores.sort_unstable();
    assert_eq!(cores, [1, 2, 3], "whole cores first: {cpus:?}");
    cpus.sort_unstable();
    assert_eq!(cpus, [1, 2, 3, 4, 5, 6, 7], "then all threads");
}

#[test]
fn a_busy_thread_disqualifies_its_core_on_smt4_and_smt8() {
    for threads in [4, 8] {
        let m = Machine::new(&Shape::new(1, 1, 3, threads));
        // Core 1 lacks one thread of being idle, core 2 is.
        m.busy(&[0, threads + threads - 1]);
        let p = m.wake(Wake::new(0, 0));
        assert_eq!(p.cpu as u32 / threads, 2, "SMT{threads}: {p:?}");
        m.busy(&[2 * threads]);
        let p = m.wake(Wake::new(0, 0));
        assert!(
            p.claimed && p.step == Stat::STAT_PLACE_SMT,
            "SMT{threads}: {p:?}"
        );
        assert!(
            (1..threads).contains(&(p.cpu as u32)),
            "SMT{threads}: {p:?}"
        );
    }
}

#[test]
fn an_idle_core_of_the_cluster_comes_before_the_rest_of_the_llc() {
    // Clusters 0-7 and 8-15 of SMT2 cores.
    let m = Machine::new(&Shape::new(1, 1, 4, 2).clusters(2));
    for (prev, near, far) in [(6, 0, 8), (7, 2, 8), (8, 14, 0), (14, 8, 0)] {
        m.idle_only(&[near, near + 1, far, far + 1]);
        let p = m.wake(Wake::new(prev, prev));
        assert_eq!(p.cpu as u32 / 2, near / 2, "prev {prev}: {p:?}");
    }
}

#[test]
fn the_cluster_comes_first_on_a_machine_without_smt_too() {
    // Clusters 0-3 and 4-7 of single-threaded cores, as on the machines clusters were made for.
    let m = Machine::new(&Shape::new(1, 1, 4, 1).clusters(2));
    for (prev, near, far) in [(3, 2, 4), (3, 0, 4), (7, 4, 0), (4, 7, 3)] {
        m.idle_only(&[near, far]);
        let p = m.wake(Wake::new(prev, prev));
        assert_eq!(p.cpu as u32, near, "prev {prev}: {p:?}");
    }
}

#[test]
fn a_cluster_without_an_idle_core_does_not_stop_the_search() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).clusters(2));
    m.idle_only(&[3, 5, 10, 11]);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!(p.cpu / 2, 5, "{p:?}");
}

#[test]
fn no_idle_core_on_the_machine_means_the_sibling() {
    let m = smt();
    m.idle_only(&[1, 3, 5]);
    assert_eq!(step(m.wake(Wake::new(0, 0))), (1, Stat::STAT_PLACE_SMT));
}

#[test]
fn the_sibling_of_prev_is_tried_when_the_waker_is_the_target() {
    let m = smt();
    m.idle_only(&[1, 5]);
    let p = m.wake(Wake::new(0, 2).sync());
    assert_eq!(step(p), (1, Stat::STAT_PLACE_SMT));
}

#[test]
fn no_idle_smt_finds_the_sibling_only_as_any_cpu() {
    let m = smt().with(&["NO_IDLE_SMT"]);
    m.idle_only(&[1]);
    assert_eq!(step(m.wake(Wake::new(0, 0))), (1, Stat::STAT_PLACE_CPU));
}

#[test]
fn any_idle_thread_of_the_llc_is_better_than_waiting() {
    let m = smt();
    for idle in 1..8 {
        m.idle_only(&[idle]);
        let p = m.wake(Wake::new(0, 0));
        assert_eq!((p.cpu as u32, p.claimed), (idle, true));
    }
}

#[test]
fn no_idle_cpu_stops_the_search_at_the_siblings() {
    let m = smt().with(&["NO_IDLE_CPU", "NO_WAKE_WIDEN"]);
    m.idle_only(&[5]);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!(step(p), (0, Stat::STAT_PLACE_QUEUE));
    assert!(!p.claimed && m.is_idle(5));
    m.idle_only(&[1, 5]);
    assert_eq!(m.wake(Wake::new(0, 0)).cpu, 1);
}

#[test]
fn wakers_of_different_targets_start_at_different_cpus() {
    let m = Machine::new(&Shape::new(1, 1, 16, 1));
    let first = |prev: u32| {
        let others: Vec<u32> = (0..16).filter(|cpu| *cpu != prev).collect();
        m.idle_only(&others);
        m.wake(Wake::new(prev as i32, prev as i32)).cpu
    };
    let mut found: Vec<i32> = (0..16).map(first).collect();
    found.sort_unstable();
    found.dedup();
    assert!(found.len() >= 8, "all wakers race for {found:?}");
}

#[test]
fn an_idle_core_is_preferred_where_only_some_cores_have_siblings() {
    // (0,1) (2,3) with siblings, 4 and 6 without: a hybrid machine.
    let m = Machine::new(&Shape::new(1, 1, 4, 2).offline(&[5, 7]));
    m.idle_only(&[1, 4]);
    let p = m.wake(Wake::new(6, 6));
    assert_eq!(p.cpu, 4, "half of a core whose other thread is busy: {p:?}");
    m.idle_only(&[1, 2, 3]);
    let p = m.wake(Wake::new(6, 6));
    assert!([2, 3].contains(&p.cpu), "{p:?}");
}

/// An LLC whose CPUs 0-29 have their siblings at 70-99: two words of 64.
fn two_words() -> Shape {
    let between: Vec<u32> = (30..70).collect();
    Shape::new(1, 1, 70, 2)
        .far_siblings()
        .offline(&[&between[..], &(100..140).collect::<Vec<_>>()].concat())
}

#[test]
fn the_search_covers_all_words_by_default() {
    let m = Machine::new(&two_words());
    for (prev, idle) in [(5, 80), (80, 5), (80, 90), (5, 20), (70, 99), (29, 0)] {
        m.idle_only(&[idle]);
        let p = m.wake(Wake::new(prev, prev));
        assert_eq!((p.cpu as u32, p.claimed), (idle, true), "prev {prev}");
    }
}

#[test]
fn the_scan_budget_bounds_the_words_looked_at() {
    let m = Machine::new(&two_words()).with(&["wake.scan_budget=1", "NO_WAKE_WIDEN"]);
    m.idle_only(&[80]);
    assert_eq!(m.wake(Wake::new(5, 5)).step, Stat::STAT_PLACE_QUEUE);
    m.idle_only(&[20]);
    assert_eq!(m.wake(Wake::new(5, 5)).cpu, 20);
}

#[test]
fn a_bounded_search_looks_around_its_target_first() {
    let m = Machine::new(&two_words()).with(&["wake.scan_budget=1", "NO_WAKE_WIDEN"]);
    m.idle_only(&[90]);
    let p = m.wake(Wake::new(80, 80));
    assert_eq!((p.cpu, p.claimed), (90, true), "{p:?}");
}

#[test]
fn avg_cpu_cuts_the_search_of_a_target_that_hardly_idles() {
    let m = Machine::new(&two_words()).with(&["AVG_CPU", "NO_WAKE_WIDEN"]);
    let found = |avg_idle_ns| {
        m.idle_only(&[80]);
        m.set(5, Field::AvgIdle, avg_idle_ns);
        m.wake(Wake::new(5, 5)).claimed
    };
    assert!(!found(0) && !found(500));
    assert!(found(10_000) && found(1_000_000));
    let m = { m }.with(&["NO_WAKE_WIDEN"]);
    m.idle_only(&[80]);
    m.set(5, Field::AvgIdle, 0);
    assert!(m.wake(Wake::new(5, 5)).claimed, "off by default");
}

#[test]
fn avg_cpu_never_gives_up_the_other_cpu_of_a_small_machine() {
    let m = Machine::new(&Shape::new(1, 1, 2, 1)).with(&["AVG_CPU"]);
    m.idle_only(&[1]);
    m.set(0, Field::AvgIdle, 0);
    assert_eq!(m.wake(Wake::new(0, 0)).cpu, 1);
}
