// SPDX-License-Identifier: GPL-2.0-only
//! Counters over the scx_stats protocol on its usual socket, so that the
//! ecosystem's clients can read them.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use anyhow::Result;
use scx_stats::prelude::*;
use scx_stats_derive::stat_doc;
use scx_stats_derive::Stats;
use serde::Deserialize;
use serde::Serialize;

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

/// Prints a line per interval from a running scheduler until `stop` says so.
///
/// # Errors
/// The stream broke for another reason than the scheduler's absence, which is
/// waited out.
pub fn monitor(interval: Duration, stop: impl Fn() -> bool) -> Result<()> {
    scx_utils::monitor_stats::<Metrics>(&[], interval, stop, |m| {
        println!("{}", super::line(&m.counters));
        Ok(())
    })
    .context("reading statistics from the running scheduler; is scx_sibling loaded?")
}
