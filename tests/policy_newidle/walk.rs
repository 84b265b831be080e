// SPDX-License-Identifier: GPL-2.0-only
//! Where a CPU about to idle looks, and what it takes.

use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Rng;
use crate::native_common::Stat;
use crate::*;

/// The CPUs that pulls were tried from.
fn sources(m: &Machine) -> Vec<u32> {
    m.pulls().iter().map(|pull| pull.src as u32).collect()
}

#[test]
fn the_nearest_level_with_work_is_served_first() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    AT.iter().for_each(|cpu| m.waiting(*cpu, 1));
    for _ in AT {
        assert!(m.newidle(0, 0, false));
        m.idle(0);
    }
    assert_eq!(sources(&m), AT);
    assert!(!m.newidle(0, 0, false), "all fetched");
}

#[test]
fn a_search_takes_one_task() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(4, 3);
    m.waiting(8, 3);
    assert!(m.newidle(0, 0, false));
    assert_eq!((m.get(4, Field::Waiting), m.get(8, Field::Waiting)), (2, 3));
}

#[test]
fn nothing_waiting_costs_neither_a_search_nor_the_dice() {
    let mut m = five_levels(&[]);
    let before = m.state;
    for n in 0..1_000 {
        assert!(!m.newidle(0, n, false));
    }
    assert_eq!(m.global(Global::Looks), 0);
    for level in [SMT, CLUSTER, LLC, NODE, SYSTEM] {
        for id in [
            Stat::STAT_NEWIDLE_TRY,
            Stat::STAT_NEWIDLE_GATED,
            Stat::STAT_NEWIDLE_DICED,
        ] {
            assert_eq!(m.stat(id, level), 0, "{id:?} at level {level}");
        }
    }
    assert_eq!(m.state.dice_calls, before.dice_calls);
    assert_eq!(m.state.pull_cost_ns, before.pull_cost_ns);
}

#[test]
fn a_level_that_adds_no_cpu_is_skipped() {
    // No SMT, no clusters: the first level is the LLC.
    let mut m = Machine::new(&Shape::new(1, 1, 4, 1)).with(&["NO_NEWIDLE_DICE"]);
    m.idle_only(&[0]);
    m.state.avg_idle_ns = COST[2];
    m.waiting(3, 1);
    assert!(m.newidle(0, 0, false));
    assert_eq!(m.state.dice_calls, [0, 0, 1, 0, 0]);
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_PULLED, LLC), 1);
    drop(m);

    // SMT without clusters: cores of one LLC are at its cost, not that of a cluster.
    let mut m = Machine::new(&Shape::new(1, 1, 4, 2)).with(&["NO_NEWIDLE_DICE"]);
    m.idle_only(&[0]);
    m.state.avg_idle_ns = COST[2] - 1;
    m.waiting(3, 1);
    assert!(!m.newidle(0, 0, false));
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_GATED, LLC), 1);
}

#[test]
fn one_cpu_has_nowhere_to_look() {
    let mut m = Machine::new(&Shape::new(1, 1, 1, 1));
    m.waiting(0, 5);
    assert!(!m.newidle(0, 0, true));
    assert!(m.pulls().is_empty(), "not from itself");
}

#[test]
fn the_highest_level_can_be_limited() {
    for max in [SMT, CLUSTER, LLC, NODE] {
        let mut m = five_levels(&[&format!("newidle.max_level={max}"), "NO_NEWIDLE_DICE"]);
        m.waiting(AT[max as usize + 1], 1);
        assert!(!m.newidle(0, 0, false), "beyond level {max}");
        m.waiting(AT[max as usize], 1);
        assert!(m.newidle(0, 0, false), "at level {max}");
    }
}

#[test]
fn the_cpu_with_most_waiting_tasks_gives_one() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(4, 1);
    m.waiting(6, 3);
    m.waiting(7, 2);
    assert!(m.newidle(0, 0, false));
    assert_eq!(sources(&m), [6]);
}

#[test]
fn a_cpu_whose_tasks_are_all_bound_does_not_hide_the_next() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(4, 1);
    m.waiting(6, 3);
    m.set(6, Field::Unmovable, 1);
    assert!(m.newidle(0, 0, false), "tried {:?}", sources(&m));
    assert_eq!(m.get(4, Field::Waiting), 0);
}

#[test]
fn own_work_ends_the_walk() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(4, 1);
    m.set(4, Field::Unmovable, 1);
    m.waiting(8, 1);
    // Something is woken here during the first pull.
    m.global_set(Global::OwnWorkAt, 1);
    assert!(!m.newidle(0, 0, false));
    assert_eq!(sources(&m), [4]);
}

#[test]
fn a_fruitless_level_does_not_end_the_walk() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(4, 1);
    m.set(4, Field::Unmovable, 1);
    m.waiting(8, 1);
    assert!(m.newidle(0, 0, false));
    assert_eq!(sources(&m), [4, 8]);
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_EMPTY, LLC), 1);
    assert_eq!(m.stat(Stat::STAT_NEWIDLE_PULLED, NODE), 1);
}

#[test]
fn a_stale_hint_moves_nothing_and_does_not_end_the_walk() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.stale(0, 0b1111_0000, 0, 0b10);
    m.waiting(16, 1);
    assert!(m.newidle(0, 0, false));
    assert_eq!(sources(&m), [16]);
}

#[test]
fn a_task_that_just_ran_moves_to_a_sibling_but_not_across_the_cache() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE"]);
    m.waiting(AT[0], 1);
    m.set(AT[0], Field::SinceRan, 0);
    assert!(m.newidle(0, 0, false), "threads share all caches");
    for level in [CLUSTER, LLC, NODE, SYSTEM] {
        let src = AT[level as usize];
        m.idle(0);
        m.waiting(src, 1);
        m.set(src, Field::SinceRan, COST[level as usize] - 1);
        assert!(!m.newidle(0, 0, false), "hot at level {level}");
        m.set(src, Field::SinceRan, COST[level as usize]);
        assert!(m.newidle(0, 0, false), "cold at level {level}");
    }
}

#[test]
fn no_cache_hot_moves_what_just_ran() {
    let mut m = five_levels(&["NO_NEWIDLE_DICE", "NO_CACHE_HOT"]);
    m.waiting(AT[2], 1);
    m.set(AT[2], Field::SinceRan, 0);
    assert!(m.newidle(0, 0, false));
}

#[test]
fn the_nearest_node_comes_first() {
    let distances: [&[u32]; 4] = [
        &[10, 40, 30, 20],
        &[40, 10, 20, 30],
        &[30, 20, 10, 40],
        &[20, 30, 40, 10],
    ];
    let shape = Shape::new(4, 1, 2, 1).distances(&distances);
    let mut m = Machine::new(&shape).with(&["NO_NEWIDLE_DICE"]);
    m.idle_only(&[0]);
    m.state.avg_idle_ns = 1_000_000;
    for cpu in [2, 4, 6] {
        m.waiting(cpu, 1);
    }
    for rnd in [0, 17, 63] {
        assert!(m.newidle(0, rnd, false));
    }
    assert_eq!(sources(&m), [6, 4, 2]);
}

/// One node of eight LLCs of one CPU; all but CPU 0 have tasks waiting.
fn eight_llcs(changes: &[&str]) -> Machine {
    let mut m = Machine::new(&Shape::new(1, 8, 1, 1)).with(changes);
    m.idle_only(&[0]);
    m.state.avg_idle_ns = 1_000_000;
    for cpu in 1..8 {
        m.waiting(cpu, 1);
    }
    m
}

/// How often each CPU is the first source, over many random numbers.
fn first_sources(m: &mut Machine) -> Vec<u32> {
    let mut rng = Rng(5);
    let mut first = vec![0u32; 8];
    for _ in 0..20_000 {
        m.global_set(Global::PullCount, 0);
        if m.newidle(0, rng.bits() as u32, false) {
            let src = sources(m)[0];
            first[src as usize] += 1;
            m.waiting(src, 1);
        }
    }
    first
}

#[test]
fn the_caches_of_a_node_are_raided_evenly() {
    let mut m = eight_llcs(&["NO_NEWIDLE_DICE"]);
    let first = first_sources(&mut m);
    // Seven victims: a fair share is 14 %.
    let all: u32 = first.iter().sum();
    assert!(first[1..].iter().all(|n| n * 100 / all < 40), "{first:?}");
}

#[test]
fn the_dice_does_not_decide_which_cache_is_raided() {
    let mut m = eight_llcs(&[]);
    let mut rng = Rng(6);
    for _ in 0..50_000 {
        // No success so far and no free try: about fifty lucky numbers search.
        m.state.dice_ratio = [0; 5];
        m.state.dice_calls = [0; 5];
        if m.newidle(0, rng.bits() as u32, false) {
            let src = sources(&m).pop().unwrap();
            m.waiting(src, 1);
        }
    }
    let mut seen = sources(&m);
    assert!(seen.len() > 20, "{seen:?}");
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 1, "always CPU {seen:?}");
}

#[test]
fn a_search_of_many_caches_is_bounded() {
    let mut m = Machine::new(&Shape::new(1, 24, 1, 1)).with(&["NO_NEWIDLE_DICE"]);
    m.idle_only(&[0]);
    m.state.avg_idle_ns = 1_000_000;
    for cpu in 1..24 {
        m.waiting(cpu, 1);
        m.set(cpu, Field::Unmovable, 1);
    }
    assert!(!m.newidle(0, 3, false));
    assert!(m.pulls().len() <= 8, "{:?}", sources(&m));
}
