// SPDX-License-Identifier: GPL-2.0-only
//! The loader's entries in the records: a run begins, a load ends.

use std::fs;

use anyhow::Result;

use crate::exit::Ending;
use crate::exit::Outcome;
use crate::out;
use crate::record::now_s;
use crate::record::Records;
use crate::record::Run;
use crate::record::Why;
use crate::record::DIR;

/// Keeps the records of one run. What it cannot write it says once.
#[derive(Debug, Default)]
pub struct Journal {
    run: Option<Run>,
    failed: bool,
}

impl Journal {
    /// A load has been attached.
    pub fn loaded(&mut self) {
        let mut run = match self.run.take() {
            Some(before) => Run {
                restarts: before.restarts + 1,
                ..before
            },
            None => first(),
        };
        run.enable_seq = enable_seq();
        let written = Records::host().begin(&run);
        self.complain(written);
        self.run = Some(run);
    }

    /// It has ended, or the next one did not come to be.
    pub fn ended(&mut self, outcome: &Result<Outcome>) {
        // Without a load nobody was scheduled by this program: no news.
        let Some(run) = &self.run else { return };
        let (why, text) = match outcome {
            Ok(Outcome::Asked) => (Why::Asked, String::new()),
            Ok(Outcome::Restart) => (Why::Hotplug, String::new()),
            Ok(Outcome::Failed(Ending::Ejected(text))) => (Why::Ejected, text.clone()),
            Ok(Outcome::Failed(Ending::Removed(text))) => (Why::Removed, text.clone()),
            Err(error) => (Why::Failed, format!("{error:#}")),
        };
        let written = Records::host().end(run, why, &text);
        self.complain(written);
    }

    fn complain(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            if !self.failed {
                out::note(format_args!(
                    "`scx_sibling status` will lack this run, writing its record in {DIR}: {error}"
                ));
            }
            self.failed = true;
        }
    }
}

fn first() -> Run {
    Run {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").into(),
        args: std::env::args_os()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect(),
        // SAFETY: always succeeds.
        uid: unsafe { libc::getuid() },
        since_s: now_s(),
        restarts: 0,
        enable_seq: 0,
    }
}

fn enable_seq() -> u64 {
    let text = fs::read_to_string("/sys/kernel/sched_ext/enable_seq").unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}
