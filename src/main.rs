// SPDX-License-Identifier: GPL-2.0-only
//! Parses, runs, reports; everything else is in the library.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use scx_sibling::bench;
use scx_sibling::check;
use scx_sibling::cli::Cli;
use scx_sibling::cli::Command;
use scx_sibling::cli::SchedulerArgs;
use scx_sibling::config_file::Sources;
use scx_sibling::exit;
use scx_sibling::exit::Failure;
use scx_sibling::generate;
use scx_sibling::live::settings::LiveSettings;
use scx_sibling::load;
use scx_sibling::loader::Options;
use scx_sibling::out;
use scx_sibling::run;
use scx_sibling::stats;
use scx_sibling::stats::monitor::MonitorArgs;
use scx_sibling::status;
use scx_sibling::topology;
use scx_sibling::tunables;
use scx_sibling::tune;

fn main() -> ExitCode {
    match dispatch(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = format!("{error:#}");
            if !text.is_empty() {
                out::note(text);
            }
            ExitCode::from(exit::code_of(&error))
        }
    }
}

fn dispatch(cli: &Cli) -> Result<()> {
    match &cli.command {
        None => scheduler(&cli.scheduler),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Check) => check::run(&check::Machine::host()),
        Some(Command::Generate(what)) => generate::run(what),
        Some(Command::Load(args)) => load::run(args),
        Some(Command::Monitor(args)) => monitor(args),
        Some(Command::Status { json }) => status::run(*json),
        Some(Command::Tune(args)) => tune::run(args),
        Some(Command::Topology { sysfs, json }) => {
            let machine = topology::read(sysfs).map_err(|e| Failure::Machine(e.to_string()))?;
            if *json {
                out::print(format_args!("{:#}\n", topology::json::to_json(&machine)))?;
            } else {
                out::print(topology::print::to_text(&machine))?;
            }
            Ok(())
        }
    }
}

fn scheduler(args: &SchedulerArgs) -> Result<()> {
    if args.help_stats {
        out::print(stats::help())?;
        return Ok(());
    }
    if args.help_tunables {
        out::print(tunables::help())?;
        return Ok(());
    }
    let mut options = Options {
        exit_dump_len: args.exit_dump_len,
        verbose: args.verbose,
        ..Options::default()
    };
    let sources = Sources::new(args.config.as_deref(), &args.set);
    let (settings, file) = sources.at_start()?;
    options.settings = settings;
    if let Some(interval) = args.monitor {
        return monitor(&MonitorArgs {
            interval,
            json: args.json,
            count: None,
        });
    }
    let asked = run::Requests::take(true)?;
    let reporting = run::Reporting {
        stats: args.stats,
        json: args.json,
        summary: args.summary,
        summary_json: args.summary_json,
    };
    run::run(
        &options,
        LiveSettings::new(sources, file),
        &reporting,
        &asked,
    )
}

fn monitor(args: &MonitorArgs) -> Result<()> {
    let asked = run::Requests::take(false)?;
    stats::monitor::run(args, || asked.stop())
}
