// SPDX-License-Identifier: GPL-2.0-only
//! From step 8 on: SCHED_IDLE, beyond the LLC, and the queue.

use scx_sibling::skel::types::place_res;

use crate::native_common::Field;
use crate::native_common::Global;
use crate::native_common::Machine;
use crate::native_common::Shape;
use crate::native_common::Stat;
use crate::native_common::Wake;

const NODE_COST: u64 = 250_000;
const SYSTEM_COST: u64 = 500_000;

/// Nodes 0-7 and 8-15, LLCs of two SMT2 cores: 0-3, 4-7, 8-11, 12-15.
fn machine(changes: &[&str]) -> Machine {
    Machine::new(&Shape::new(2, 2, 2, 2)).with(changes)
}

/// Wakes a task of CPU 0, where it would wait for `wait_ns`, with only `idle` idle.
fn wake(m: &Machine, idle: &[u32], wait_ns: u64) -> (i32, Stat) {
    m.idle_only(idle);
    m.set(0, Field::Wait, wait_ns);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!(p.claimed, p.step != Stat::STAT_PLACE_QUEUE);
    (p.cpu, p.step)
}

const QUEUED: (i32, Stat) = (0, Stat::STAT_PLACE_QUEUE);

#[test]
fn a_task_leaves_its_llc_only_when_waiting_costs_more_than_the_move() {
    let m = machine(&[]);
    assert_eq!(wake(&m, &[5], NODE_COST), QUEUED);
    assert_eq!(wake(&m, &[5], NODE_COST + 1), (5, Stat::STAT_PLACE_NODE));
}

#[test]
fn a_task_leaves_its_node_only_when_waiting_costs_more_than_that_move() {
    let m = machine(&[]);
    assert_eq!(wake(&m, &[9], SYSTEM_COST), QUEUED);
    assert_eq!(
        wake(&m, &[9], SYSTEM_COST + 1),
        (9, Stat::STAT_PLACE_SYSTEM)
    );
}

#[test]
fn the_costs_are_the_users() {
    let m = machine(&["migration_cost_ns.node=5ms", "migration_cost_ns.system=9ms"]);
    assert_eq!(wake(&m, &[5], 5_000_000), QUEUED);
    assert_eq!(wake(&m, &[5], 5_000_001).0, 5);
    assert_eq!(wake(&m, &[9], 9_000_000), QUEUED);
    assert_eq!(wake(&m, &[9], 9_000_001).0, 9);
}

#[test]
fn an_idle_cpu_of_the_own_llc_needs_no_wait() {
    let m = machine(&[]);
    assert_eq!(wake(&m, &[3, 4, 5, 9], 0).0, 3);
}

#[test]
fn the_node_comes_before_the_system() {
    let m = machine(&[]);
    // One thread in the node against whole cores outside.
    assert_eq!(wake(&m, &[6, 8, 9, 10, 11], 1_000_000).0, 6);
}

#[test]
fn no_wake_widen_stays_in_the_llc() {
    let m = machine(&["NO_WAKE_WIDEN"]);
    assert_eq!(wake(&m, &[4, 5, 6, 7, 8, 9], 1_000_000_000), QUEUED);
}

#[test]
fn the_highest_level_can_be_limited() {
    let m = machine(&["wake.max_level=2"]);
    assert_eq!(wake(&m, &[5, 9], 1_000_000_000), QUEUED);
    let m = { m }.with(&["wake.max_level=3"]);
    assert_eq!(wake(&m, &[5, 9], 1_000_000_000).0, 5);
    assert_eq!(wake(&m, &[9], 1_000_000_000), QUEUED);
}

#[test]
fn a_whole_core_of_the_node_is_preferred() {
    let m = machine(&[]);
    let (cpu, _) = wake(&m, &[4, 6, 7], 1_000_000);
    assert!([6, 7].contains(&cpu), "{cpu}");
    assert!(
        wake(&m, &[4], 1_000_000).0 == 4,
        "but half a core is better than none"
    );
}

#[test]
fn the_nearest_node_comes_first() {
    let distances: [&[u32]; 4] = [
        &[10, 40, 30, 20],
        &[40, 10, 20, 30],
        &[30, 20, 10, 40],
        &[20, 30, 40, 10],
    ];
    let m = Machine::new(&Shape::new(4, 1, 2, 1).distances(&distances));
    assert_eq!(wake(&m, &[2, 4, 6], 1_000_000).0, 6);
    assert_eq!(wake(&m, &[2, 4], 1_000_000).0, 4);
    assert_eq!(wake(&m, &[2], 1_000_000).0, 2);
}

#[test]
fn five_tasks_of_a_four_cpu_llc_run_at_once() {
    let m = machine(&[]);
    m.idle_only(&[1, 2, 3, 5, 6]);
    let mut cpus: Vec<i32> = (0..5).map(|_| m.wake(Wake::new(0, 0)).cpu).collect();
    cpus.sort_unstable();
    assert_eq!(cpus, [1, 2, 3, 5, 6]);
}

/// All CPUs busy, those of `only` with one SCHED_IDLE task.
fn background(only: &[u32]) -> Machine {
    let m = machine(&[]);
    m.idle_only(&[]);
    only.iter().for_each(|cpu| m.set(*cpu, Field::SchedIdle, 1));
    m
}

#[test]
fn background_work_makes_way_for_others() {
    let m = background(&[2]);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!((p.cpu, p.step), (2, Stat::STAT_PLACE_SCHED_IDLE));
    assert!(p.stacked && !p.claimed);
}

#[test]
fn background_work_does_not_make_way_for_background_work() {
    let p = background(&[2]).wake(Wake::new(0, 0).sched_idle());
    assert_eq!(
        (p.cpu, p.step, p.stacked),
        (0, Stat::STAT_PLACE_QUEUE, false)
    );
}

#[test]
fn a_cpu_where_background_work_has_company_does_not_count_as_idle() {
    let m = background(&[2]);
    m.running(2, 2);
    assert_eq!(m.wake(Wake::new(0, 0)).step, Stat::STAT_PLACE_QUEUE);
}

#[test]
fn background_work_on_a_forbidden_cpu_is_left_alone() {
    let p = background(&[2]).wake(Wake::new(0, 0).allowed(&[0, 1, 3]));
    assert_eq!(p.step, Stat::STAT_PLACE_QUEUE);
}

#[test]
fn an_idle_cpu_is_better_than_one_with_background_work() {
    let m = background(&[2]);
    m.idle(3);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!((p.cpu, p.claimed), (3, true));
}

#[test]
fn background_work_of_the_own_llc_makes_way_before_the_llc_is_left() {
    let m = background(&[2]);
    m.idle(5);
    assert_eq!(m.wake(Wake::new(0, 0)).cpu, 2);
}

#[test]
fn background_work_where_the_cache_is_makes_way_first() {
    let m = background(&[1, 2, 3]);
    assert_eq!(m.wake(Wake::new(2, 2)).cpu, 2);
}

#[test]
fn without_idle_cpu_the_own_llc_is_not_searched_under_another_name() {
    let m = machine(&["NO_IDLE_CPU", "NO_IDLE_SMT", "NO_IDLE_CORE"]);
    assert_eq!(wake(&m, &[3], 1_000_000_000), QUEUED);
    assert_eq!(wake(&m, &[3, 5], 1_000_000_000), (5, Stat::STAT_PLACE_NODE));
}

#[test]
fn a_whole_core_of_another_node_is_preferred() {
    let m = machine(&[]);
    let (cpu, _) = wake(&m, &[8, 10, 11], 1_000_000);
    assert!([10, 11].contains(&cpu), "{cpu}");
}

#[test]
fn with_nothing_idle_the_task_queues_where_its_cache_is() {
    let m = machine(&[]);
    m.idle_only(&[]);
    for prev in 0..16 {
        let p = m.wake(Wake::new(prev, prev));
        assert_eq!((p.cpu, p.step), (prev, Stat::STAT_PLACE_QUEUE));
        assert!(!p.claimed && !p.stacked);
    }
}

#[test]
fn nobody_queues_behind_a_realtime_task() {
    let m = machine(&[]);
    m.idle_only(&[]);
    m.set(0, Field::Taken, 1);
    m.running(1, 3);
    m.running(2, 2);
    let p = m.wake(Wake::new(0, 0));
    assert_eq!((p.cpu, p.step), (3, Stat::STAT_PLACE_QUEUE));
    let p = m.wake(Wake::new(0, 0).allowed(&[0, 1]));
    assert_eq!(p.cpu, 1, "as far as the mask allows");
    assert_eq!(m.wake(Wake::new(0, 0).allowed(&[0])).cpu, 0);
}

#[test]
fn a_busy_waker_draws_the_wakee_off_a_cpu_that_a_realtime_task_has() {
    let m = machine(&[]);
    m.idle_only(&[]);
    m.running(4, 3);
    m.set(0, Field::Taken, 1);
    assert_eq!(m.wake(Wake::new(0, 4)).cpu, 4);
}

/// As far as the numbers go, three words; LLCs 0-47, 48-95, 96-143, 144-191.
fn large(changes: &[&str]) -> Machine {
    Machine::new(&Shape::new(2, 2, 24, 2)).with(changes)
}

/// Wakes a task of CPU 0 at `us`: where does it go, and was it looked for a CPU beyond the LLC?
fn wake_at(m: &Machine, memory: &mut place_res, us: u64, wake: Wake) -> (i32, bool) {
    let paused = m.stat(Stat::STAT_WAKE_FAR_PAUSED, 0);
    m.global_set(Global::Clock, us * 1000);
    let placed = m.wake_after(memory, wake);
    (placed.cpu, m.stat(Stat::STAT_WAKE_FAR_PAUSED, 0) == paused)
}

#[test]
fn a_large_full_machine_is_not_searched_again_at_once() {
    let m = large(&[]);
    let mut memory = place_res::default();
    let mut at = |us| wake_at(&m, &mut memory, us, Wake::new(0, 0));
    m.idle_only(&[]);
    assert_eq!(at(1000), (0, true));
    m.idle_only(&[50]);
    assert_eq!(at(1239), (0, false), "80 us for each of three words");
    m.idle_only(&[2, 50]);
    assert_eq!(at(1239), (2, true), "the own LLC is not paused");
    assert_eq!(at(1240), (50, true));
    m.idle_only(&[51]);
    assert_eq!(at(1241), (51, true), "success is no reason to pause");
}

#[test]
fn a_small_full_machine_is_searched_each_time() {
    let m = machine(&[]);
    let mut memory = place_res::default();
    m.idle_only(&[]);
    assert!(wake_at(&m, &mut memory, 1000, Wake::new(0, 0)).1);
    m.idle_only(&[5]);
    assert_eq!(wake_at(&m, &mut memory, 1000, Wake::new(0, 0)), (5, true));
}

#[test]
fn what_a_bound_task_does_not_find_says_nothing_of_others() {
    let m = large(&[]);
    let mut memory = place_res::default();
    m.idle_only(&[50]);
    let bound = Wake::new(0, 0).allowed(&[0, 1, 100]);
    assert_eq!(wake_at(&m, &mut memory, 1000, bound).0, 0);
    assert_eq!(wake_at(&m, &mut memory, 1000, Wake::new(0, 0)), (50, true));
}
