// SPDX-License-Identifier: GPL-2.0-only
//! Sets random tunables of the running scheduler at a rate, from two threads, and
//! checks from a third that no value is ever one that nobody set.
//!
//!     tune_storm SECONDS SETS_PER_SECOND
//!
//! Every value set to the tunables it flips reads the same in its two halves of
//! 14 bits, so a word mixed from two writes shows. Prints JSON.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::anyhow;
use anyhow::Result;
use scx_sibling::live::words::Words;
use scx_sibling::tunables::Settings;
use scx_sibling::tunables::FEATURES;

/// What is flipped: all accept any value of the pattern.
const NAMES: [&str; 4] = [
    "migration_cost_ns.smt",
    "migration_cost_ns.llc",
    "migration_cost_ns.node",
    "wake.sync_run_ns",
];
const HALF_BITS: u32 = 14;

fn pattern(half: u64) -> u64 {
    half << HALF_BITS | half
}

fn torn(value: u64) -> bool {
    value != pattern(value & ((1 << HALF_BITS) - 1))
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn writer(seed: u64, end: Instant, per_second: u64, sets: &AtomicU64) -> Result<()> {
    let words = Words::running()?;
    let mut random = Random(seed);
    let start = Instant::now();
    let mut done = 0;
    while Instant::now() < end {
        let due = start.elapsed().as_secs_f64() * per_second as f64;
        while (done as f64) < due {
            let n = random.next();
            let name = NAMES[(n % NAMES.len() as u64) as usize];
            let value = pattern(n >> 32 & ((1 << HALF_BITS) - 1));
            let feature = FEATURES[(n >> 8) as usize % FEATURES.len()].name;
            let off = if n >> 16 & 1 == 0 { "NO_" } else { "" };
            words.update(|live| {
                Ok(live.apply(&[format!("{name}={value}"), format!("{off}{feature}")])?)
            })?;
            done += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    sets.fetch_add(done, Ordering::Relaxed);
    Ok(())
}

/// Reads until told to stop; returns how often and how many values were torn.
fn checker(stop: &AtomicBool) -> Result<(u64, u64)> {
    let words = Words::running()?;
    let (mut reads, mut bad) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        let live = words.read();
        for name in NAMES {
            let text = live.text(name).unwrap_or_default();
            bad += u64::from(text.parse().map_or(true, torn));
        }
        reads += 1;
        // Leaves the CPU to the load that the storm is to meet.
        if reads % 64 == 0 {
            thread::sleep(Duration::from_micros(200));
        }
    }
    Ok((reads, bad))
}

fn storm(seconds: u64, per_second: u64) -> Result<()> {
    let words = Words::running()?;
    let start: Vec<String> = NAMES.iter().map(|name| format!("{name}=0")).collect();
    words.update(|live| Ok(live.apply(&start)?))?;
    let (stop, sets) = (AtomicBool::new(false), AtomicU64::new(0));
    let end = Instant::now() + Duration::from_secs(seconds);
    let (reads, bad) = thread::scope(|scope| {
        let watch = scope.spawn(|| checker(&stop));
        let write = [1, 2].map(|seed| {
            let sets = &sets;
            scope.spawn(move || writer(seed, end, per_second / 2, sets))
        });
        let written: Result<Vec<()>> = write
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a writer died")))
            })
            .collect();
        stop.store(true, Ordering::Relaxed);
        let seen = watch
            .join()
            .unwrap_or_else(|_| Err(anyhow!("the checker died")));
        written.and(seen)
    })?;
    words.update(|live| {
        *live = Settings::default();
        Ok(())
    })?;
    println!(
        "{{\"sets\":{},\"reads\":{reads},\"torn\":{bad}}}",
        sets.load(Ordering::Relaxed)
    );
    Ok(())
}

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let [seconds, per_second] = numbers[..] else {
        eprintln!("usage: tune_storm SECONDS SETS_PER_SECOND");
        return ExitCode::from(2);
    };
    match storm(seconds, per_second) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tune_storm: {error:#}");
            ExitCode::FAILURE
        }
    }
}
