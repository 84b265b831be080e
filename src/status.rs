// SPDX-License-Identifier: GPL-2.0-only
//! `scx_sibling status`: what is loaded, by whom, since when, how it is set, how
//! earlier loads ended. The kernel's word counts; the records explain it.

use std::fs;
use std::path::Path;

use anyhow::Result;
use chrono::DateTime;
use chrono::Local;
use serde_json::json;
use serde_json::Value;

use crate::exit::Failure;
use crate::live::words::is_loader;
use crate::live::words::Words;
use crate::live::words::OPS_NAME;
use crate::out;
use crate::record::Exit;
use crate::record::Records;
use crate::record::Run;
use crate::record::Why;
use crate::tunables::Settings;

/// What the kernel says of sched_ext.
#[derive(Debug, Clone, Default)]
struct Kernel {
    state: String,
    ops: String,
    enable_seq: Option<u64>,
}

impl Kernel {
    fn read(root: &Path) -> Self {
        let file = |name: &str| {
            let text = fs::read_to_string(root.join(name)).unwrap_or_default();
            text.trim().to_string()
        };
        Kernel {
            state: file("state"),
            ops: file("root/ops"),
            enable_seq: file("enable_seq").parse().ok(),
        }
    }
}

/// What is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loaded {
    Sibling,
    Other,
    Nothing,
}

/// Everything there is to report.
#[derive(Debug)]
struct Status {
    kernel: Kernel,
    loaded: Loaded,
    run: Option<Run>,
    exits: Vec<Exit>,
    /// `NAME=VALUE` of what is not at its default; or why that cannot be told.
    settings: Result<Vec<String>, String>,
}

impl Status {
    fn new(kernel: Kernel, records: &Records) -> Self {
        let loaded = match kernel.state.as_str() {
            "enabled" | "enabling" if kernel.ops.starts_with(OPS_NAME) => Loaded::Sibling,
            "enabled" | "enabling" => Loaded::Other,
            _ => Loaded::Nothing,
        };
        let mut exits = records.exits();
        let mut run = records.run();
        if let Some(dead) = run.take_if(|run| !is_loader(run.pid.into())) {
            // The next start writes it down.
            exits.push(Exit {
                at_s: 0,
                pid: dead.pid,
                version: dead.version,
                why: Why::Killed,
                text: String::new(),
            });
        }
        Status {
            kernel,
            loaded,
            run,
            exits,
            settings: Err("not running".into()),
        }
    }

    fn with_settings(mut self) -> Self {
        self.settings = Words::running()
            .map(|words| {
                let live = words.read();
                let names = live.differing(&Settings::default());
                let text = |name: &str| live.text(name).unwrap_or_default();
                names
                    .iter()
                    .map(|name| format!("{name}={}", text(name)))
                    .collect()
            })
            .map_err(|error| format!("{error:#}"));
        self
    }

    fn headline(&self) -> String {
        match (self.loaded, &self.run) {
            (Loaded::Sibling, _) => format!("scx_sibling is scheduling ({})", self.kernel.ops),
            (Loaded::Other, _) => format!(
                "scx_sibling is not running, another scheduler is: {}",
                self.kernel.ops
            ),
            (Loaded::Nothing, Some(_)) if !self.kernel.state.is_empty() => {
                "scx_sibling is starting; the system is on the fair class".into()
            }
            (Loaded::Nothing, _) if self.kernel.state.is_empty() => {
                "scx_sibling is not running: this kernel has no sched_ext".into()
            }
            (Loaded::Nothing, _) => {
                "scx_sibling is not running; the system is on the fair class".into()
            }
        }
    }

    fn to_text(&self) -> String {
        let mut text = self.headline() + "\n";
        if let Some(run) = &self.run {
            text += &format!(
                "  since     {}, {} loads\n  loader    pid {}, version {}, started by uid {}\n  command   {}\n",
                time(run.since_s),
                run.restarts + 1,
                run.pid,
                run.version,
                run.uid,
                run.args.join(" "),
            );
        }
        if self.loaded == Loaded::Sibling {
            if self.run.is_none() {
                text += "  loader    unknown: it left no record\n";
            } else if self.run.as_ref().map(|run| run.enable_seq) != self.kernel.enable_seq {
                text += "  note      another scheduler was loaded since; this one is not the recorded one\n";
            }
            text += &match &self.settings {
                Ok(changed) if changed.is_empty() => "  settings  all at their defaults\n".into(),
                Ok(changed) => format!("  settings  {}\n", changed.join(" ")),
                Err(why) => format!("  settings  unknown: {why}\n"),
            };
        }
        for exit in self.exits.iter().rev().take(5) {
            text += &format!("  exit      {}\n", exit_line(exit));
        }
        text
    }

    fn to_json(&self) -> Value {
        json!({
            "running": self.loaded == Loaded::Sibling,
            "state": self.kernel.state,
            "ops": self.kernel.ops,
            "enable_seq": self.kernel.enable_seq,
            "run": self.run,
            "changed": self.settings.as_ref().ok(),
            "exits": self.exits,
        })
    }

    fn verdict(&self) -> Result<(), Failure> {
        match self.loaded {
            Loaded::Sibling => Ok(()),
            Loaded::Other => Err(Failure::OtherScheduler(self.kernel.ops.clone())),
            Loaded::Nothing => Err(Failure::NotRunning(self.headline())),
        }
    }
}

fn exit_line(exit: &Exit) -> String {
    let why = match exit.why {
        Why::Asked => "stopped as asked",
        Why::Hotplug => "a CPU came or went, loaded again",
        Why::Ejected => "ejected by the kernel",
        Why::Removed => "removed from outside",
        Why::Failed => "failed to load",
        Why::Killed => "the loader was killed",
    };
    let when = if exit.at_s == 0 {
        "since then".into()
    } else {
        time(exit.at_s)
    };
    let colon = if exit.text.is_empty() { "" } else { ": " };
    format!("{when}  {why}{colon}{} (pid {})", exit.text, exit.pid)
}

fn time(seconds: u64) -> String {
    let utc = DateTime::from_timestamp(seconds.try_into().unwrap_or(0), 0).unwrap_or_default();
    let local = utc.with_timezone(&Local);
    local.format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Prints the state of affairs; the exit code tells it too.
///
/// # Errors
/// [`Failure::NotRunning`] or [`Failure::OtherScheduler`], after all has been printed.
pub fn run(json: bool) -> Result<()> {
    let kernel = Kernel::read(Path::new("/sys/kernel/sched_ext"));
    let mut status = Status::new(kernel, &Records::host());
    if status.loaded == Loaded::Sibling {
        status = status.with_settings();
    }
    if json {
        out::print(format_args!("{:#}\n", status.to_json()))?;
    } else {
        out::print(status.to_text())?;
    }
    // Said above already; the code is all that is left to say.
    match status.verdict() {
        Ok(()) => Ok(()),
        Err(failure) => Err(Failure::Said(failure.code()).into()),
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
