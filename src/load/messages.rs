// SPDX-License-Identifier: GPL-2.0-only
//! `load messages`: message threads that wake their workers, after the idea of schbench.
//!
//! Each group is one process: a message thread and its workers. A worker that is done
//! reports, is noted by the message thread, gets the time stamped and is woken; when it
//! runs it takes the difference as its wake-up latency, works, and reports again.

use super::child::{Children, Setup};
use super::clock::{now_ns, Burner};
use super::shared::{futex_wait, futex_wake, Shared};
use super::stats::{Hist, Summary, HIST_WORDS};
use super::{parse_seconds, round, Report};
use anyhow::{bail, Context, Result};
use clap::Args;
use serde::Serialize;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::thread;
use std::time::Duration;

/// Most workers in all groups together; each takes 36 kB for its histogram.
const MAX_WORKERS: u32 = 4096;
/// How long the message thread sleeps before it looks whether the time is up.
const LOOK_UP: Duration = Duration::from_millis(50);

#[derive(Args, Debug, Clone)]
pub struct MessagesArgs {
    /// Number of message threads
    #[arg(long, default_value_t = 2, value_name = "G", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WORKERS)))]
    groups: u32,

    /// Workers of each message thread
    #[arg(long, default_value_t = 4, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WORKERS)))]
    workers: u32,

    /// Microseconds of work per request
    #[arg(long, default_value_t = 20, value_name = "US", value_parser = clap::value_parser!(u64).range(..=60_000_000))]
    work_us: u64,

    /// Length of the run, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
}

#[derive(Serialize)]
struct MessagesResult {
    load: &'static str,
    groups: u32,
    workers: u32,
    work_us: u64,
    seconds: f64,
    requests_per_s: f64,
    /// Wake-up latency; its `count` is the number of requests.
    #[serde(flatten)]
    latency: Summary,
}

/// States of a worker, kept in the word it sleeps on.
const ASKING: u32 = 0;
const WOKEN: u32 = 1;
const QUIT: u32 = 2;

#[derive(Default)]
struct Worker {
    state: AtomicU32,
    woken_ns: AtomicU64,
}

/// What the threads of one group share.
struct Group {
    workers: Vec<Worker>,
    /// Grows with each report; the message thread sleeps on it.
    reports: AtomicU32,
    /// 1 while the message thread sleeps or is about to.
    messenger_sleeps: AtomicU32,
    end_ns: u64,
}

pub fn run(args: &MessagesArgs, grace: Duration) -> Result<Report> {
    let per_group = args.workers as usize;
    let total = args.groups as usize * per_group;
    if total > MAX_WORKERS as usize {
        bail!(
            "{} groups of {} workers are {total} workers, more than the {MAX_WORKERS} there is room for: \
             lower --groups or --workers",
            args.groups,
            args.workers
        );
    }
    let hists = Shared::<AtomicU64>::new(total * HIST_WORDS)?;
    let burner = Burner::calibrate();
    let length = Duration::from_secs_f64(args.seconds);
    let mut children = Children::new(args.groups as usize, length, grace)?;
    for g in 0..args.groups as usize {
        let own = &hists[g * per_group * HIST_WORDS..(g + 1) * per_group * HIST_WORDS];
        children.spawn("sib-messages", &Setup::default(), |end_ns| {
            run_group(per_group, args.work_us * 1000, burner, end_ns, own)
        })?;
    }
    children.start()?;
    children.finish()?;

    let latency = Summary::of(&hists, total);
    let rate = latency.count as f64 / args.seconds;
    let text = format!(
        "{} message threads with {} workers: {rate:.0} requests/s, wake-up latency {}",
        args.groups,
        args.workers,
        latency.text()
    );
    Report::new(
        text,
        &MessagesResult {
            load: "messages",
            groups: args.groups,
            workers: args.workers,
            work_us: args.work_us,
            seconds: args.seconds,
            requests_per_s: round(rate, 1),
            latency,
        },
    )
}

/// One process: starts the workers and becomes their message thread.
fn run_group(
    workers: usize,
    work_ns: u64,
    burner: Burner,
    end_ns: u64,
    hists: &[AtomicU64],
) -> Result<()> {
    let group = Group {
        workers: (0..workers).map(|_| Worker::default()).collect(),
        reports: AtomicU32::new(0),
        messenger_sleeps: AtomicU32::new(0),
        end_ns,
    };
    thread::scope(|scope| {
        let started = start_workers(scope, &group, burner, work_ns, hists);
        if started.is_ok() {
            wake_workers(&group);
        }
        // Before the scope waits for the workers, whatever happened.
        for worker in &group.workers {
            worker.state.store(QUIT, SeqCst);
            futex_wake(&worker.state, 1);
        }
        started
    })
}

/// Starts the workers; they ask for work from the start.
fn start_workers<'scope, 'env>(
    scope: &'scope thread::Scope<'scope, 'env>,
    group: &'env Group,
    burner: Burner,
    work_ns: u64,
    hists: &'env [AtomicU64],
) -> Result<()> {
    for (i, worker) in group.workers.iter().enumerate() {
        let hist = Hist::at(hists, i);
        thread::Builder::new()
            .name("sib-worker".into())
            .stack_size(64 * 1024)
            .spawn_scoped(scope, move || work(group, worker, hist, burner, work_ns))
            .context(
                "starting a worker thread failed: use fewer --workers, or raise `ulimit -u`",
            )?;
    }
    Ok(())
}

/// The message thread: wakes whoever asks, sleeps when nobody does.
fn wake_workers(group: &Group) {
    while now_ns() < group.end_ns {
        let seen = group.reports.load(SeqCst);
        let mut woken = 0;
        for worker in group
            .workers
            .iter()
            .filter(|w| w.state.load(Acquire) == ASKING)
        {
            worker.woken_ns.store(now_ns(), SeqCst);
            worker.state.store(WOKEN, Release);
            futex_wake(&worker.state, 1);
            woken += 1;
        }
        if woken == 0 {
            group.messenger_sleeps.store(1, SeqCst);
            futex_wait(&group.reports, seen, Some(LOOK_UP));
            group.messenger_sleeps.store(0, SeqCst);
        }
    }
}

/// A worker: waits for its message, notes how long the wake-up took, works, asks again.
fn work(group: &Group, worker: &Worker, hist: Hist, burner: Burner, work_ns: u64) {
    loop {
        while worker.state.load(Acquire) == ASKING {
            futex_wait(&worker.state, ASKING, None);
        }
        if worker.state.load(Acquire) == QUIT {
            return;
        }
        hist.record(now_ns().saturating_sub(worker.woken_ns.load(SeqCst)));
        burner.burn_ns(work_ns);
        if worker
            .state
            .compare_exchange(WOKEN, ASKING, SeqCst, SeqCst)
            .is_err()
        {
            return;
        }
        group.reports.fetch_add(1, SeqCst);
        // Either this sees the flag, or the message thread sees the new count.
        if group.messenger_sleeps.load(SeqCst) == 1 {
            futex_wake(&group.reports, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted() {
        let args = MessagesArgs {
            groups: 2,
            workers: 3,
            work_us: 5,
            seconds: 0.1,
        };
        let json = run(&args, Duration::from_secs(20)).unwrap().json;
        assert!(json["count"].as_u64().unwrap() > 5, "{json}");
        assert!(json["p50_us"].as_f64() <= json["max_us"].as_f64(), "{json}");
    }

    #[test]
    fn too_many_workers_are_refused() {
        let args = MessagesArgs {
            groups: 4096,
            workers: 2,
            work_us: 5,
            seconds: 0.1,
        };
        assert!(run(&args, Duration::from_secs(1)).is_err());
    }
}
