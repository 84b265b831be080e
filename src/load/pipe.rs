// SPDX-License-Identifier: GPL-2.0-only
//! `load pipe`: two processes, two pipes, one byte each way.
//!
//! The idea is pipe-test, with which Mike Galbraith compared the kernel's wake-up
//! path over releases (linux-kernel, July 2014): next to no work, so almost pure
//! scheduling cost. One loop is two wake-ups and two sleeps.

use super::child::{Children, Setup};
use super::clock::now_ns;
use super::place::{find_pair, Place};
use super::shared::{os_error, Shared};
use super::{affinity, cpulist, round, Report};
use anyhow::{bail, Result};
use clap::Args;
use serde::Serialize;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[derive(Args, Debug, Clone)]
pub struct PipeArgs {
    /// How close the two processes are; the CPUs are found in sysfs
    #[arg(long, value_enum, default_value_t = Place::Unbound)]
    place: Place,

    /// Pin the processes to these CPUs instead (A,B; both may be the same)
    #[arg(long, value_name = "A,B", value_parser = cpulist::parse_pair, conflicts_with = "place")]
    cpus: Option<[usize; 2]>,

    /// Loops before the clock is started
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    warmup: u64,

    /// Loops that are timed
    #[arg(long, default_value_t = 3000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    loops: u64,
}

#[derive(Serialize)]
struct PipeResult {
    load: &'static str,
    /// A [`Place`], or "cpus" where the CPUs were named.
    place: serde_json::Value,
    /// CPU of each process; empty when unbound.
    cpus: Vec<usize>,
    warmup: u64,
    loops: u64,
    us_per_loop: f64,
    /// Thousands of loop halves (one-way hand-overs) per second, as pipe-test counts.
    khz: f64,
}

pub fn run(args: &PipeArgs, grace: Duration) -> Result<Report> {
    let pair = match args.cpus {
        Some(pair) => Some(pair),
        None => find_pair(args.place)?,
    };
    if let Some(pair) = &pair {
        affinity::require_allowed("--cpus", pair)?;
    }
    let ns = ping_pong(pair, args.warmup, args.loops, grace)?;
    let (us, khz) = figures(ns, args.loops);
    let place = match args.cpus {
        Some(_) => serde_json::Value::from("cpus"),
        None => serde_json::to_value(args.place)?,
    };
    let cpus = pair.map_or(vec![], |p| p.to_vec());
    let place_text = match &pair {
        Some([a, b]) => format!("{}, CPUs {a} and {b}", place.as_str().unwrap_or_default()),
        None => "unbound".into(),
    };
    let text = format!(
        "{us:.6} usecs/loop -- {khz:.1} KHz ({place_text}, {} loops)",
        args.loops
    );
    Report::new(
        text,
        &PipeResult {
            load: "pipe",
            place,
            cpus,
            warmup: args.warmup,
            loops: args.loops,
            us_per_loop: round(us, 6),
            khz: round(khz, 3),
        },
    )
}

/// Microseconds per loop and KHz. The figures published (avg 3.770737 usecs, 530.4 KHz)
/// show that pipe-test counts both hand-overs of a loop: 2 / 3.77 us = 530 KHz.
fn figures(ns: u64, loops: u64) -> (f64, f64) {
    let us = ns.max(1) as f64 / 1e3 / loops as f64;
    (us, 2e3 / us)
}

/// Runs the two processes; returns the nanoseconds `loops` loops took.
fn ping_pong(pair: Option<[usize; 2]>, warmup: u64, loops: u64, grace: Duration) -> Result<u64> {
    let (ping_in, pong_out) = pipe()?;
    let (pong_in, ping_out) = pipe()?;
    let took = Shared::<AtomicU64>::new(1)?;
    let setups = pair.map_or_else(Default::default, |p| p.map(|cpu| Setup::on(&[cpu])));
    let mut children = Children::new(2, Duration::ZERO, grace)?;
    children.spawn("sib-ping", &setups[0], |_| {
        let rounds = |n| -> Result<()> {
            for _ in 0..n {
                put(&ping_out)?;
                get(&ping_in)?;
            }
            Ok(())
        };
        rounds(warmup)?;
        let start = now_ns();
        rounds(loops)?;
        took[0].store(now_ns() - start, Relaxed);
        Ok(())
    })?;
    children.spawn("sib-pong", &setups[1], |_| {
        for _ in 0..warmup + loops {
            get(&pong_in)?;
            put(&pong_out)?;
        }
        Ok(())
    })?;
    children.start()?;
    children.finish()?;
    Ok(took[0].load(Relaxed))
}

/// A new pipe: its reading and its writing end.
fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for the two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        bail!("making a pipe failed: {}: raise `ulimit -n`", os_error());
    }
    // SAFETY: both descriptors are fresh and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

fn put(fd: &OwnedFd) -> Result<()> {
    let byte = 1u8;
    // SAFETY: writes one byte from a live variable.
    let n = unsafe { libc::write(fd.as_raw_fd(), std::ptr::from_ref(&byte).cast(), 1) };
    check(n, "writing to")
}

fn get(fd: &OwnedFd) -> Result<()> {
    let mut byte = 0u8;
    // SAFETY: reads one byte into a live variable.
    let n = unsafe { libc::read(fd.as_raw_fd(), std::ptr::from_mut(&mut byte).cast(), 1) };
    check(n, "reading from")
}

fn check(n: isize, what: &str) -> Result<()> {
    match n {
        1 => Ok(()),
        0 => bail!("{what} the pipe failed: the partner is gone: run the load again"),
        _ => bail!("{what} the pipe failed: {}: run the load again", os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_pipe_test() {
        let (us, khz) = figures(3_770_737_000, 1_000_000);
        assert!((us - 3.770737).abs() < 1e-9);
        assert_eq!(round(khz, 1), 530.4);
        assert!(figures(0, 1).1.is_finite());
    }

    #[test]
    fn bytes_go_round() {
        let ns = ping_pong(None, 5, 50, Duration::from_secs(20)).unwrap();
        assert!(ns > 0);
    }
}
