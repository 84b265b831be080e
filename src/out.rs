// SPDX-License-Identifier: GPL-2.0-only
//! Text on standard output and standard error, where `println!` would panic
//! once the reader is gone or the disk is full.

use std::fmt::Display;
use std::io;
use std::io::Write;

use anyhow::Context;
use anyhow::Result;

/// Prints `text`, which brings its own line ends. True while somebody reads:
/// a closed pipe is the reader's wish and no failure.
///
/// # Errors
/// Standard output cannot be written for another reason, such as a full disk.
pub fn print(text: impl Display) -> Result<bool> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(e).context("writing to standard output (is the disk full?)"),
    }
}

/// A line for people on standard error; there is nowhere left to complain if that fails.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "scx_sibling: {text}");
}

/// A stream of lines beside work that goes on without its reader: after the
/// first line that cannot be written no more are tried.
#[derive(Debug, Default)]
pub struct Stream {
    closed: bool,
}

impl Stream {
    /// Prints a line, unless the stream is closed.
    pub fn line(&mut self, text: impl Display) {
        if self.closed {
            return;
        }
        match print(format_args!("{text}\n")) {
            Ok(reading) => self.closed = !reading,
            Err(error) => {
                note(format_args!("{error:#}; no more statistics are printed"));
                self.closed = true;
            }
        }
    }

    /// Whether nothing is printed any more.
    pub fn closed(&self) -> bool {
        self.closed
    }
}
