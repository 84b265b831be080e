// SPDX-License-Identifier: GPL-2.0-only
//! `scx_sibling tune`: the tunables of the running scheduler.
//!
//! Reads and writes the pinned section in the kernel; the loader takes no part.

mod name;
mod show;
mod watch;

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use clap::Subcommand;

use self::name::Name;
use crate::config_file;
use crate::exit::Failure;
use crate::live::words::Words;
use crate::out;
use crate::save;
use crate::tunables::config;
use crate::tunables::full_name;
use crate::tunables::SetError;
use crate::tunables::Settings;

/// What to do with the tunables.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    #[command(subcommand)]
    command: TuneCommand,
}

#[derive(Debug, Subcommand)]
enum TuneCommand {
    /// Print every tunable and switch: value, default, range, meaning
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print NAME=VALUE for each of the names
    Get {
        /// Tunables and switches
        #[arg(value_name = "NAME", required = true, value_parser = Name)]
        names: Vec<String>,
    },
    /// Change values, all or none: NAME=VALUE, SWITCH or NO_SWITCH
    Set {
        /// Times with a unit (50us, 0.5ms), switches also on and off
        #[arg(value_name = "SETTING", required = true)]
        settings: Vec<String>,
    },
    /// Go back to defaults, for those named or for all
    Reset {
        /// Tunables and switches
        #[arg(value_name = "NAME", value_parser = Name)]
        names: Vec<String>,
    },
    /// Print what differs from the defaults
    Diff,
    /// Write all values to a file that load and --config read
    Save {
        /// Replaced if it exists
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Set what a file sets, all or nothing; the rest stays as it is
    Load {
        /// Written by save, or by hand
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print each change as it is made, by whomever, until Ctrl-C or the scheduler's end
    Watch {
        /// Print a JSON object per change
        #[arg(long)]
        json: bool,
    },
}

/// Runs one of the commands.
///
/// # Errors
/// A [`Failure`] with its exit code; then nothing was changed.
pub fn run(args: &TuneArgs) -> Result<()> {
    // What is wrong on the command line is told first, whether a scheduler runs or not.
    match &args.command {
        TuneCommand::List { json } => {
            let live = Words::running()?.read();
            let text = if *json {
                format!("{:#}\n", show::json(&live))
            } else {
                show::table(&live)
            };
            out::print(text)?;
        }
        TuneCommand::Get { names } => {
            let names = known(names)?;
            out::print(show::settings(&Words::running()?.read(), &names))?;
        }
        TuneCommand::Set { settings } => {
            Settings::default().apply_each(settings).map_err(usage)?;
            Words::running()?.update(|live| Ok(live.apply(settings).map_err(usage)?))?;
        }
        TuneCommand::Reset { names } => {
            let names = known(names)?;
            Words::running()?.update(|live| Ok(reset(live, &names)?))?;
        }
        TuneCommand::Diff => {
            let live = Words::running()?.read();
            out::print(show::diff(&live, &Settings::default()))?;
        }
        TuneCommand::Save { file } => save(file)?,
        TuneCommand::Load { file } => load(file)?,
        TuneCommand::Watch { json } => watch::run(&Words::running()?, *json)?,
    }
    Ok(())
}

fn usage(error: SetError) -> Failure {
    Failure::Usage(format!("{error}; nothing was changed"))
}

fn known(given: &[String]) -> Result<Vec<&'static str>, Failure> {
    let names = given.iter().map(|name| full_name(name));
    names.collect::<Result<_, _>>().map_err(usage)
}

fn reset(live: &mut Settings, names: &[&str]) -> Result<(), Failure> {
    if names.is_empty() {
        *live = Settings::default();
    } else {
        live.copy_all(names, &Settings::default());
    }
    live.check().map_err(usage)
}

fn save(file: &Path) -> Result<()> {
    let text = config::to_toml(&Words::running()?.read());
    save::replace(file, text.as_bytes())
        .with_context(|| format!("saving the settings in {}; it is as it was", file.display()))
}

fn load(file: &Path) -> Result<()> {
    let config = config_file::load(file)?;
    Words::running()?.update(|live| {
        config.put(live);
        Ok(live.check().map_err(usage)?)
    })
}
