// SPDX-License-Identifier: GPL-2.0-only
//! What tests/native/host.c exports.

use scx_sibling::skel::types;

/// Fields of one CPU, `enum host_field`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Field {
    Idle,
    Running,
    Waiting,
    AvgIdle,
    Wait,
    SchedIdle,
    Taken,
    Unmovable,
    SinceRan,
    Noted,
}

/// Words of the machine, `enum host_global`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Global {
    LoseClaims,
    Claims,
    Waker,
    Clock,
    ClockStep,
    PullCount,
    OwnWorkAt,
    Looks,
}

/// A task as the policy sees it through the port.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct PortTask {
    pub allowed: [u64; 16],
    pub recent: i32,
    pub waker_flips: u32,
    pub wakee_flips: u32,
    pub pad: u32,
}

/// A placement's question.
#[repr(C)]
pub struct HostWake {
    pub task: *const PortTask,
    pub features: u64,
    pub prev: i32,
    pub waker: i32,
    pub sync: u8,
    pub sync_partner: u8,
    pub kthread_waker: u8,
    pub wakee_sched_idle: u8,
    pub pad: [u8; 4],
}

/// One pull that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Pull {
    pub src: i32,
    pub min_running: u32,
    pub hot_ns: u64,
    pub min_wait_ns: u64,
}

unsafe extern "C" {
    pub unsafe fn host_begin(
        cpus: *const types::cpu_topo,
        nr_cpus: u32,
        llcs: *const types::llc_topo,
        nr_llcs: u32,
        nodes: *const types::node_topo,
        nr_nodes: u32,
    ) -> bool;
    pub unsafe fn host_end();
    pub unsafe fn host_core(cpu: u32, threads: *const u16, n: u32);
    pub unsafe fn host_get(cpu: u32, field: u32) -> u64;
    pub unsafe fn host_set(cpu: u32, field: u32, value: u64);
    pub unsafe fn host_global_get(id: u32) -> u64;
    pub unsafe fn host_global_set(id: u32, value: u64);
    pub unsafe fn host_stale(llc: u32, llc_bits: u64, node: u32, node_bits: u64);
    pub unsafe fn host_stat(id: u32) -> u64;
    pub unsafe fn host_pull_at(n: u32) -> Pull;
    pub unsafe fn host_place_wake(
        wake: *const HostWake,
        tunables: *const types::tunables,
        res: *mut types::place_res,
    );
    pub unsafe fn host_place_fork(wake: *const HostWake, tunables: *const types::tunables) -> i32;
    pub unsafe fn host_place_move(
        wake: *const HostWake,
        wait_ns: u64,
        cores: bool,
        tunables: *const types::tunables,
    ) -> i32;
    pub unsafe fn host_place_spread(wake: *const HostWake, tunables: *const types::tunables)
        -> i32;
    pub unsafe fn host_newidle(
        cpu: i32,
        rnd: u32,
        force: u32,
        cs: *mut types::cpu_state,
        tunables: *const types::tunables,
    ) -> bool;
    pub unsafe fn host_busy(
        cpu: i32,
        rnd: u32,
        running: u32,
        tunables: *const types::tunables,
    ) -> bool;
    pub unsafe fn host_avg_idle_update(
        avg: u64,
        sample: u64,
        tunables: *const types::tunables,
    ) -> u64;
    pub unsafe fn host_newidle_cost_update(
        cs: *mut types::cpu_state,
        level: u32,
        spent: u64,
        now: u64,
    );
    pub unsafe fn host_dice_update(cs: *mut types::cpu_state, level: u32, worth: u32);
    pub unsafe fn host_dice(cs: *mut types::cpu_state, level: u32, rnd: u32, now: u64) -> u32;
    // Of plain numbers, sound for any.
    pub safe fn host_newidle_gated(features: u64, avg_idle: u64, fixed: u64, measured: u64)
        -> bool;
    pub safe fn host_busy_threshold(running: u32, imbalance_pct: u64) -> u32;
    pub safe fn host_wake_wide(waker_flips: u32, wakee_flips: u32, llc_cpus: u32) -> bool;
    pub safe fn host_vtime_before(a: u64, b: u64) -> bool;
    pub safe fn host_vtime_scale(delta_ns: u64, weight: u32) -> u64;
    pub safe fn host_vtime_clamp(
        vtime: u64,
        now: u64,
        slice_ns: u64,
        weight: u32,
        nr_running: u32,
    ) -> u64;
    pub safe fn host_vtime_slice(
        slice_ns: u64,
        slice_min_ns: u64,
        weight: u32,
        nr_running: u32,
    ) -> u64;
    pub safe fn host_vtime_preempts(wakee: u64, curr: u64, granularity_ns: u64) -> bool;
}
