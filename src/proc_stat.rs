// SPDX-License-Identifier: GPL-2.0-only
//! Busy and idle time of each CPU, from `/proc/stat`.

use std::collections::BTreeMap;

/// Time since boot, in the clock ticks of `/proc/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Running something, interrupts and stolen time included.
    pub busy: u64,
    /// Idle, waiting for I/O or not.
    pub idle: u64,
}

impl CpuTimes {
    /// Percent of the time since `before` that was busy; 0 where none has passed.
    /// Idle time may be seen to go back by a tick, as the kernel documents.
    pub fn busy_pct_since(&self, before: &CpuTimes) -> f64 {
        let busy = self.busy.saturating_sub(before.busy);
        let idle = self.idle.saturating_sub(before.idle);
        if busy + idle == 0 {
            return 0.0;
        }
        busy as f64 * 100.0 / (busy + idle) as f64
    }
}

/// The times by CPU number in the text of `/proc/stat`. Lines that are not
/// understood are passed over: the kernel adds columns and rows.
pub fn parse(text: &str) -> BTreeMap<u32, CpuTimes> {
    let lines = text.lines().map_while(|line| line.strip_prefix("cpu"));
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let cpu = words.next()?.parse().ok()?;
            let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
            // user nice system idle iowait irq softirq steal; guest time is in user and nice.
            let ticks: [u64; 8] = ticks.get(..8)?.try_into().ok()?;
            let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
            let times = CpuTimes {
                busy: user + nice + system + irq + softirq + steal,
                idle: idle + iowait,
            };
            line.starts_with(|c: char| c.is_ascii_digit())
                .then_some((cpu, times))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_line_is_no_cpu() {
        let text = "cpu  10 0 10 80 0 0 0 0 0 0\n\
                    cpu0 1 2 3 40 5 6 7 8 100 100\n\
                    cpu12 0 0 0 9 0 0 0 0 0 0\n\
                    intr 5\ncpu7 1 1 1 1 1 1 1 1\n";
        let times = |busy, idle| CpuTimes { busy, idle };
        assert_eq!(
            parse(text),
            BTreeMap::from([(0, times(27, 45)), (12, times(0, 9))])
        );
    }

    #[test]
    fn idle_time_that_goes_back_counts_as_none() {
        let times = |busy, idle| CpuTimes { busy, idle };
        assert_eq!(times(11, 99).busy_pct_since(&times(10, 100)), 100.0);
        assert_eq!(times(10, 100).busy_pct_since(&times(10, 100)), 0.0);
    }
}
