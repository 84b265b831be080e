// SPDX-License-Identifier: GPL-2.0-only
//! Small load generators that measure themselves (`scx_sibling load NAME`).
//!
//! Every load follows one plan: the parent forks the working processes, pins
//! them, opens a start gate and then sleeps until they are done; the workers
//! keep their figures in memory shared with the parent. So nothing but the load
//! runs while it is measured, which matters most where virtual time is the
//! number of instructions executed (QEMU's `-icount`).
//!
//! All loads end by themselves. The workers are killed by the kernel when the
//! parent dies, whatever killed it.

mod affinity;
mod child;
mod clock;
mod cpulist;
mod double_wake;
mod forks;
mod hog_watch;
mod hogs;
mod messages;
mod pipe;
mod place;
mod rr;
mod rt_hog;
mod shared;
mod sleepers;
mod stats;
mod waiter;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// Arguments of `scx_sibling load`.
#[derive(Args, Debug, Clone)]
pub struct LoadArgs {
    #[command(subcommand)]
    load: Load,

    /// Print one JSON object instead of one line of text
    #[arg(long, global = true)]
    json: bool,

    /// Seconds a load may need beyond its own duration before it is given up
    ///
    /// Loads that count rounds instead of seconds must finish within this time.
    #[arg(long, global = true, default_value = "120", value_name = "S", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
}

/// The loads, one per file.
#[derive(Subcommand, Debug, Clone)]
enum Load {
    /// Two processes hand one byte to and fro over two pipes
    Pipe(pipe::PipeArgs),
    /// Processes that never sleep; shows their shares and on which CPUs they are
    Hogs(hogs::HogsArgs),
    /// A periodic sleeper; shows how late it is woken
    Waiter(waiter::WaiterArgs),
    /// Many processes that run and sleep for short times by turns
    Sleepers(sleepers::SleepersArgs),
    /// Message threads that wake their workers; shows wake-up latency
    Messages(messages::MessagesArgs),
    /// TCP request/response over loopback, one byte each way
    Rr(rr::RrArgs),
    /// Wakes a pinned and a free task at once; counts the rounds in which they share a CPU
    DoubleWake(double_wake::DoubleWakeArgs),
    /// Forks, exits and waits as fast as it can
    Forks(forks::ForksArgs),
    /// A SCHED_FIFO process that takes one CPU away
    RtHog(rt_hog::RtHogArgs),
}

/// What a load found out: a line for people and an object for programs.
struct Report {
    text: String,
    json: serde_json::Value,
}

impl Report {
    /// Couples `text` with the JSON form of `value`.
    fn new<T: Serialize>(text: String, value: &T) -> Result<Self> {
        let json = serde_json::to_value(value)
            .context("turning the result into JSON failed: report this as a bug, and leave out --json meanwhile")?;
        Ok(Self { text, json })
    }
}

/// Runs the load that `args` name and prints its result on stdout.
pub fn run(args: &LoadArgs) -> Result<()> {
    let grace = Duration::from_secs(args.timeout.into());
    let report = match &args.load {
        Load::Pipe(a) => pipe::run(a, grace),
        Load::Hogs(a) => hogs::run(a, grace),
        Load::Waiter(a) => waiter::run(a, grace),
        Load::Sleepers(a) => sleepers::run(a, grace),
        Load::Messages(a) => messages::run(a, grace),
        Load::Rr(a) => rr::run(a, grace),
        Load::DoubleWake(a) => double_wake::run(a, grace),
        Load::Forks(a) => forks::run(a, grace),
        Load::RtHog(a) => rt_hog::run(a, grace),
    }?;
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", report.json)
    } else {
        writeln!(out, "{}", report.text)
    }
    .context(
        "printing the result on stdout failed: is the reader of the pipe gone or the disk full?",
    )
}

/// Has this machine a pair of CPUs for a place of `load pipe`?
pub fn has_place(name: &str) -> bool {
    <place::Place as clap::ValueEnum>::from_str(name, false)
        .is_ok_and(|place| place::find_pair(place).is_ok())
}

/// Rounds to `digits` decimals, so that the JSON stays readable.
fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

/// Reads a duration in seconds from the command line: 0.001 to 3600.
fn parse_seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.001..=3600.0).contains(&s) => Ok(s),
        _ => Err("give seconds from 0.001 to 3600, such as 2 or 0.5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        load: LoadArgs,
    }

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_is_accepted_behind_the_load() {
        let cli = Cli::try_parse_from(["x", "hogs", "-n", "3", "--nice", "0,5,-2", "--json"]);
        assert!(cli.unwrap().load.json);
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(parse_seconds("0.5"), Ok(0.5));
        for bad in ["0", "-1", "nan", "inf", "1e9", "x", ""] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn round_keeps_the_asked_decimals() {
        assert_eq!(round(1.23456, 3), 1.235);
        assert_eq!(round(-0.5, 0), -1.0);
    }
}
