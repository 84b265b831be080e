// SPDX-License-Identifier: GPL-2.0-only
//! The command line.

use std::path::PathBuf;

use clap::Parser;
use clap::Subcommand;

use crate::bench::cli::BenchArgs;
use crate::exit::EXIT_CODES;
use crate::generate::Generate;
use crate::load::LoadArgs;
use crate::stats::monitor::MonitorArgs;
use crate::tune::TuneArgs;

/// A sched_ext scheduler: idle-sibling and idle-core placement at wake-up,
/// new-idle balancing that counts what a move across each level costs, and a
/// lean fast path.
///
/// Without a subcommand it loads the scheduler and runs in the foreground until
/// Ctrl-C or SIGTERM; then the system is back on the kernel's fair class.
#[derive(Debug, Parser)]
#[command(name = "scx_sibling", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub scheduler: SchedulerArgs,

    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of the scheduler itself.
#[derive(Debug, clap::Args)]
pub struct SchedulerArgs {
    /// Set a tunable or switch at start: NAME=VALUE, NAME or NO_NAME
    #[arg(long = "set", value_name = "SETTING")]
    pub set: Vec<String>,

    /// Read settings from this file instead of /etc/scx_sibling.toml; --set goes before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print a line of statistics every so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, group = "stream")]
    pub stats: Option<std::time::Duration>,

    /// Print statistics of a running scheduler instead of starting one
    #[arg(long, value_name = "SECONDS", value_parser = seconds, group = "stream")]
    pub monitor: Option<std::time::Duration>,

    /// Print these statistics as JSON, an object per line
    #[arg(long, requires = "stream")]
    pub json: bool,

    /// Print a summary of all counters at the end
    #[arg(long)]
    pub summary: bool,

    /// Print all counters as one JSON object at the end
    #[arg(long)]
    pub summary_json: bool,

    /// Explain every counter and stop
    #[arg(long)]
    pub help_stats: bool,

    /// Explain every tunable and switch and stop
    #[arg(long)]
    pub help_tunables: bool,

    /// Print library messages and how much the BPF verifier looked at; its log where it refuses
    #[arg(short, long)]
    pub verbose: bool,

    /// Length of the kernel's debug dump after an error (0: the kernel's default)
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub exit_dump_len: u32,
}

/// Everything but running the scheduler.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the machine's cores, caches and nodes as the scheduler reads them
    Topology {
        /// Read below this directory instead of /sys
        #[arg(long, value_name = "ROOT", default_value = "/sys")]
        sysfs: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what this machine lacks to run the scheduler
    Check,
    /// Say whether it runs, by whom, since when, how it is set, and how earlier runs ended
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show and change the tunables and switches of the running scheduler
    Tune(TuneArgs),
    /// Print statistics of the running scheduler until Ctrl-C, over its restarts
    Monitor(MonitorArgs),
    /// Write man pages or a shell's completion script
    #[command(subcommand)]
    Generate(Generate),
    /// Compare schedulers on real loads: interleaved, with intervals and a verdict
    Bench(BenchArgs),
    /// Run a small load that measures itself
    Load(LoadArgs),
}

/// A positive number of seconds, fractions allowed.
pub(crate) fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number of seconds"))?;
    if !(0.01..=86400.0).contains(&value) {
        return Err(format!("{text} is outside 0.01 … 86400 seconds"));
    }
    Ok(std::time::Duration::from_secs_f64(value))
}
