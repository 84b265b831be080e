// SPDX-License-Identifier: GPL-2.0-only
//! `load waiter`: a periodic sleeper and how late it gets its CPU.
//!
//! Lateness is the time between the moment asked for and the first instruction after
//! the sleep, as cyclictest measures it: timer, wake-up, and the wait for a CPU. The
//! times asked for are absolute, so a late wake-up does not shift the next one.

use super::child::{Children, Setup};
use super::clock::{no_timer_slack, now_ns, sleep_until, Burner};
use super::shared::Shared;
use super::stats::{Hist, Summary, HIST_WORDS};
use super::{affinity, parse_seconds, Report};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::str::FromStr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A CPU number, or any CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CpuChoice(Option<usize>);

impl FromStr for CpuChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("any", _) => Ok(Self(None)),
            (_, Ok(cpu)) => Ok(Self(Some(cpu))),
            _ => Err("give a CPU number or 'any'".into()),
        }
    }
}

#[derive(Args, Debug, Clone)]
pub struct WaiterArgs {
    /// CPU to pin the sleeper to, or "any"
    #[arg(long, value_name = "CPU|any")]
    cpu: CpuChoice,

    /// Microseconds from one wake-up to the next
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = clap::value_parser!(u64).range(10..=60_000_000))]
    period_us: u64,

    /// Microseconds of work after each wake-up
    #[arg(long, default_value_t = 50, value_name = "US", value_parser = clap::value_parser!(u64).range(..=60_000_000))]
    run_us: u64,

    /// Length of the run, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
}

#[derive(Serialize)]
struct WaiterResult {
    load: &'static str,
    /// Null where the sleeper was free.
    cpu: Option<usize>,
    period_us: u64,
    run_us: u64,
    seconds: f64,
    /// Wake-ups left out because the one before was too late or worked too long.
    missed: u64,
    #[serde(flatten)]
    lateness: Summary,
}

pub fn run(args: &WaiterArgs, grace: Duration) -> Result<Report> {
    let cpus: Vec<usize> = args.cpu.0.into_iter().collect();
    affinity::require_allowed("--cpu", &cpus)?;
    let hist = Shared::<AtomicU64>::new(HIST_WORDS)?;
    let missed = Shared::<AtomicU64>::new(1)?;
    let burner = Burner::calibrate();
    let (period_ns, run_ns) = (args.period_us * 1000, args.run_us * 1000);
    let mut children = Children::new(1, Duration::from_secs_f64(args.seconds), grace)?;
    children.spawn("sib-waiter", &Setup::on(&cpus), |end| {
        no_timer_slack()?;
        let lateness = Hist::at(&hist, 0);
        let mut target = now_ns() + period_ns;
        while target < end {
            sleep_until(target)?;
            lateness.record(now_ns().saturating_sub(target));
            burner.burn_ns(run_ns);
            let (next, left_out) = next_target(target, period_ns, now_ns());
            missed[0].fetch_add(left_out, Relaxed);
            target = next;
        }
        Ok(())
    })?;
    children.start()?;
    children.finish()?;

    let lateness = Summary::of(&hist, 1);
    let missed = missed[0].load(Relaxed);
    let place = args.cpu.0.map_or("any CPU".into(), |c| format!("CPU {c}"));
    let text = format!(
        "waiter on {place}: late by {}, {missed} periods missed",
        lateness.text()
    );
    Report::new(
        text,
        &WaiterResult {
            load: "waiter",
            cpu: args.cpu.0,
            period_us: args.period_us,
            run_us: args.run_us,
            seconds: args.seconds,
            missed,
            lateness,
        },
    )
}

/// The next wake-up after `target` that is not in the past at `now`, and how many lie
/// between the two.
fn next_target(target: u64, period: u64, now: u64) -> (u64, u64) {
    let skipped = now.saturating_sub(target) / period;
    (target + (skipped + 1) * period, skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_wake_ups_stay_on_the_grid() {
        assert_eq!(next_target(1000, 100, 1050), (1100, 0));
        assert_eq!(next_target(1000, 100, 1350), (1400, 3));
        assert_eq!(next_target(1000, 100, 900), (1100, 0));
    }

    #[test]
    fn cpu_or_any() {
        assert_eq!("any".parse(), Ok(CpuChoice(None)));
        assert_eq!("7".parse(), Ok(CpuChoice(Some(7))));
        assert!("-1".parse::<CpuChoice>().is_err());
    }
}
