// SPDX-License-Identifier: GPL-2.0-only
//! `load rr`: TCP request/response over loopback, one byte each way.
//!
//! The idea is netperf's TCP_RR: a client sends a byte, a server answers with one, and
//! a transaction is a wake-up of each, with the network stack between them.

use super::child::{Children, Setup};
use super::clock::now_ns;
use super::shared::Shared;
use super::{affinity, parse_seconds, round, Report};
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[derive(Args, Debug, Clone)]
pub struct RrArgs {
    /// Number of client/server pairs
    #[arg(long, default_value_t = 1, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pairs: u32,

    /// Pin all clients and servers to this CPU
    #[arg(long, value_name = "CPU")]
    bind: Option<usize>,

    /// Length of the run, in seconds
    #[arg(long, default_value = "1", value_name = "S", value_parser = parse_seconds, conflicts_with = "transactions")]
    seconds: f64,

    /// Count this many transactions per pair instead of seconds
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    transactions: Option<u64>,

    /// Transactions per pair before the clock is started
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    warmup: u64,
}

#[derive(Serialize)]
struct RrResult {
    load: &'static str,
    pairs: u32,
    bind: Option<usize>,
    /// Timed transactions of all pairs together.
    transactions: u64,
    /// Sum of what each pair did per second.
    transactions_per_s: f64,
    /// Time of one transaction as a pair sees it.
    us_per_transaction: f64,
}

/// Words each pair keeps: transactions and the nanoseconds they took.
const WORDS: usize = 2;
/// Transactions between two looks at the clock.
const BATCH: u64 = 8;

pub fn run(args: &RrArgs, grace: Duration) -> Result<Report> {
    let cpus: Vec<usize> = args.bind.into_iter().collect();
    affinity::require_allowed("--bind", &cpus)?;
    let n = args.pairs as usize;
    let words = Shared::<AtomicU64>::new(n * WORDS)?;
    let run = if args.transactions.is_some() {
        0.0
    } else {
        args.seconds
    };
    let mut children = Children::new(2 * n, Duration::from_secs_f64(run), grace)?;
    let setup = Setup::on(&cpus);
    for i in 0..n {
        // Listening starts before the client exists; the kernel keeps its connection
        // until the server accepts it.
        let (listener, address) = listen()?;
        children.spawn("sib-rr-server", &setup, move |_| serve(&listener))?;
        let own = &words[i * WORDS..(i + 1) * WORDS];
        children.spawn("sib-rr-client", &setup, |end| {
            let (done, ns) = request(address, args.warmup, args.transactions, end)?;
            own[0].store(done, Relaxed);
            own[1].store(ns, Relaxed);
            Ok(())
        })?;
    }
    children.start()?;
    children.finish()?;

    let pairs: Vec<(u64, u64)> = words
        .chunks(WORDS)
        .map(|w| (w[0].load(Relaxed), w[1].load(Relaxed)))
        .collect();
    let (transactions, rate, us) = figures(&pairs);
    let place = args
        .bind
        .map_or("unbound".into(), |c| format!("bound to CPU {c}"));
    let text = format!("{n} TCP pairs, {place}: {rate:.1} transactions/s, {us:.3} us each");
    Report::new(
        text,
        &RrResult {
            load: "rr",
            pairs: args.pairs,
            bind: args.bind,
            transactions,
            transactions_per_s: round(rate, 2),
            us_per_transaction: round(us, 4),
        },
    )
}

/// Transactions, their rate, and microseconds of one, from each pair's count and ns.
fn figures(pairs: &[(u64, u64)]) -> (u64, f64, f64) {
    let count: u64 = pairs.iter().map(|p| p.0).sum();
    let rate = pairs
        .iter()
        .map(|p| p.0 as f64 * 1e9 / p.1.max(1) as f64)
        .sum();
    let ns: u64 = pairs.iter().map(|p| p.1).sum();
    (count, rate, ns as f64 / 1e3 / count.max(1) as f64)
}

fn listen() -> Result<(TcpListener, SocketAddr)> {
    const HINT: &str =
        "bring the loopback interface up (`ip link set lo up`) and free ports if all are taken";
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .with_context(|| format!("listening on 127.0.0.1 failed: {HINT}"))?;
    let address = listener
        .local_addr()
        .with_context(|| format!("reading the port listened on failed: {HINT}"))?;
    Ok((listener, address))
}

/// The server: answers each byte until the client hangs up.
fn serve(listener: &TcpListener) -> Result<()> {
    let (mut stream, _) = listener
        .accept()
        .context("accepting the client failed: raise `ulimit -n` and run the load again")?;
    stream
        .set_nodelay(true)
        .context("switching TCP_NODELAY on failed: run the load again")?;
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => return Ok(()),
            Ok(_) => stream.write_all(&byte),
            Err(err) => Err(err),
        }
        .context(
            "answering a request failed: the client was ended from outside, run the load again",
        )?;
    }
}

/// The client: returns its timed transactions and the nanoseconds they took.
fn request(addr: SocketAddr, warmup: u64, count: Option<u64>, end_ns: u64) -> Result<(u64, u64)> {
    let mut stream = TcpStream::connect(addr).with_context(|| {
        format!(
            "connecting to {addr} failed: bring the loopback interface up (`ip link set lo up`)"
        )
    })?;
    stream
        .set_nodelay(true)
        .context("switching TCP_NODELAY on failed: run the load again")?;
    let mut exchange = |times: u64| -> Result<()> {
        let mut byte = [1];
        for _ in 0..times {
            stream
                .write_all(&byte)
                .and_then(|()| stream.read_exact(&mut byte))
                .context(
                    "a request failed: the server was ended from outside, run the load again",
                )?;
        }
        Ok(())
    };
    exchange(warmup)?;
    let start = now_ns();
    if let Some(count) = count {
        exchange(count)?;
        return Ok((count, now_ns() - start));
    }
    let mut done = 0;
    loop {
        exchange(BATCH)?;
        done += BATCH;
        let now = now_ns();
        if now >= end_ns {
            return Ok((done, now - start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_pairs() {
        // 1000 in 10 ms and 1000 in 20 ms: 100 000/s + 50 000/s, 15 us on average.
        let (count, rate, us) = figures(&[(1000, 10_000_000), (1000, 20_000_000)]);
        assert_eq!((count, round(rate, 3), us), (2000, 150_000.0, 15.0));
        assert_eq!(figures(&[(0, 0)]), (0, 0.0, 0.0));
    }

    #[test]
    fn a_counted_run_does_what_was_asked() {
        let args = RrArgs {
            pairs: 2,
            bind: None,
            seconds: 1.0,
            transactions: Some(20),
            warmup: 2,
        };
        let json = run(&args, Duration::from_secs(20)).unwrap().json;
        assert_eq!(json["transactions"], 40, "{json}");
    }
}
