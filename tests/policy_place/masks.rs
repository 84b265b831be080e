// SPDX-License-Identifier: GPL-2.0-only
//! Restricted tasks: whatever happens, the answer is in the mask.

use crate::native_common::Machine;
use crate::native_common::Shape;
use crate::native_common::Wake;

fn machine() -> Machine {
    Machine::new(&Shape::new(2, 2, 2, 2))
}

#[test]
fn a_prev_outside_the_mask_is_never_the_answer() {
    let m = machine();
    for prev in 0..16u32 {
        let mask: Vec<u32> = (0..16).filter(|cpu| *cpu != prev).collect();
        for waker in 0..16 {
            for idle in [&[][..], &[prev][..], &(0..16).collect::<Vec<_>>()[..]] {
                m.idle_only(idle);
                let p = m.wake(Wake::new(prev as i32, waker).allowed(&mask));
                assert!(
                    p.cpu >= 0 && p.cpu as u32 != prev,
                    "{prev} {waker} {idle:?}: {p:?}"
                );
            }
        }
    }
}

#[test]
fn a_mask_that_shrank_away_from_prev_and_waker_still_finds_the_idle_cpu() {
    let m = machine();
    m.idle_only(&[13]);
    let p = m.wake(Wake::new(0, 1).allowed(&[12, 13]));
    assert_eq!((p.cpu, p.claimed), (13, true));
}

#[test]
fn the_wakers_cpu_is_used_only_if_allowed() {
    let m = machine();
    m.running(8, 1);
    let p = m.wake(Wake::new(0, 8).sync().allowed(&[0, 1, 9]));
    assert!([0, 1, 9].contains(&p.cpu), "{p:?}");
    m.idle_only(&[]);
    m.running(0, 5);
    assert_eq!(m.wake(Wake::new(0, 8).allowed(&[0, 1])).cpu, 0);
}

#[test]
fn an_empty_mask_is_no_cpu_and_not_one_past_the_end() {
    let m = machine();
    let p = m.wake(Wake::new(0, 1).allowed(&[]));
    assert!(p.cpu < 0 && !p.claimed && !p.stacked, "{p:?}");
    assert_eq!(m.idle_set().len(), 16, "nothing is claimed for nobody");
}

#[test]
fn a_pinned_task_goes_where_it_must() {
    let m = machine();
    for cpu in 0..16 {
        let p = m.wake(Wake::new(cpu, (cpu + 5) % 16).allowed(&[cpu as u32]));
        assert_eq!((p.cpu, p.claimed), (cpu, true));
        let p = m.wake(Wake::new(cpu, (cpu + 5) % 16).allowed(&[cpu as u32]));
        assert_eq!((p.cpu, p.claimed), (cpu, false), "now taken: queue there");
    }
}

#[test]
fn a_mask_across_caches_uses_both_halves() {
    let m = machine();
    m.idle_only(&[12]);
    let p = m.wake(Wake::new(0, 0).allowed(&[0, 12]));
    assert_eq!((p.cpu, p.claimed), (12, true));
}

#[test]
fn a_mask_of_one_thread_per_core_still_prefers_whole_cores() {
    let m = Machine::new(&Shape::new(1, 1, 4, 2));
    m.idle_only(&[0, 2, 4, 5]);
    let p = m.wake(Wake::new(0, 7).allowed(&[0, 2, 4]));
    assert_eq!(p.cpu, 4, "{p:?}");
}
