// SPDX-License-Identifier: GPL-2.0-only
//! `scx_sibling monitor`: a line per interval from a running scheduler. It outlives
//! restarts and waits for a scheduler to come.

use std::time::Duration;
use std::time::Instant;

use anyhow::Result;

use super::client::may_come_back;
use super::client::Client;
use super::client::Ticks;
use super::line;
use super::sample::Metrics;
use crate::out;

/// How a monitor prints.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct MonitorArgs {
    /// Print a line every so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = crate::cli::seconds)]
    pub interval: Duration,
    /// Print JSON, an object per line with all counters and gauges
    #[arg(long)]
    pub json: bool,
    /// End after so many lines
    #[arg(long, value_name = "LINES")]
    pub count: Option<u64>,
}

/// Longest sleep: bounds how late Ctrl-C is obeyed.
const NAP: Duration = Duration::from_millis(100);
/// How often a scheduler is looked for.
const RETRY: Duration = Duration::from_secs(1);

/// One interval as a line, in words or as JSON.
///
/// # Errors
/// None that a caller could do anything about.
pub fn text(metrics: &Metrics, json: bool) -> Result<String> {
    if json {
        return Ok(serde_json::to_string(metrics)?);
    }
    Ok(line(&metrics.counters))
}

/// Prints until `stop` says so, nobody reads or all lines asked for are out.
///
/// # Errors
/// [`crate::exit::Failure::Privileges`] or [`crate::exit::Failure::Version`]; that nobody is
/// running is no failure.
pub fn run(args: &MonitorArgs, stop: impl Fn() -> bool) -> Result<()> {
    let mut lines = out::Stream::default();
    let mut printed = 0;
    let mut client: Option<Client> = None;
    let mut ticks = Ticks::new(Instant::now(), args.interval);
    let mut waiting = false;
    while !stop() && !lines.closed() && args.count.is_none_or(|count| printed < count) {
        let Some(connected) = &mut client else {
            match Client::connect() {
                Ok(new) => {
                    client = Some(new);
                    waiting = false;
                    ticks = Ticks::new(Instant::now(), args.interval);
                }
                Err(error) if may_come_back(&error) => {
                    if !waiting {
                        out::note(format_args!("{error:#}; waiting for it (Ctrl-C ends)"));
                    }
                    waiting = true;
                    nap(RETRY, &stop);
                }
                Err(error) => return Err(error),
            }
            continue;
        };
        if let Some(wait) = ticks.due_in(Instant::now()) {
            nap(wait, &stop);
            continue;
        }
        match connected.read() {
            Ok(metrics) => {
                lines.line(text(&metrics, args.json)?);
                printed += 1;
            }
            Err(error) if may_come_back(&error) => client = None,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sleeps for `time`, or until `stop` says so.
fn nap(time: Duration, stop: &impl Fn() -> bool) {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || stop() {
            return;
        }
        std::thread::sleep(left.min(NAP));
    }
}
