// SPDX-License-Identifier: GPL-2.0-only
//! `load hogs`: processes that never sleep, their shares of the CPUs, and on how many
//! CPUs and cores they are.
//!
//! CPU time comes from each process's CPU clock, the same counter as field 1 of
//! /proc/PID/schedstat but brought up to date on reading. A sample is one read of
//! /proc per hog; the sampler itself needs a CPU for that long.

use super::child::{Children, Setup};
use super::clock::{cpu_ns_of, now_ns, secs_to_ns, sleep_until, spin};
use super::cpulist::CpuList;
use super::hog_watch::{migrations_of, wait_ns_of, Tally, TallyResult, Watch};
use super::{affinity, parse_seconds, place, round, Report};
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

#[derive(Args, Debug, Clone)]
pub struct HogsArgs {
    /// Number of hogs
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    n: u32,

    /// Length of the measured window, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,

    /// Nice values, dealt out to the hogs in turn (such as 0,5)
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Vec<i32>,

    /// Restrict all hogs to these CPUs
    #[arg(long, value_name = "CPUS", conflicts_with = "pin_each")]
    pin: Option<CpuList>,

    /// Pin each hog to one of these CPUs, dealt out in turn
    #[arg(long, value_name = "CPUS")]
    pin_each: Option<CpuList>,

    /// Milliseconds between two samples of where the hogs are (0 = no samples)
    #[arg(long, default_value_t = 20, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=60_000))]
    sample_ms: u64,

    /// Milliseconds the hogs run before the measured window starts
    #[arg(long, default_value_t = 500, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=600_000))]
    settle_ms: u64,
}

/// One hog over the measured window.
#[derive(Serialize, Debug, Clone)]
struct Hog {
    pid: i32,
    nice: i32,
    cpu_ns: u64,
    wait_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    migrations: Option<u64>,
    /// CPU time as a fraction of the window.
    share: f64,
}

#[derive(Serialize)]
struct HogsResult {
    load: &'static str,
    n: u32,
    window_ns: u64,
    hogs: Vec<Hog>,
    share_min: f64,
    share_max: f64,
    /// Largest by smallest share; null if a hog did not run at all.
    share_ratio: Option<f64>,
    #[serde(flatten)]
    tally: TallyResult,
}

/// Counters of one hog at one moment.
struct Snapshot {
    at_ns: u64,
    cpu_ns: u64,
    wait_ns: u64,
    migrations: Option<u64>,
}

impl Snapshot {
    fn of(pid: i32) -> Result<Self> {
        let migrations = migrations_of(pid);
        let wait_ns = wait_ns_of(pid)?;
        let cpu_ns = cpu_ns_of(pid).with_context(|| {
            format!("reading the CPU time of hog {pid} failed: it was ended from outside, run the load again")
        })?;
        Ok(Self {
            at_ns: now_ns(),
            cpu_ns,
            wait_ns,
            migrations,
        })
    }
}

pub fn run(args: &HogsArgs, grace: Duration) -> Result<Report> {
    let cpus = args.pin.as_ref().or(args.pin_each.as_ref());
    if let Some(cpus) = cpus {
        let option = if args.pin.is_some() {
            "--pin"
        } else {
            "--pin-each"
        };
        affinity::require_allowed(option, &cpus.0)?;
    }
    let cores: BTreeMap<usize, usize> = place::read(Path::new(place::SYSFS))?
        .iter()
        .map(|p| (p.cpu, p.core))
        .collect();
    let settle_ns = args.settle_ms * 1_000_000;
    let length = Duration::from_nanos(settle_ns + secs_to_ns(args.seconds));
    let mut children = Children::new(args.n as usize, length, grace)?;
    let mut pids = Vec::new();
    for i in 0..args.n as usize {
        pids.push(children.spawn("sib-hog", &setup_of(args, i), |_| loop {
            spin(1 << 30);
        })?);
    }
    let watches = pids
        .iter()
        .map(|&p| Watch::new(p))
        .collect::<Result<Vec<_>>>()?;
    let start = children.start()? + settle_ns;
    sleep_until(start)?;
    let before = pids
        .iter()
        .map(|&p| Snapshot::of(p))
        .collect::<Result<Vec<_>>>()?;
    let end = before.last().map_or(start, |s| s.at_ns) + secs_to_ns(args.seconds);
    let tally = sample(args.sample_ms * 1_000_000, end, &watches, &cores)?;
    let after = pids
        .iter()
        .map(|&p| Snapshot::of(p))
        .collect::<Result<Vec<_>>>()?;
    children.reap_ended(Duration::ZERO)?;
    drop(children);

    let hogs: Vec<Hog> = (0..pids.len())
        .map(|i| {
            hog(
                pids[i],
                setup_of(args, i).nice.unwrap_or(0),
                &before[i],
                &after[i],
            )
        })
        .collect();
    report(args, hogs, tally)
}

/// Mask and nice value of hog number `i`.
fn setup_of(args: &HogsArgs, i: usize) -> Setup {
    let cpus = match (&args.pin, &args.pin_each) {
        (Some(all), _) => all.0.clone(),
        (None, Some(each)) => vec![each.0[i % each.0.len()]],
        (None, None) => vec![],
    };
    let nice = (!args.nice.is_empty()).then(|| args.nice[i % args.nice.len()]);
    Setup { cpus, nice }
}

/// Samples the hogs every `every_ns` until `end_ns`.
fn sample(
    every_ns: u64,
    end_ns: u64,
    watches: &[Watch],
    cores: &BTreeMap<usize, usize>,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut next = now_ns() + every_ns;
    while every_ns > 0 && next < end_ns {
        sleep_until(next)?;
        let seen = watches
            .iter()
            .map(Watch::sample)
            .collect::<Result<Vec<_>>>()?;
        let cpus: Vec<usize> = seen.into_iter().flatten().collect();
        tally.add(&cpus, |cpu| cores.get(&cpu).copied().unwrap_or(cpu));
        // A late sampler leaves samples out instead of bunching them.
        next = (next + every_ns).max(now_ns());
    }
    sleep_until(end_ns)?;
    Ok(tally)
}

fn hog(pid: i32, nice: i32, a: &Snapshot, b: &Snapshot) -> Hog {
    let cpu_ns = b.cpu_ns.saturating_sub(a.cpu_ns);
    Hog {
        pid,
        nice,
        cpu_ns,
        wait_ns: b.wait_ns.saturating_sub(a.wait_ns),
        migrations: b
            .migrations
            .zip(a.migrations)
            .map(|(b, a)| b.saturating_sub(a)),
        share: round(
            cpu_ns as f64 / b.at_ns.saturating_sub(a.at_ns).max(1) as f64,
            5,
        ),
    }
}

fn report(args: &HogsArgs, hogs: Vec<Hog>, tally: Tally) -> Result<Report> {
    let (share_min, share_max, share_ratio) = spread(&hogs);
    let tally = tally.result();
    let ratio = share_ratio.map_or("none (a hog did not run)".into(), |r| format!("{r:.3}"));
    let cpus = tally
        .distinct_cpus_mode
        .map_or("not sampled".into(), |n| n.to_string());
    let text = format!(
        "{} hogs: share {:.1}-{:.1} %, ratio {ratio}; CPUs in use {cpus}; {} samples, \
         one per core {:.1} %, one per CPU {:.1} %",
        args.n,
        share_min * 100.0,
        share_max * 100.0,
        tally.samples,
        tally.samples_one_per_core * 100.0,
        tally.samples_all_distinct * 100.0
    );
    let window_ns = secs_to_ns(args.seconds);
    let load = "hogs";
    let n = args.n;
    Report::new(
        text,
        &HogsResult {
            load,
            n,
            window_ns,
            hogs,
            share_min,
            share_max,
            share_ratio,
            tally,
        },
    )
}

/// Smallest and largest share, and their ratio.
fn spread(hogs: &[Hog]) -> (f64, f64, Option<f64>) {
    let min = hogs.iter().map(|h| h.share).fold(f64::INFINITY, f64::min);
    let max = hogs.iter().map(|h| h.share).fold(0.0, f64::max);
    (min, max, (min > 0.0).then(|| round(max / min, 4)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snap(at_ns: u64, cpu_ns: u64, migrations: Option<u64>) -> Snapshot {
        Snapshot {
            at_ns,
            cpu_ns,
            wait_ns: 10,
            migrations,
        }
    }

    #[test]
    fn shares_and_their_ratio() {
        let a = hog(1, 0, &snap(0, 100, Some(3)), &snap(1000, 850, Some(5)));
        let b = hog(2, 5, &snap(0, 0, None), &snap(1000, 250, Some(9)));
        assert_eq!((a.share, a.migrations, a.wait_ns), (0.75, Some(2), 0));
        assert_eq!((b.share, b.migrations), (0.25, None));
        assert_eq!(spread(&[a.clone(), b]), (0.25, 0.75, Some(3.0)));
        let starved = hog(3, 0, &snap(0, 7, None), &snap(1000, 7, None));
        assert_eq!(spread(&[a, starved]), (0.0, 0.75, None));
    }

    #[test]
    fn nice_and_cpus_are_dealt_in_turn() {
        let mut args = HogsArgs {
            n: 3,
            seconds: 1.0,
            nice: vec![0, 5],
            pin: None,
            pin_each: Some(CpuList(vec![4, 6])),
            sample_ms: 0,
            settle_ms: 0,
        };
        let got: Vec<_> = (0..3)
            .map(|i| setup_of(&args, i))
            .map(|s| (s.cpus, s.nice))
            .collect();
        assert_eq!(
            got,
            [(vec![4], Some(0)), (vec![6], Some(5)), (vec![4], Some(0))]
        );
        args.pin_each = None;
        args.pin = Some(CpuList(vec![4, 6]));
        args.nice.clear();
        let s = setup_of(&args, 1);
        assert_eq!((s.cpus, s.nice), (vec![4, 6], None));
    }
}
