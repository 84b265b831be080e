// SPDX-License-Identifier: GPL-2.0-only
//! The command line of `scx_sibling bench`.

use std::path::PathBuf;

use clap::Args;
use clap::Subcommand;

/// What to do with measurements.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub(super) command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// Print the loads with their parameters, and how arms are spelled
    List,
    /// Measure loads under several schedulers
    ///
    /// Each round runs every load once under every arm, in a balanced random order,
    /// until the intervals of all ratios are narrow or the rounds are used up. Every
    /// figure is in the result file before the next is measured; Ctrl-C loses the
    /// running one at most. The machine is left on the scheduler it had.
    Run(RunArgs),
    /// Go on with a measurement that was interrupted
    Resume {
        /// Its result file
        #[arg(value_name = "RESULT")]
        result: PathBuf,
        /// Seconds after which a run of a load has failed
        #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
        timeout: u64,
    },
    /// Print what a result says
    Report {
        /// A result file
        #[arg(value_name = "RESULT")]
        result: PathBuf,
        #[command(flatten)]
        form: Form,
    },
    /// Compare two results: versions, kernels, machines or days
    ///
    /// The baseline's figures are compared as they are; every other arm's as ratios to
    /// the baseline, where both results have the same one.
    Compare {
        /// The result from before
        #[arg(value_name = "A")]
        a: PathBuf,
        /// The result to judge
        #[arg(value_name = "B")]
        b: PathBuf,
    },
}

/// In which form to report; a table for the terminal where none is given.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub(super) struct Form {
    /// Print Markdown
    #[arg(long)]
    pub md: bool,
    /// Print comma-separated values, a line for every figure of every run
    #[arg(long)]
    pub csv: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print one HTML file with plots, which needs nothing from anywhere else
    #[arg(long)]
    pub html: bool,
    /// Print the tables of the mails this scheduler takes after, in their own shape
    #[arg(long, value_name = "NAME")]
    pub suite: Option<Suite>,
}

/// A set of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Suite {
    /// tbench, hackbench, OLTP, pipe-test and TCP_RR as on linux-kernel in 2014 to 2018
    Seeds,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// LOAD or LOAD:NAME=VALUE/VALUE,…; several values make a case of each; repeatable
    #[arg(long = "load", value_name = "LOAD", required_unless_present = "cmd")]
    pub loads: Vec<String>,

    /// Measure this command, run by the shell; repeatable
    #[arg(long, value_name = "COMMAND")]
    pub cmd: Vec<String>,

    /// Where the command's figure stands: a regular expression with one group
    /// (without: the time it takes)
    #[arg(long, value_name = "REGEX", requires = "cmd")]
    pub figure: Option<String>,

    /// More of the command's figure is better, as of a rate
    #[arg(long, requires = "figure")]
    pub higher_is_better: bool,

    /// An arm, the first being the baseline; repeatable (default: fair and sibling)
    #[arg(long = "arm", value_name = "ARM")]
    pub arms: Vec<String>,

    /// The result file, which must not exist
    #[arg(long, value_name = "FILE", default_value = "sibling-bench.jsonl")]
    pub out: PathBuf,

    /// Most rounds
    #[arg(long, value_name = "N", default_value_t = super::budget::Budget::default().max_rounds, value_parser = rounds)]
    pub rounds: usize,

    /// End when half the width of every interval is below so many percent
    #[arg(long, value_name = "PERCENT", default_value_t = super::budget::Budget::default().precision_pct)]
    pub precision: f64,

    /// Decides the order of the arms; the same gives the same order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Seconds after which a run of a load has failed
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,

    /// Something to keep with the result: NAME=TEXT; repeatable
    #[arg(long, value_name = "NAME=TEXT")]
    pub note: Vec<String>,
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1000) => Ok(n),
        _ => Err("give a number of rounds from 1 to 1000".into()),
    }
}
