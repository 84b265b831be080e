// SPDX-License-Identifier: GPL-2.0-only
//! Counters over the scx_stats protocol on its usual socket, so that the
//! ecosystem's clients can read them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use anyhow::Context;
use anyhow::Result;
use scx_stats::prelude::*;
use scx_stats_derive::stat_doc;
use scx_stats_derive::Stats;
use serde::Deserialize;
use serde::Serialize;

use crate::exit::Failure;
use crate::out;

/// One interval's counters.
#[stat_doc]
#[derive(Clone, Debug, Default, Serialize, Deserialize, Stats)]
#[stat(top)]
pub struct Metrics {
    #[stat(desc = "Counters by name, change over the interval; --help-stats explains each")]
    pub counters: BTreeMap<String, u64>,
}

/// The server's table: asks the scheduler's loop for a sample per request.
pub fn server_data() -> StatsServerData<(), Metrics> {
    let open: Box<dyn StatsOpener<(), Metrics>> = Box::new(move |(req, res)| {
        req.send(())?;
        let mut before = res.recv()?;
        let read: Box<dyn StatsReader<(), Metrics>> = Box::new(move |_args, (req, res)| {
            req.send(())?;
            let now = res.recv()?;
            let change = Metrics {
                counters: super::delta(&now.counters, &before.counters),
            };
            before = now;
            change.to_json()
        });
        Ok(read)
    });
    StatsServerData::new()
        .add_meta(Metrics::meta())
        .add_ops("top", StatsOps { open, close: None })
}

/// Prints a line per interval from a running scheduler until `stop` says so or
/// nobody reads. Waits for a scheduler to come.
///
/// # Errors
/// [`Failure::Privileges`] where the socket may not be opened; or the stream
/// broke for another reason than the scheduler's absence.
pub fn monitor(interval: Duration, stop: impl Fn() -> bool) -> Result<()> {
    if let Err(error) = StatsClient::new().connect(None) {
        match error.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::PermissionDenied) => {
                let text = "reading statistics of the running scheduler needs root; use sudo";
                return Err(Failure::Privileges(text.into()).into());
            }
            _ => out::note("no scheduler is running yet; waiting for one (Ctrl-C ends)"),
        }
    }
    let lines = RefCell::new(out::Stream::default());
    let done = || stop() || lines.borrow().closed();
    scx_utils::monitor_stats::<Metrics>(&[], interval, done, |m| {
        lines.borrow_mut().line(super::line(&m.counters));
        Ok(())
    })
    .context("reading statistics from the running scheduler")
}
