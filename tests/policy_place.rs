// SPDX-License-Identifier: GPL-2.0-only
//! Which CPU a waking or new task goes to, on machines of all kinds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod native_common;

#[path = "policy_place/beyond.rs"]
mod beyond;
#[path = "policy_place/claims.rs"]
mod claims;
#[path = "policy_place/fork.rs"]
mod fork;
#[path = "policy_place/llc.rs"]
mod llc;
#[path = "policy_place/machines.rs"]
mod machines;
#[path = "policy_place/masks.rs"]
mod masks;
#[path = "policy_place/random.rs"]
mod random;
#[path = "policy_place/target.rs"]
mod target;
