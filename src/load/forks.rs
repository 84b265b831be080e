// SPDX-License-Identifier: GPL-2.0-only
//! `load forks`: fork, exit, wait, as fast as it goes; what a parallel make or a shell
//! script does to a scheduler, without the work.

use super::child::{wait_for, Children, Setup};
use super::clock::now_ns;
use super::shared::{os_error, Shared};
use super::stats::{Hist, Summary, HIST_WORDS};
use super::{parse_seconds, round, Report};
use anyhow::{bail, Result};
use clap::Args;
use serde::Serialize;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

#[derive(Args, Debug, Clone)]
pub struct ForksArgs {
    /// Length of the run, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,

    /// Processes that fork at the same time
    #[arg(long, default_value_t = 1, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=1024))]
    parallel: u32,
}

#[derive(Serialize)]
struct ForksResult {
    load: &'static str,
    parallel: u32,
    seconds: f64,
    forks_per_s: f64,
    /// From before the fork until the exited child is reaped; its `count` is the forks.
    #[serde(flatten)]
    latency: Summary,
}

pub fn run(args: &ForksArgs, grace: Duration) -> Result<Report> {
    let n = args.parallel as usize;
    let hists = Shared::<AtomicU64>::new(n * HIST_WORDS)?;
    let mut children = Children::new(n, Duration::from_secs_f64(args.seconds), grace)?;
    for i in 0..n {
        let hist = Hist::at(&hists, i);
        children.spawn("sib-forks", &Setup::default(), |end| fork_until(end, hist))?;
    }
    children.start()?;
    children.finish()?;

    let latency = Summary::of(&hists, n);
    let rate = latency.count as f64 / args.seconds;
    let text = format!(
        "{n} forking processes: {rate:.0} forks/s, fork to reaped {}",
        latency.text()
    );
    Report::new(
        text,
        &ForksResult {
            load: "forks",
            parallel: args.parallel,
            seconds: args.seconds,
            forks_per_s: round(rate, 1),
            latency,
        },
    )
}

fn fork_until(end_ns: u64, hist: Hist) -> Result<()> {
    let mut start = now_ns();
    while start < end_ns {
        // SAFETY: the child does nothing but leave by _exit.
        let pid = unsafe { libc::fork() };
        match pid {
            0 => {
                // SAFETY: ends this process at once, without exit handlers.
                unsafe { libc::_exit(0) }
            }
            pid if pid > 0 => wait_for(pid)?,
            _ => bail!(
                "forking failed: {}: lower --parallel, or raise `ulimit -u`",
                os_error()
            ),
        };
        let now = now_ns();
        hist.record(now - start);
        start = now;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_are_counted() {
        let args = ForksArgs {
            seconds: 0.05,
            parallel: 2,
        };
        let json = run(&args, Duration::from_secs(20)).unwrap().json;
        assert!(json["count"].as_u64().unwrap() >= 2, "{json}");
    }
}
