// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's life: load, serve statistics, come back after hotplug, stop.

use std::fs::File;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use scx_stats::prelude::*;
use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGTERM;

use crate::check::Machine;
use crate::exit::Failure;
use crate::exit::Outcome;
use crate::journal::Journal;
use crate::libbpf_log;
use crate::live::settings::LiveSettings;
use crate::loader::Options;
use crate::loader::Scheduler;
use crate::out;
use crate::stats;
use crate::stats::client::Ticks;
use crate::stats::monitor;
use crate::stats::sample::Metrics;
use crate::stats::sample::Sample;
use crate::stats::Counters;

/// How often the loop looks for requests and whether the kernel let go of the
/// scheduler; bounds how late a monitor is answered and Ctrl-C obeyed.
const POLL: Duration = Duration::from_millis(100);

/// What to do besides scheduling.
#[derive(Debug, Clone, Default)]
pub struct Reporting {
    /// Print a line of statistics this often.
    pub stats: Option<Duration>,
    /// As JSON.
    pub json: bool,
    /// Print a summary at the end.
    pub summary: bool,
    /// Print all counters as JSON at the end.
    pub summary_json: bool,
}

/// What signals have asked for.
#[derive(Debug, Default)]
pub struct Requests {
    stop: Arc<AtomicBool>,
    reread: Arc<AtomicBool>,
    /// Started from a terminal, whose end raises SIGHUP too.
    terminal: bool,
}

impl Requests {
    /// Takes the signals: Ctrl-C and SIGTERM to stop; SIGHUP to read the settings
    /// anew if `reread`, else it ends the program as ever.
    ///
    /// # Errors
    /// A handler could not be installed.
    pub fn take(reread: bool) -> Result<Self> {
        let requests = Requests {
            terminal: has_terminal(),
            ..Requests::default()
        };
        let stop = requests.stop.clone();
        ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed))
            .context("installing the handler for Ctrl-C")?;
        signal_hook::flag::register(SIGTERM, requests.stop.clone())
            .context("installing the handler for SIGTERM")?;
        if reread {
            signal_hook::flag::register(SIGHUP, requests.reread.clone())
                .context("installing the handler for SIGHUP")?;
        }
        Ok(requests)
    }

    /// Ctrl-C or SIGTERM came, or the terminal is gone.
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// SIGHUP came since the last time this was asked.
    fn reread(&self) -> bool {
        if !self.reread.swap(false, Ordering::Relaxed) {
            return false;
        }
        if self.terminal && !has_terminal() {
            self.stop.store(true, Ordering::Relaxed);
            return false;
        }
        true
    }
}

/// A controlling terminal can be opened as long as it is there.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

/// Schedules until asked to stop. After CPU hotplug the topology is read anew
/// and the scheduler loaded again, with the tunables as they were then.
///
/// # Errors
/// A [`Failure`] with its exit code, or the step that failed.
pub fn run(
    options: &Options,
    mut settings: LiveSettings,
    reporting: &Reporting,
    asked: &Requests,
) -> Result<()> {
    Machine::host().require()?;
    libbpf_log::init(options.verbose);
    let mut total = Counters::new();
    let mut journal = Journal::default();
    let ended = loop {
        let outcome = run_once(
            options,
            &mut settings,
            &mut journal,
            reporting,
            asked,
            &mut total,
        );
        journal.ended(&outcome);
        match outcome {
            Ok(Outcome::Restart) if !asked.stop() => {
                out::note("a CPU came or went; reading the topology anew");
            }
            Ok(Outcome::Asked | Outcome::Restart) => break Ok(()),
            Ok(Outcome::Failed(ending)) => break Err(Failure::from(ending).into()),
            Err(error) => break Err(error),
        }
    };
    // What was counted is wanted most when the end was not as asked.
    let reported = report(reporting, &total);
    ended.and(reported)
}

fn report(reporting: &Reporting, total: &Counters) -> Result<()> {
    if reporting.summary {
        out::print(stats::summary(total))?;
    }
    if reporting.summary_json {
        let text = serde_json::to_string(total).context("writing the counters as JSON")?;
        out::print(format_args!("{text}\n"))?;
    }
    Ok(())
}

fn run_once(
    options: &Options,
    settings: &mut LiveSettings,
    journal: &mut Journal,
    reporting: &Reporting,
    asked: &Requests,
    total: &mut Counters,
) -> Result<Outcome> {
    let mut object = MaybeUninit::uninit();
    let mut scheduler = Scheduler::start(&mut object, Path::new("/sys"), options, settings.map())?;
    settings.loaded(&scheduler)?;
    journal.loaded();
    // Only now: the server unlinks the socket of whoever ran before, and had
    // the attach failed that would be a scheduler still running.
    let server = match StatsServer::new(stats::server::server_data()).launch() {
        Ok(server) => Some(server),
        Err(error) => {
            out::note(format_args!(
                "no --monitor of this run, opening the socket below /var/run/scx failed: {error:#}"
            ));
            None
        }
    };
    let channels = server.as_ref().map(StatsServer::channels);

    let mut stream = Lines::new(reporting);
    while !asked.stop() && !scheduler.exited() {
        // Not recv_timeout(): it spins before it sleeps, ten times a second for nothing.
        std::thread::sleep(POLL);
        if asked.reread() {
            settings.reread();
        }
        if let Some((answers, requests)) = &channels {
            while requests.try_recv().is_ok() {
                // A client that went away in between is not our failure.
                let _ = answers.send(scheduler.sample(total));
            }
        }
        stream.when_due(|| scheduler.sample(total))?;
    }
    stats::add(total, &scheduler.counters());
    Ok(scheduler.stop())
}

/// The lines of `--stats`.
struct Lines {
    lines: out::Stream,
    ticks: Option<Ticks>,
    json: bool,
    before: Option<Sample>,
}

impl Lines {
    fn new(reporting: &Reporting) -> Self {
        Lines {
            lines: out::Stream::default(),
            ticks: reporting
                .stats
                .map(|every| Ticks::new(Instant::now(), every)),
            json: reporting.json,
            before: None,
        }
    }

    fn when_due(&mut self, sample: impl Fn() -> Sample) -> Result<()> {
        let Some(ticks) = &mut self.ticks else {
            return Ok(());
        };
        if self.before.is_none() {
            self.before = Some(sample());
        }
        if ticks.due_in(Instant::now()).is_some() {
            return Ok(());
        }
        let now = sample();
        if let Some(before) = self.before.replace(now.clone()) {
            let metrics = Metrics::between(&now, &before);
            self.lines.line(monitor::text(&metrics, self.json)?);
        }
        Ok(())
    }
}
