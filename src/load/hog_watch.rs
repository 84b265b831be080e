// SPDX-License-Identifier: GPL-2.0-only
//! What /proc says about a running process, and what samples of it mean.

use anyhow::{bail, Context, Result};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// Reads state and CPU of one process again and again through one open file.
pub struct Watch {
    pid: i32,
    stat: File,
}

impl Watch {
    /// Opens the thread's own stat file: unlike that of the process it needs no walk
    /// over the threads, which keeps a sample cheap.
    pub fn new(pid: i32) -> Result<Self> {
        let path = format!("/proc/{pid}/task/{pid}/stat");
        let stat = File::open(&path).with_context(|| {
            format!("opening {path} failed: mount proc on /proc, and raise `ulimit -n` if it says too many files")
        })?;
        Ok(Self { pid, stat })
    }

    /// The CPU on which the process runs or waits to run; none if it sleeps.
    pub fn sample(&self) -> Result<Option<usize>> {
        let mut buf = [0; 1024];
        let n = self.stat.read_at(&mut buf, 0).with_context(|| {
            format!("reading the state of process {} failed: it was ended from outside, run the load again", self.pid)
        })?;
        match parse_stat(&buf[..n]) {
            Some((b'R', cpu)) => Ok(Some(cpu)),
            Some((b'Z' | b'X', _)) => bail!(
                "process {} has ended while it was sampled: something outside killed it, \
                 look at the kernel log for the out-of-memory killer",
                self.pid
            ),
            Some(_) => Ok(None),
            None => bail!(
                "/proc/{0}/task/{0}/stat has an unknown form: report this with the kernel version",
                self.pid
            ),
        }
    }
}

/// State (field 3) and CPU (field 39) of a /proc/PID/stat line. The name in field 2
/// may hold anything, so counting starts behind the last parenthesis.
fn parse_stat(line: &[u8]) -> Option<(u8, usize)> {
    let after = line.iter().rposition(|&b| b == b')')? + 1;
    let mut fields = std::str::from_utf8(&line[after..])
        .ok()?
        .split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.nth(39 - 4)?.parse().ok()?))
}

/// Nanoseconds spent waiting for a CPU: field 2 of /proc/PID/schedstat, which the
/// kernel updates when the wait ends.
pub fn wait_ns_of(pid: i32) -> Result<u64> {
    let path = format!("/proc/{pid}/schedstat");
    let text = fs::read_to_string(&path).with_context(|| {
        format!("reading {path} failed: the kernel needs CONFIG_SCHED_INFO (or CONFIG_SCHEDSTATS)")
    })?;
    match text
        .split_ascii_whitespace()
        .nth(1)
        .and_then(|f| f.parse().ok())
    {
        Some(ns) => Ok(ns),
        None => bail!(
            "{path} holds '{}', not three numbers: report this with the kernel version",
            text.trim()
        ),
    }
}

/// Migrations so far; none where the kernel has no /proc/PID/sched.
pub fn migrations_of(pid: i32) -> Option<u64> {
    parse_migrations(&fs::read_to_string(format!("/proc/{pid}/sched")).ok()?)
}

fn parse_migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find(|l| l.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// What the samples of a set of hogs add up to.
#[derive(Default)]
pub struct Tally {
    samples: u64,
    one_per_core: u64,
    all_distinct: u64,
    by_busy: BTreeMap<usize, u64>,
}

/// The tally as printed.
#[derive(Serialize, Debug, PartialEq)]
pub struct TallyResult {
    pub samples: u64,
    /// Fewest different CPUs seen in a sample; null without samples.
    pub distinct_cpus_min: Option<usize>,
    /// Number of different CPUs seen most often; the larger one of a draw.
    pub distinct_cpus_mode: Option<usize>,
    /// Fraction of samples in which no two running hogs were on one core.
    pub samples_one_per_core: f64,
    /// Fraction of samples in which no two running hogs were on one CPU.
    pub samples_all_distinct: f64,
    /// Samples by number of CPUs that held a running hog.
    pub busy_cpus: BTreeMap<usize, u64>,
}

impl Tally {
    /// Counts one sample: the CPUs of the hogs that were running or ready.
    pub fn add(&mut self, cpus: &[usize], core_of: impl Fn(usize) -> usize) {
        let distinct = cpus.iter().collect::<BTreeSet<_>>().len();
        let cores = cpus
            .iter()
            .map(|&c| core_of(c))
            .collect::<BTreeSet<_>>()
            .len();
        self.samples += 1;
        self.all_distinct += u64::from(distinct == cpus.len());
        self.one_per_core += u64::from(cores == cpus.len());
        *self.by_busy.entry(distinct).or_default() += 1;
    }

    pub fn result(self) -> TallyResult {
        let part = |n: u64| super::round(n as f64 / self.samples.max(1) as f64, 4);
        TallyResult {
            samples: self.samples,
            distinct_cpus_min: self.by_busy.keys().next().copied(),
            distinct_cpus_mode: self.by_busy.iter().max_by_key(|&(_, n)| n).map(|(&k, _)| k),
            samples_one_per_core: part(self.one_per_core),
            samples_all_distinct: part(self.all_distinct),
            busy_cpus: self.by_busy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_line_with_an_ugly_name() {
        let mut line = String::from("77 (a) R 9) (b) R");
        (4..39).for_each(|f| line += &format!(" {f}"));
        line += " 13 0 0\n";
        assert_eq!(parse_stat(line.as_bytes()), Some((b'R', 13)));
        assert_eq!(parse_stat(b"77 (x) S 1 2 3\n"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn migrations_line() {
        let text =
            "x (1, #threads: 1)\n----\nse.exec_start  :  1.5\nse.nr_migrations   :      42\n";
        assert_eq!(parse_migrations(text), Some(42));
        assert_eq!(parse_migrations("nothing"), None);
    }

    #[test]
    fn own_process_is_running() {
        let pid = std::process::id() as i32;
        assert!(Watch::new(pid).unwrap().sample().is_ok());
        assert!(wait_ns_of(pid).is_ok());
        assert!(Watch::new(i32::MAX).is_err());
    }

    #[test]
    fn samples_are_classified() {
        let core = |cpu: usize| cpu / 2;
        let mut t = Tally::default();
        t.add(&[0, 2, 4], core); // one per core
        t.add(&[0, 2, 5], core); // one per core
        t.add(&[0, 1, 4], core); // two threads of one core
        t.add(&[0, 0, 4], core); // two hogs on one CPU
        let r = t.result();
        assert_eq!(
            (r.samples, r.distinct_cpus_min, r.distinct_cpus_mode),
            (4, Some(2), Some(3))
        );
        assert_eq!(
            (r.samples_one_per_core, r.samples_all_distinct),
            (0.5, 0.75)
        );
        assert_eq!(r.busy_cpus, BTreeMap::from([(2, 1), (3, 3)]));
    }

    #[test]
    fn no_samples_is_no_division_by_zero() {
        let r = Tally::default().result();
        assert_eq!(
            (r.samples, r.distinct_cpus_mode, r.samples_all_distinct),
            (0, None, 0.0)
        );
    }
}
