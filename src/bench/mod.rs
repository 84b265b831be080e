// SPDX-License-Identifier: GPL-2.0-only
//! `scx_sibling bench`: schedulers against each other on real loads.
//!
//! A measurement is made of rounds: in each, every arm (a scheduler with its
//! settings) runs every load once. Arms are compared within rounds, so that what
//! drifts over the session meets all of them alike.

mod across;
pub mod arm;
pub mod budget;
pub mod case;
pub mod cli;
mod export;
pub mod flow;
pub mod host;
mod html;
pub mod judged;
pub mod loads;
mod nearest;
pub mod plan;
#[cfg(test)]
mod played;
pub mod result;
mod run;
mod seeds;
pub mod stats;
mod table;

pub use run::run;
