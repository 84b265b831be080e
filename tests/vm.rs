// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler on real kernels, in virtual machines that `./x vm` boots.
//!
//! Each test boots one machine, runs one script of `tests/vm/guest/` there, and judges what it
//! printed. Where shares, waits and placements are judged the machine counts instructions instead
//! of time (`--icount`): a busy host cannot disturb those.
//!
//! `SIBLING_VM_FULL=1` runs the long forms of the tests that load and unload again and again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "vm/machine.rs"]
mod machine;
#[path = "vm/output.rs"]
mod output;

#[path = "vm/bench.rs"]
mod bench;
#[path = "vm/cost.rs"]
mod cost;
#[path = "vm/fairness.rs"]
mod fairness;
#[path = "vm/life.rs"]
mod life;
#[path = "vm/live.rs"]
mod live;
#[path = "vm/newidle.rs"]
mod newidle;
#[path = "vm/refusals.rs"]
mod refusals;
#[path = "vm/starts.rs"]
mod starts;
#[path = "vm/wakeups.rs"]
mod wakeups;
