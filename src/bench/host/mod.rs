// SPDX-License-Identifier: GPL-2.0-only
//! The machine itself, behind the traits of [`super::flow`].

mod counted;
pub mod environment;
mod exec;
mod process;
mod switch;
mod watch;

use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;

pub use exec::Programs;
pub use process::which;
pub use switch::Kernel;
pub use watch::ProcWatch;

use super::flow::Clock;

/// The monotonic clock and the time of day.
#[derive(Debug)]
pub struct HostClock(Instant);

impl Default for HostClock {
    fn default() -> Self {
        HostClock(Instant::now())
    }
}

impl Clock for HostClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix_s(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}
