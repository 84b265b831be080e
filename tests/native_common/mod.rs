// SPDX-License-Identifier: GPL-2.0-only
//! The policy's C code on a synthetic machine: placements and pulls one at a time, every fact
//! about the machine set by hand.

// Each test binary uses its own part of this.
#![allow(dead_code, unused_imports)]

pub mod ffi;
pub mod rng;
pub mod shape;

use std::marker::PhantomData;

use scx_sibling::skel::types;
use scx_sibling::topology::layout;
use scx_sibling::topology::layout::Layout;
use scx_sibling::topology::CpuSet;
use scx_sibling::topology::Topology;
use scx_sibling::tunables::Settings;

pub use ffi::Field;
pub use ffi::Global;
pub use ffi::Pull;
pub use rng::Rng;
pub use shape::Shape;
pub use types::stat_id as Stat;

/// The LLC and node of a CPU that is not scheduled on: using it aborts.
const POISON: u16 = 0xffff;

/// The live tunables with `changes` applied to the defaults.
pub fn tunables(changes: &[&str]) -> types::tunables {
    let mut settings = Settings::default();
    settings.apply(changes).expect("a known setting");
    let mut t = types::tunables::default();
    t.v.copy_from_slice(&settings.words);
    t
}

/// A tunable's value.
pub fn value(t: &types::tunables, id: types::tun_id) -> u64 {
    t.v[id.0 as usize]
}

/// A waking task and who wakes it.
#[derive(Debug, Clone)]
pub struct Wake {
    prev: i32,
    waker: i32,
    sync: bool,
    partner: bool,
    kthread: bool,
    sched_idle: bool,
    allowed: Option<CpuSet>,
    recent: i32,
    flips: (u32, u32),
}

impl Wake {
    /// An unrestricted task that last ran on `prev`, woken from `waker`.
    pub fn new(prev: i32, waker: i32) -> Self {
        Wake {
            prev,
            waker,
            sync: false,
            partner: false,
            kthread: false,
            sched_idle: false,
            allowed: None,
            recent: -1,
            flips: (0, 0),
        }
    }

    /// The waker says it is about to sleep.
    pub fn sync(self) -> Self {
        Wake { sync: true, ..self }
    }

    /// The two hand one CPU to and fro: sync, and so it was the time before.
    pub fn partner(self) -> Self {
        let (sync, partner) = (true, true);
        Wake {
            sync,
            partner,
            ..self
        }
    }

    /// The waker is a kernel thread bound to its CPU.
    pub fn kthread(self) -> Self {
        let kthread = true;
        Wake { kthread, ..self }
    }

    /// The task is SCHED_IDLE.
    pub fn sched_idle(self) -> Self {
        let sched_idle = true;
        Wake { sched_idle, ..self }
    }

    /// The CPUs the task may use.
    pub fn allowed(self, cpus: &[u32]) -> Self {
        let allowed = Some(cpus.iter().copied().collect());
        Wake { allowed, ..self }
    }

    /// The CPU before prev.
    pub fn recent(self, recent: i32) -> Self {
        Wake { recent, ..self }
    }

    /// How often waker and wakee changed whom they wake.
    pub fn flips(self, waker: u32, wakee: u32) -> Self {
        let flips = (waker, wakee);
        Wake { flips, ..self }
    }

    /// The mask; all that exist when unrestricted, online or not.
    pub fn mask(&self) -> CpuSet {
        self.allowed
            .clone()
            .unwrap_or_else(|| CpuSet::range(0, 1023))
    }
}

/// What a placement came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    pub cpu: i32,
    pub step: Stat,
    pub claimed: bool,
    pub stacked: bool,
}

/// A machine all of whose CPUs idle, until told otherwise. One at a time per thread.
pub struct Machine {
    pub layout: Layout,
    pub tunables: types::tunables,
    pub state: types::cpu_state,
    pub online: CpuSet,
    _thread: PhantomData<*const ()>,
}

impl Machine {
    pub fn new(shape: &Shape) -> Self {
        Self::from_topology(&shape.topology())
    }

    pub fn from_topology(topology: &Topology) -> Self {
        let mut layout = layout::build(topology).expect("a machine that fits the tables");
        for cpu in layout.cpus.iter_mut().filter(|cpu| cpu.valid == 0) {
            (cpu.llc, cpu.node) = (POISON, POISON);
        }
        let (cpus, llcs, nodes) = (&layout.cpus, &layout.llcs, &layout.nodes);
        // SAFETY: the tables live in the layout, which the machine keeps; host_end() drops them.
        let begun = unsafe {
            ffi::host_begin(
                cpus.as_ptr(),
                cpus.len() as u32,
                llcs.as_ptr(),
                llcs.len() as u32,
                nodes.as_ptr(),
                nodes.len() as u32,
            )
        };
        assert!(begun, "one machine at a time per thread");
        let machine = Machine {
            layout,
            tunables: tunables(&[]),
            state: types::cpu_state::default(),
            online: topology.online.clone(),
            _thread: PhantomData,
        };
        for (cpu, entry) in &topology.cpus {
            let core: Vec<u16> = entry.smt.iter().map(|cpu| cpu as u16).collect();
            // SAFETY: the numbers are copied.
            unsafe { ffi::host_core(*cpu, core.as_ptr(), core.len() as u32) };
        }
        for cpu in topology.online.iter() {
            machine.idle(cpu);
            machine.set(cpu, Field::AvgIdle, 1_000_000);
        }
        machine
    }

    /// Applies settings on top of the present ones' defaults.
    pub fn with(mut self, changes: &[&str]) -> Self {
        self.tunables = tunables(changes);
        self
    }

    pub fn set(&self, cpu: u32, field: Field, value: u64) {
        // SAFETY: bounds are checked there.
        unsafe { ffi::host_set(cpu, field as u32, value) }
    }

    pub fn get(&self, cpu: u32, field: Field) -> u64 {
        // SAFETY: bounds are checked there.
        unsafe { ffi::host_get(cpu, field as u32) }
    }

    pub fn global_set(&self, id: Global, value: u64) {
        // SAFETY: bounds are checked there.
        unsafe { ffi::host_global_set(id as u32, value) }
    }

    pub fn global(&self, id: Global) -> u64 {
        // SAFETY: bounds are checked there.
        unsafe { ffi::host_global_get(id as u32) }
    }

    /// A counter; `level` for those there is one of per level.
    pub fn stat(&self, id: Stat, level: u32) -> u64 {
        // SAFETY: bounds are checked there.
        unsafe { ffi::host_stat(id.0 + level) }
    }

    /// Nothing runs on the CPU and its idle bit is set.
    pub fn idle(&self, cpu: u32) {
        self.set(cpu, Field::Running, 0);
        self.set(cpu, Field::Wait, 0);
        self.set(cpu, Field::Idle, 1);
    }

    /// `n` tasks run or wait on the CPU; the newcomer's wait is a slice and the least slices.
    pub fn running(&self, cpu: u32, n: u64) {
        let slice = value(&self.tunables, types::tun_id::TUN_SLICE);
        let least = value(&self.tunables, types::tun_id::TUN_SLICE_MIN);
        self.set(cpu, Field::Running, n);
        self.set(cpu, Field::Wait, slice + (n - 1) * least);
        self.set(cpu, Field::Idle, 0);
    }

    pub fn busy(&self, cpus: &[u32]) {
        cpus.iter().for_each(|cpu| self.running(*cpu, 1));
    }

    /// Exactly these CPUs idle, all others run one task.
    pub fn idle_only(&self, idle: &[u32]) {
        for cpu in self.online.iter() {
            if idle.contains(&cpu) {
                self.idle(cpu);
            } else {
                self.running(cpu, 1);
            }
        }
    }

    pub fn is_idle(&self, cpu: u32) -> bool {
        self.get(cpu, Field::Idle) == 1
    }

    /// The CPUs whose idle bit is set.
    pub fn idle_set(&self) -> CpuSet {
        self.online
            .iter()
            .filter(|cpu| self.is_idle(*cpu))
            .collect()
    }

    /// `n` tasks wait on the CPU besides the one that runs.
    pub fn waiting(&self, cpu: u32, n: u64) {
        self.running(cpu, n + 1);
        self.set(cpu, Field::Waiting, n);
        self.set(cpu, Field::SinceRan, 1_000_000_000);
    }

    /// Overload hints left set in one LLC and one node with nothing waiting.
    pub fn stale(&self, llc: u32, llc_bits: u64, node: u32, node_bits: u64) {
        // SAFETY: bounds are checked there.
        unsafe { ffi::host_stale(llc, llc_bits, node, node_bits) }
    }

    fn ask<T>(&self, wake: &Wake, ask: impl FnOnce(*const ffi::HostWake) -> T) -> T {
        let mut task = ffi::PortTask {
            allowed: [0; 16],
            recent: wake.recent,
            waker_flips: wake.flips.0,
            wakee_flips: wake.flips.1,
            pad: 0,
        };
        for cpu in wake.mask().iter() {
            task.allowed[cpu as usize / 64] |= 1 << (cpu % 64);
        }
        ask(&ffi::HostWake {
            task: &task,
            features: value(&self.tunables, types::tun_id::TUN_FEATURES),
            prev: wake.prev,
            waker: wake.waker,
            sync: wake.sync.into(),
            sync_partner: wake.partner.into(),
            kthread_waker: wake.kthread.into(),
            wakee_sched_idle: wake.sched_idle.into(),
            pad: [0; 4],
        })
    }

    /// Places a waking task; the waker's CPU remembers nothing.
    pub fn wake(&self, wake: Wake) -> Placed {
        self.wake_after(&mut types::place_res::default(), wake)
    }

    /// The same with what the waker's CPU remembers of its earlier placements.
    pub fn wake_after(&self, res: &mut types::place_res, wake: Wake) -> Placed {
        // SAFETY: all three outlive the call.
        self.ask(&wake, |w| unsafe {
            ffi::host_place_wake(w, &self.tunables, res)
        });
        Placed {
            cpu: res.cpu,
            step: types::stat_id(res.step),
            claimed: res.claimed != 0,
            stacked: res.stacked != 0,
        }
    }

    /// Places a new task whose parent runs on `prev`.
    pub fn fork(&self, wake: Wake) -> i32 {
        // SAFETY: both outlive the call.
        self.ask(&wake, |w| unsafe {
            ffi::host_place_fork(w, &self.tunables)
        })
    }

    /// A new place for a runnable task of `prev` that would wait for `wait_ns` there.
    pub fn relocate(&self, prev: i32, wait_ns: u64) -> i32 {
        // SAFETY: both outlive the call.
        self.ask(&Wake::new(prev, prev), |w| unsafe {
            ffi::host_place_move(w, wait_ns, true, &self.tunables)
        })
    }

    /// A wholly idle core for a running task of `prev`.
    pub fn spread(&self, prev: i32) -> i32 {
        // SAFETY: both outlive the call.
        self.ask(&Wake::new(prev, prev), |w| unsafe {
            ffi::host_place_spread(w, &self.tunables)
        })
    }

    /// `cpu` is about to idle: did it pull something?
    pub fn newidle(&mut self, cpu: u32, rnd: u32, force: bool) -> bool {
        self.newidle_sent(cpu, rnd, 2 * u32::from(force))
    }

    /// The same with what it may disregard: 0 nothing, 1 the gate, 2 hotness too.
    pub fn newidle_sent(&mut self, cpu: u32, rnd: u32, force: u32) -> bool {
        // SAFETY: state and tunables outlive the call.
        unsafe { ffi::host_newidle(cpu as i32, rnd, force, &mut self.state, &self.tunables) }
    }

    /// `cpu`, with `running` tasks, evens out: did it pull something?
    pub fn busy_balance(&self, cpu: u32, rnd: u32, running: u32) -> bool {
        // SAFETY: the tunables outlive the call.
        unsafe { ffi::host_busy(cpu as i32, rnd, running, &self.tunables) }
    }

    /// The pulls tried so far, in order.
    pub fn pulls(&self) -> Vec<Pull> {
        (0..self.global(Global::PullCount) as u32)
            // SAFETY: bounds are checked there.
            .map(|n| unsafe { ffi::host_pull_at(n) })
            .collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: forgets the tables.
        unsafe { ffi::host_end() }
    }
}
