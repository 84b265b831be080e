// SPDX-License-Identifier: GPL-2.0-only
//! scx_sibling: a sched_ext scheduler after the fair class's idle-sibling
//! selection, with new-idle balancing that counts what a move costs.
//!
//! The binary is a thin shell over these modules; tests and other tools link
//! them directly.

pub mod bench;
pub mod check;
pub mod cli;
pub mod config_file;
pub mod exit;
pub mod exit_record;
pub mod generate;
pub mod journal;
pub mod libbpf_log;
pub mod live;
pub mod load;
pub mod loader;
pub mod out;
pub mod proc_stat;
pub mod record;
pub mod run;
pub mod save;
pub mod skel;
pub mod stats;
pub mod status;
pub mod topology;
pub mod tunables;
pub mod tune;
