// SPDX-License-Identifier: GPL-2.0-only
//! New tasks: the idlest place in the widest level allowed, a whole core first.

use crate::native_common::Machine;
use crate::native_common::Shape;
use crate::native_common::Wake;

/// Nodes 0-7 and 8-15, LLCs of two SMT2 cores: 0-3, 4-7, 8-11, 12-15.
fn machine(changes: &[&str]) -> Machine {
    Machine::new(&Shape::new(2, 2, 2, 2)).with(changes)
}

/// Where children of CPU 0 go one after the other, until none finds an idle CPU.
fn children(m: &Machine) -> Vec<i32> {
    std::iter::repeat_with(|| m.fork(Wake::new(0, 0)))
        .take_while(|cpu| *cpu >= 0)
        .collect()
}

/// The LLC or node of each, CPUs per group given.
fn groups(cpus: &[i32], size: i32) -> Vec<i32> {
    cpus.iter().map(|cpu| cpu / size).collect()
}

#[test]
fn whole_cores_of_all_levels_come_before_half_ones() {
    let m = machine(&[]);
    m.busy(&[0]);
    let cpus = children(&m);
    assert_eq!(cpus.len(), 15);
    let mut cores = groups(&cpus[..7], 2);
    cores.sort_unstable();
    assert_eq!(cores, [1, 2, 3, 4, 5, 6, 7], "{cpus:?}");
}

#[test]
fn the_llc_comes_before_the_node_and_the_node_before_the_system() {
    let m = machine(&[]);
    m.busy(&[0]);
    let cpus = children(&m);
    assert_eq!(groups(&cpus[..3], 4), [0, 1, 1], "whole cores: {cpus:?}");
    assert_eq!(groups(&cpus[..7], 8), [0, 0, 0, 1, 1, 1, 1], "{cpus:?}");
    assert_eq!(
        groups(&cpus[7..], 4)[..2],
        [0, 0],
        "then halves, near first: {cpus:?}"
    );
    assert_eq!(groups(&cpus[7..], 8), [0, 0, 0, 0, 1, 1, 1, 1], "{cpus:?}");
}

#[test]
fn no_idle_core_fills_the_llc_first() {
    let m = machine(&["NO_IDLE_CORE"]);
    m.busy(&[0]);
    let cpus = children(&m);
    assert_eq!(groups(&cpus[..3], 4), [0; 3], "{cpus:?}");
    assert_eq!(groups(&cpus[..7], 8), [0; 7], "{cpus:?}");
}

#[test]
fn the_highest_level_limits_new_tasks_too() {
    let m = machine(&["wake.max_level=2"]);
    m.busy(&[0]);
    let mut cpus = children(&m);
    cpus.sort_unstable();
    assert_eq!(cpus, [1, 2, 3]);
    let m = { m }.with(&["wake.max_level=3"]);
    let mut cpus = children(&m);
    cpus.sort_unstable();
    assert_eq!(cpus, [4, 5, 6, 7]);
}

#[test]
fn a_childs_mask_holds() {
    let m = machine(&[]);
    let child = || m.fork(Wake::new(0, 0).allowed(&[3, 9]));
    assert_eq!((child(), child(), child()), (3, 9, -1));
}

#[test]
fn an_empty_mask_places_nowhere() {
    assert_eq!(machine(&[]).fork(Wake::new(0, 0).allowed(&[])), -1);
}

#[test]
fn a_parent_on_an_isolated_cpu_does_not_get_its_child_placed_beside_it() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2).isolated(&[0, 1]));
    let cpu = m.fork(Wake::new(0, 0));
    assert!(cpu == -1 || cpu > 1, "{cpu}");
}

#[test]
fn children_of_eight_nodes_find_every_core() {
    let m = Machine::new(&Shape::new(8, 2, 4, 1));
    m.busy(&[0]);
    let mut cpus = children(&m);
    assert_eq!(
        groups(&cpus[..7], 8),
        [0; 7],
        "the own node first: {cpus:?}"
    );
    cpus.sort_unstable();
    assert_eq!(cpus, (1..64).collect::<Vec<i32>>());
}

#[test]
fn a_runnable_task_takes_a_thread_of_its_llc_before_a_core_elsewhere() {
    let m = machine(&[]);
    m.idle_only(&[3, 4, 5, 8, 9]);
    assert_eq!(m.relocate(0, 1_000_000_000), 3);
}

#[test]
fn a_runnable_task_leaves_its_llc_only_if_the_wait_costs_more() {
    let m = machine(&[]);
    m.idle_only(&[5, 8, 9]);
    assert_eq!(m.relocate(0, 250_000), -1);
    assert_eq!(m.relocate(0, 250_001), 5);
    m.idle_only(&[8, 9]);
    assert_eq!(m.relocate(0, 500_000), -1);
    assert!(m.relocate(0, 500_001) >= 8);
}

#[test]
fn a_task_alone_on_its_cpu_moves_for_a_whole_core_of_its_node_only() {
    let m = machine(&[]);
    m.idle_only(&[3, 5, 8, 9]);
    assert_eq!(m.spread(0), -1);
    m.idle_only(&[3, 4, 5, 8, 9]);
    assert!([4, 5].contains(&m.spread(0)));
}
