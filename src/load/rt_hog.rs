// SPDX-License-Identifier: GPL-2.0-only
//! `load rt-hog`: a SCHED_FIFO process that takes one CPU away from everybody else.
//!
//! Kernels that throttle real-time tasks (kernel.sched_rt_runtime_us, 950000 of 1000000
//! by default) or run a deadline server for the fair and ext classes leave the others
//! about 5 % of the CPU; this load does not change that and reports the share it got.

use super::child::{Children, Setup};
use super::clock::{now_ns, own_cpu_ns, Burner};
use super::shared::Shared;
use super::{affinity, parse_seconds, round, Report};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Nanoseconds of spinning between two looks at the clock.
const STEP_NS: u64 = 100_000;

#[derive(Args, Debug, Clone)]
pub struct RtHogArgs {
    /// CPU to take
    #[arg(long, value_name = "CPU")]
    cpu: usize,

    /// Length of the run, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,

    /// SCHED_FIFO priority
    #[arg(long, default_value_t = 50, value_name = "PRIO", value_parser = clap::value_parser!(i32).range(1..=99))]
    prio: i32,
}

#[derive(Serialize)]
struct RtHogResult {
    load: &'static str,
    cpu: usize,
    prio: i32,
    wall_ns: u64,
    cpu_ns: u64,
    /// CPU time by wall time.
    share: f64,
    /// Longest time between two looks at the clock, 0.1 ms of work apart.
    max_gap_us: f64,
}

pub fn run(args: &RtHogArgs, grace: Duration) -> Result<Report> {
    affinity::require_allowed("--cpu", &[args.cpu])?;
    let words = Shared::<AtomicU64>::new(3)?;
    let burner = Burner::calibrate();
    let mut children = Children::new(1, Duration::from_secs_f64(args.seconds), grace)?;
    children.spawn("sib-rt-hog", &Setup::on(&[args.cpu]), |end| {
        affinity::set_fifo(args.prio)?;
        let (start, cpu_start) = (now_ns(), own_cpu_ns());
        let (mut now, mut max_gap) = (start, 0);
        while now < end {
            burner.burn_ns(STEP_NS);
            let last = std::mem::replace(&mut now, now_ns());
            max_gap = max_gap.max(now - last);
        }
        let values = [now - start, own_cpu_ns() - cpu_start, max_gap];
        for (word, value) in words.iter().zip(values) {
            word.store(value, Relaxed);
        }
        Ok(())
    })?;
    children.start()?;
    children.finish()?;

    let [wall_ns, cpu_ns, gap] = [0, 1, 2].map(|i| words[i].load(Relaxed));
    let share = round(cpu_ns as f64 / wall_ns.max(1) as f64, 4);
    let max_gap_us = round(gap as f64 / 1e3, 3);
    let text = format!(
        "SCHED_FIFO {} on CPU {}: {:.1} % of {:.3} s, longest gap {max_gap_us:.1} us",
        args.prio,
        args.cpu,
        share * 100.0,
        wall_ns as f64 / 1e9
    );
    let RtHogArgs { cpu, prio, .. } = *args;
    Report::new(
        text,
        &RtHogResult {
            load: "rt-hog",
            cpu,
            prio,
            wall_ns,
            cpu_ns,
            share,
            max_gap_us,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_cpu_is_refused() {
        let args = RtHogArgs {
            cpu: 60_000,
            seconds: 0.01,
            prio: 1,
        };
        let err = run(&args, Duration::from_secs(1))
            .err()
            .unwrap()
            .to_string();
        assert!(err.contains("--cpu names CPU 60000"), "{err}");
    }
}
