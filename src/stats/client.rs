// SPDX-License-Identifier: GPL-2.0-only
//! Reading the statistics of a running scheduler from another process.

use std::io;
use std::time::Duration;
use std::time::Instant;

use anyhow::anyhow;
use anyhow::Result;
use scx_stats::prelude::*;

use super::sample::Metrics;
use crate::exit::Failure;
use crate::live::words::running_ops;
use crate::live::words::OPS_NAME;

/// How long an answer may take: the scheduler's loop looks for requests ten
/// times a second, and a stopped one never does.
const TIMEOUT_MS: u64 = 5000;

/// A connection to a running scheduler.
pub struct Client {
    stream: StatsClient,
}

impl Client {
    /// Connects; the interval of the first reading begins now.
    ///
    /// # Errors
    /// [`Failure::NotRunning`], [`Failure::Privileges`], or [`Failure::Version`] where what
    /// answers is another version's or another scheduler's.
    pub fn connect() -> Result<Self> {
        let stream = StatsClient::new().connect(Some(TIMEOUT_MS));
        let mut client = Client {
            stream: stream.map_err(no_connection)?,
        };
        client.read()?;
        Ok(client)
    }

    /// What happened since the last reading, and the state now.
    ///
    /// # Errors
    /// As for [`Client::connect`]; the connection is then of no more use.
    pub fn read(&mut self) -> Result<Metrics> {
        self.stream
            .request("stats", vec![("target".into(), "top".into())])
            .map_err(no_answer)
    }
}

/// Is `error` one that waiting may cure: nobody there, or gone in between?
pub fn may_come_back(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Failure::NotRunning(_)))
}

fn no_connection(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::PermissionDenied) => {
            let text = "reading statistics of the running scheduler needs root; use sudo";
            Failure::Privileges(text.into()).into()
        }
        Some(io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => not_running(),
        _ => error.context("connecting to the running scheduler's socket below /var/run/scx"),
    }
}

/// What answers may be another scheduler: all use the same socket.
fn no_answer(error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<serde_json::Error>().is_none() {
        return not_running();
    }
    match running_ops() {
        Some(name) if !name.starts_with(OPS_NAME) => not_running(),
        _ => Failure::Version(format!(
            "the running scx_sibling sends statistics that this one ({}) does not understand: \
             {error}; restart it with this version",
            env!("CARGO_PKG_VERSION")
        ))
        .into(),
    }
}

fn not_running() -> anyhow::Error {
    let text = match running_ops() {
        Some(name) if name.starts_with(OPS_NAME) => {
            "scx_sibling runs but does not answer for its statistics; its loader may be stopped or \
             have failed to open its socket, which it has said at its start"
                .into()
        }
        Some(name) => format!("scx_sibling is not running, another scheduler is: {name}"),
        None => "scx_sibling is not running; start it first".into(),
    };
    anyhow!(Failure::NotRunning(text))
}

/// Points in time at equal distances: a late one does not make the next late.
#[derive(Debug)]
pub struct Ticks {
    next: Instant,
    every: Duration,
}

impl Ticks {
    /// The first is `every` after `start`.
    pub fn new(start: Instant, every: Duration) -> Self {
        Ticks {
            next: start + every,
            every,
        }
    }

    /// How long until the next from `now`; none: it is due. Those missed are left out.
    pub fn due_in(&mut self, now: Instant) -> Option<Duration> {
        if now < self.next {
            return Some(self.next - now);
        }
        let missed = (now - self.next).as_nanos() / self.every.as_nanos().max(1);
        let missed = u32::try_from(missed).unwrap_or(u32::MAX - 1);
        self.next += self.every * (missed + 1);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_late_tick_does_not_make_the_next_late() {
        let start = Instant::now();
        let mut ticks = Ticks::new(start, SECOND);
        assert_eq!(ticks.due_in(start), Some(SECOND));
        assert_eq!(ticks.due_in(start + SECOND * 5 / 4), None);
        assert_eq!(ticks.due_in(start + SECOND * 5 / 4), Some(SECOND * 3 / 4));
    }

    #[test]
    fn ticks_that_were_missed_do_not_come_all_at_once() {
        let start = Instant::now();
        let mut ticks = Ticks::new(start, SECOND);
        assert_eq!(ticks.due_in(start + SECOND * 7 / 2), None);
        assert_eq!(ticks.due_in(start + SECOND * 7 / 2), Some(SECOND / 2));
    }
}
