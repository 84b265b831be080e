// SPDX-License-Identifier: GPL-2.0-only
//! What a CPU about to idle, or a busy one evening out, fetches and what it leaves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod native_common;

#[path = "policy_newidle/busy.rs"]
mod busy;
#[path = "policy_newidle/dice.rs"]
mod dice;
#[path = "policy_newidle/estimates.rs"]
mod estimates;
#[path = "policy_newidle/gate.rs"]
mod gate;
#[path = "policy_newidle/taken.rs"]
mod taken;
#[path = "policy_newidle/walk.rs"]
mod walk;

use native_common::Machine;
use native_common::Shape;

/// The levels, nearest first.
const SMT: u32 = 0;
const CLUSTER: u32 = 1;
const LLC: u32 = 2;
const NODE: u32 = 3;
const SYSTEM: u32 = 4;

/// The nearest CPU that each level adds to CPU 0 on [`five_levels`].
const AT: [u32; 5] = [1, 2, 4, 8, 16];

/// Default migration costs by level.
const COST: [u64; 5] = [0, 25_000, 50_000, 250_000, 500_000];

/// Two nodes × two LLCs × two clusters × two SMT2 cores, every CPU running one task; CPU 0 is
/// about to idle and expects to stay so for long.
fn five_levels(changes: &[&str]) -> Machine {
    let mut m = Machine::new(&Shape::new(2, 2, 2, 2).clusters(2)).with(changes);
    m.idle_only(&[0]);
    m.state.avg_idle_ns = 1_000_000;
    m
}
