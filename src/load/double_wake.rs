// SPDX-License-Identifier: GPL-2.0-only
//! `load double-wake`: a task pinned to CPU A and a task free on A and B are woken by one
//! call, again and again; how often do both run on A while B is idle?
//!
//! The kind of error looked for: a scheduler that short-cuts the wake-up of single-CPU
//! tasks without claiming the idle CPU lets the other task claim the same one.

use super::child::{Children, Setup};
use super::clock::{now_ns, sleep_until, Burner};
use super::shared::{futex_wait, futex_wake, Shared};
use super::{affinity, cpulist, round, Report};
use anyhow::{bail, Result};
use clap::Args;
use serde::Serialize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

#[derive(Args, Debug, Clone)]
pub struct DoubleWakeArgs {
    /// CPU of the pinned task, and the other CPU the free task may use
    #[arg(long, value_name = "A,B", value_parser = cpulist::parse_pair)]
    cpus: [usize; 2],

    /// Number of wake-ups
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    rounds: u32,

    /// Microseconds both tasks work after each wake-up
    #[arg(long, default_value_t = 20, value_name = "US", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    run_us: u64,

    /// Microseconds of rest between two rounds, in which the CPUs become idle
    #[arg(long, default_value_t = 100, value_name = "US", value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    gap_us: u64,
}

#[derive(Serialize)]
struct DoubleWakeResult {
    load: &'static str,
    cpus: [usize; 2],
    rounds: u32,
    #[serde(flatten)]
    counts: Counts,
    /// `collisions` by rounds that count.
    collision_fraction: f64,
}

/// Rounds by what happened in them.
#[derive(Serialize, Debug, Default, PartialEq)]
struct Counts {
    /// Rounds in which the one call woke both tasks; only these count.
    both_woken: u64,
    /// Both tasks ran on A while B was idle.
    collisions: u64,
    /// Both ran on A, but B had the waker on it at that moment.
    same_cpu_other_busy: u64,
    /// The free task started on A and was on B when its work was done.
    moved_away: u64,
}

/// Where the tasks of one round were.
#[derive(Clone, Copy)]
struct Round {
    pinned: usize,
    free_start: usize,
    free_end: usize,
    waker: usize,
}

impl Counts {
    fn add(&mut self, round: Round, other: usize) {
        self.both_woken += 1;
        if round.free_start != round.pinned {
            return;
        }
        if round.free_end != round.pinned {
            self.moved_away += 1;
        } else if round.waker == other {
            self.same_cpu_other_busy += 1;
        } else {
            self.collisions += 1;
        }
    }
}

/// The round to run, on which both tasks sleep.
const GO: usize = 0;
/// Tasks that have finished the round; the waker sleeps on it.
const DONE: usize = 1;
/// Value of GO that ends the tasks.
const QUIT: u32 = u32::MAX;

/// Memory of the three processes.
struct Board {
    futexes: Shared<AtomicU32>,
    /// CPUs: pinned task, free task at its start and at its end.
    cpus: Shared<AtomicU64>,
    /// The four fields of [`Counts`].
    counts: Shared<AtomicU64>,
}

pub fn run(args: &DoubleWakeArgs, grace: Duration) -> Result<Report> {
    let [a, b] = args.cpus;
    affinity::require_allowed("--cpus", &args.cpus)?;
    if a == b {
        bail!("--cpus {a},{b} names one CPU twice: the free task needs another one, name two");
    }
    let mut rest = affinity::allowed()?;
    rest.retain(|cpu| !args.cpus.contains(cpu));
    let board = Board {
        futexes: Shared::new(2)?,
        cpus: Shared::new(3)?,
        counts: Shared::new(4)?,
    };
    let burner = Burner::calibrate();
    let run_ns = args.run_us * 1000;
    let mut children = Children::new(3, Duration::ZERO, grace)?;
    children.spawn("sib-dw-pinned", &Setup::on(&[a]), |_| {
        obey(&board, |board| {
            board.cpus[0].store(affinity::current_cpu() as u64, Relaxed);
            burner.burn_ns(run_ns);
        })
    })?;
    children.spawn("sib-dw-free", &Setup::on(&args.cpus), |_| {
        obey(&board, |board| {
            board.cpus[1].store(affinity::current_cpu() as u64, Relaxed);
            burner.burn_ns(run_ns);
            board.cpus[2].store(affinity::current_cpu() as u64, Relaxed);
        })
    })?;
    // The waker stays off A and B where there are other CPUs.
    children.spawn("sib-dw-waker", &Setup::on(&rest), |_| wake(&board, args))?;
    children.start()?;
    children.finish()?;
    report(args, &board)
}

/// One of the two tasks: does `work` in each round.
fn obey(board: &Board, work: impl Fn(&Board)) -> Result<()> {
    let mut seen = 0;
    loop {
        while board.futexes[GO].load(Acquire) == seen {
            futex_wait(&board.futexes[GO], seen, None);
        }
        seen = board.futexes[GO].load(Acquire);
        if seen == QUIT {
            return Ok(());
        }
        work(board);
        if board.futexes[DONE].fetch_add(1, SeqCst) == 1 {
            futex_wake(&board.futexes[DONE], 1);
        }
    }
}

/// The waker: one call per round wakes both tasks.
fn wake(board: &Board, args: &DoubleWakeArgs) -> Result<()> {
    let mut counts = Counts::default();
    for number in 1..=args.rounds {
        sleep_until(now_ns() + args.gap_us * 1000)?;
        board.futexes[DONE].store(0, SeqCst);
        let waker = affinity::current_cpu();
        board.futexes[GO].store(number, Release);
        let woken = futex_wake(&board.futexes[GO], 2);
        loop {
            let done = board.futexes[DONE].load(SeqCst);
            if done >= 2 {
                break;
            }
            futex_wait(&board.futexes[DONE], done, None);
        }
        if woken == 2 {
            let [pinned, free_start, free_end] =
                [0, 1, 2].map(|i| board.cpus[i].load(Relaxed) as usize);
            counts.add(
                Round {
                    pinned,
                    free_start,
                    free_end,
                    waker,
                },
                args.cpus[1],
            );
        }
    }
    board.futexes[GO].store(QUIT, Release);
    futex_wake(&board.futexes[GO], 2);
    let Counts {
        both_woken,
        collisions,
        same_cpu_other_busy,
        moved_away,
    } = counts;
    let values = [both_woken, collisions, same_cpu_other_busy, moved_away];
    for (word, value) in board.counts.iter().zip(values) {
        word.store(value, Relaxed);
    }
    Ok(())
}

fn report(args: &DoubleWakeArgs, board: &Board) -> Result<Report> {
    let word = |i: usize| board.counts[i].load(Relaxed);
    let counts = Counts {
        both_woken: word(0),
        collisions: word(1),
        same_cpu_other_busy: word(2),
        moved_away: word(3),
    };
    let fraction = counts.collisions as f64 / counts.both_woken.max(1) as f64;
    let text = format!(
        "{} double wake-ups on CPUs {} and {}: {} times both on CPU {} with the other idle ({:.3} %), \
         {} times with the other busy, {} times moved away",
        counts.both_woken,
        args.cpus[0],
        args.cpus[1],
        counts.collisions,
        args.cpus[0],
        fraction * 100.0,
        counts.same_cpu_other_busy,
        counts.moved_away
    );
    Report::new(
        text,
        &DoubleWakeResult {
            load: "double-wake",
            cpus: args.cpus,
            rounds: args.rounds,
            counts,
            collision_fraction: round(fraction, 6),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_classified() {
        let mut counts = Counts::default();
        let mut add = |free_start, free_end, waker| {
            counts.add(
                Round {
                    pinned: 2,
                    free_start,
                    free_end,
                    waker,
                },
                3,
            );
        };
        add(3, 3, 0); // apart
        add(2, 2, 0); // together, the other CPU idle
        add(2, 2, 2); // together, waker on the same CPU, the other CPU idle
        add(2, 2, 3); // together, waker on the other CPU
        add(2, 3, 0); // moved away in time
        let want = Counts {
            both_woken: 5,
            collisions: 2,
            same_cpu_other_busy: 1,
            moved_away: 1,
        };
        assert_eq!(counts, want);
    }

    #[test]
    fn one_cpu_twice_is_refused() {
        let cpu = affinity::allowed().unwrap()[0];
        let args = DoubleWakeArgs {
            cpus: [cpu, cpu],
            rounds: 1,
            run_us: 1,
            gap_us: 1,
        };
        assert!(run(&args, Duration::from_secs(1)).is_err());
    }
}
