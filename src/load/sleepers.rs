// SPDX-License-Identifier: GPL-2.0-only
//! `load sleepers`: processes that run and sleep for short times by turns.
//!
//! They keep `avg_idle` of their CPUs short: the load that new-idle balance must leave
//! alone.

use super::child::{Children, Setup};
use super::clock::{no_timer_slack, now_ns, sleep_until, Burner};
use super::cpulist::CpuList;
use super::shared::Shared;
use super::{affinity, parse_seconds, round, Report};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[derive(Args, Debug, Clone)]
pub struct SleepersArgs {
    /// Number of sleepers
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    n: u32,

    /// Microseconds of work between two sleeps
    #[arg(long, default_value_t = 30, value_name = "US", value_parser = clap::value_parser!(u64).range(..=60_000_000))]
    run_us: u64,

    /// Microseconds of each sleep
    #[arg(long, default_value_t = 100, value_name = "US", value_parser = clap::value_parser!(u64).range(1..=60_000_000))]
    sleep_us: u64,

    /// Length of the run, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,

    /// Restrict all sleepers to these CPUs
    #[arg(long, value_name = "CPUS")]
    pin: Option<CpuList>,
}

#[derive(Serialize)]
struct SleepersResult {
    load: &'static str,
    n: u32,
    run_us: u64,
    sleep_us: u64,
    seconds: f64,
    /// Work-and-sleep rounds of all sleepers together.
    iterations: u64,
    /// Rounds of the sleeper that got the fewest.
    iterations_min: u64,
    iterations_per_s: f64,
    mean_late_us: f64,
    max_late_us: f64,
}

/// Words each sleeper keeps: rounds, summed lateness, largest lateness (ns).
const WORDS: usize = 3;

pub fn run(args: &SleepersArgs, grace: Duration) -> Result<Report> {
    let cpus = args.pin.as_ref().map_or(&[][..], |p| &p.0);
    affinity::require_allowed("--pin", cpus)?;
    let n = args.n as usize;
    let words = Shared::<AtomicU64>::new(n * WORDS)?;
    let burner = Burner::calibrate();
    let mut children = Children::new(n, Duration::from_secs_f64(args.seconds), grace)?;
    for i in 0..n {
        let own = &words[i * WORDS..(i + 1) * WORDS];
        children.spawn("sib-sleeper", &Setup::on(cpus), |end| {
            sleep_and_work(args, burner, end, own)
        })?;
    }
    children.start()?;
    children.finish()?;

    let column = |at: usize| {
        words
            .iter()
            .skip(at)
            .step_by(WORDS)
            .map(|w| w.load(Relaxed))
    };
    let iterations: u64 = column(0).sum();
    let mean = column(1).sum::<u64>() as f64 / iterations.max(1) as f64 / 1e3;
    let max = column(2).max().unwrap_or(0) as f64 / 1e3;
    let rate = iterations as f64 / args.seconds;
    let text = format!(
        "{n} sleepers: {iterations} rounds, {rate:.0} a second, late by {mean:.1} us on average, {max:.1} at most"
    );
    Report::new(
        text,
        &SleepersResult {
            load: "sleepers",
            n: args.n,
            run_us: args.run_us,
            sleep_us: args.sleep_us,
            seconds: args.seconds,
            iterations,
            iterations_min: column(0).min().unwrap_or(0),
            iterations_per_s: round(rate, 1),
            mean_late_us: round(mean, 3),
            max_late_us: round(max, 3),
        },
    )
}

/// One sleeper. It adds up in registers and stores its figures at the end.
fn sleep_and_work(args: &SleepersArgs, burner: Burner, end: u64, own: &[AtomicU64]) -> Result<()> {
    no_timer_slack()?;
    let (mut rounds, mut sum, mut max) = (0u64, 0u64, 0u64);
    let mut now = now_ns();
    while now < end {
        burner.burn_ns(args.run_us * 1000);
        let target = now_ns() + args.sleep_us * 1000;
        sleep_until(target)?;
        now = now_ns();
        let late = now.saturating_sub(target);
        rounds += 1;
        sum += late;
        max = max.max(late);
    }
    for (word, value) in own.iter().zip([rounds, sum, max]) {
        word.store(value, Relaxed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_lateness_are_reported() {
        let args = SleepersArgs {
            n: 2,
            run_us: 10,
            sleep_us: 200,
            seconds: 0.05,
            pin: None,
        };
        let json = run(&args, Duration::from_secs(20)).unwrap().json;
        assert!(json["iterations"].as_u64().unwrap() >= 2, "{json}");
        assert!(
            json["mean_late_us"].as_f64() <= json["max_late_us"].as_f64(),
            "{json}"
        );
    }
}
