// SPDX-License-Identifier: GPL-2.0-only
//! Statistics over the scx_stats protocol on its usual socket, so that the
//! ecosystem's clients can read them.

use scx_stats::prelude::*;

use super::sample::CpuGauges;
use super::sample::LevelGauges;
use super::sample::Metrics;
use super::sample::Sample;

/// The server's table: asks the scheduler's loop for a sample per request. Each
/// connection is told of what happened since its own last request.
pub fn server_data() -> StatsServerData<(), Sample> {
    let open: Box<dyn StatsOpener<(), Sample>> = Box::new(move |(req, res)| {
        req.send(())?;
        let mut before = res.recv()?;
        let read: Box<dyn StatsReader<(), Sample>> = Box::new(move |_args, (req, res)| {
            req.send(())?;
            let now = res.recv()?;
            let metrics = Metrics::between(&now, &before);
            before = now;
            metrics.to_json()
        });
        Ok(read)
    });
    StatsServerData::new()
        .add_meta(Metrics::meta())
        .add_meta(CpuGauges::meta())
        .add_meta(LevelGauges::meta())
        .add_ops("top", StatsOps { open, close: None })
}
