// SPDX-License-Identifier: GPL-2.0-only
//! One reading of all statistics, and what a reader is told of two of them.

use std::collections::BTreeMap;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;

use scx_stats_derive::stat_doc;
use scx_stats_derive::Stats;
use serde::Deserialize;
use serde::Serialize;

use super::delta;
use super::totals;
use super::Counters;
use super::LEVELS;
use crate::proc_stat::CpuTimes;
use crate::skel::types;

/// What was read at one time.
#[derive(Debug, Clone)]
pub struct Sample {
    /// When.
    pub at: Instant,
    /// The same, for people.
    pub time: SystemTime,
    /// Counted since the start, over hotplug restarts.
    pub counters: Counters,
    /// Of the CPUs that run tasks.
    pub cpus: BTreeMap<u32, CpuReading>,
    /// Of the levels where any CPU has searched.
    pub levels: BTreeMap<String, LevelGauges>,
}

/// Of one CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuReading {
    /// Runnable tasks.
    pub nr_running: u32,
    /// See [`CpuGauges`].
    pub avg_idle_ns: u64,
    /// See [`CpuGauges`].
    pub idle_ns: u64,
    /// Busy and idle time since boot.
    pub times: CpuTimes,
}

/// One interval of statistics, as the scx_stats protocol carries it.
#[stat_doc]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Stats)]
#[stat(top)]
pub struct Metrics {
    #[stat(desc = "Time of the reading, nanoseconds since 1970")]
    pub time_ns: u64,
    #[stat(desc = "Time since this reader's last reading, nanoseconds")]
    pub interval_ns: u64,
    #[stat(
        desc = "Counters by name and sums of them, change over the interval; --help-stats explains each"
    )]
    pub counters: BTreeMap<String, u64>,
    #[stat(desc = "The same since the start of the scheduler")]
    pub since_start: BTreeMap<String, u64>,
    #[stat(desc = "Gauges by CPU")]
    pub cpus: BTreeMap<u32, CpuGauges>,
    #[stat(desc = "Gauges by level")]
    pub levels: BTreeMap<String, LevelGauges>,
}

/// What is known of a CPU.
#[stat_doc]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Stats)]
pub struct CpuGauges {
    #[stat(desc = "runnable tasks of all classes, the running one included")]
    pub nr_running: u32,
    #[stat(desc = "how long it expects to idle the next time, nanoseconds")]
    pub avg_idle_ns: u64,
    #[stat(desc = "how long it has idled by now, nanoseconds; 0 while it is busy")]
    pub idle_ns: u64,
    #[stat(desc = "share of the interval it was not idle, percent")]
    pub busy_pct: f64,
}

/// What is known of a level.
#[stat_doc]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Stats)]
pub struct LevelGauges {
    #[stat(
        desc = "measured cost of a new-idle search, nanoseconds, mean over the CPUs that searched"
    )]
    pub pull_cost_ns: u64,
    #[stat(desc = "share of new-idle searches that find a task, mean over CPUs")]
    pub success_ratio: f64,
}

impl Metrics {
    /// What there is to say at `now` to somebody who was told at `before`.
    pub fn between(now: &Sample, before: &Sample) -> Self {
        let mut counters = delta(&now.counters, &before.counters);
        counters.extend(totals(&counters));
        let mut since_start = now.counters.clone();
        since_start.extend(totals(&now.counters));
        let since_epoch = now.time.duration_since(SystemTime::UNIX_EPOCH);
        let cpus = now.cpus.iter().map(|(cpu, reading)| {
            let before = before.cpus.get(cpu).copied().unwrap_or_default();
            let gauges = CpuGauges {
                nr_running: reading.nr_running,
                avg_idle_ns: reading.avg_idle_ns,
                idle_ns: reading.idle_ns,
                busy_pct: reading.times.busy_pct_since(&before.times),
            };
            (*cpu, gauges)
        });
        Metrics {
            time_ns: nanoseconds(since_epoch.unwrap_or_default()),
            interval_ns: nanoseconds(now.at.saturating_duration_since(before.at)),
            counters,
            since_start,
            cpus: cpus.collect(),
            levels: now.levels.clone(),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The means over `cpus` of what each keeps per level. A level that no CPU has
/// searched yet has none.
pub fn level_gauges<'a>(
    cpus: impl Iterator<Item = &'a types::cpu_state> + Clone,
) -> BTreeMap<String, LevelGauges> {
    let sides = f64::from(NEWIDLE_DICE_SIDES);
    let of_level = |(level, name): (usize, &&str)| {
        let searched = cpus.clone().filter(|cs| cs.pull_cost_stamp_ns[level] > 0);
        let nr = searched.clone().count() as u64;
        let cost: u64 = searched.clone().map(|cs| cs.pull_cost_ns[level]).sum();
        let ratio: f64 = searched.map(|cs| f64::from(cs.dice_ratio[level])).sum();
        (nr > 0).then(|| {
            let gauges = LevelGauges {
                pull_cost_ns: cost / nr,
                success_ratio: ratio / sides / nr as f64,
            };
            (name.to_string(), gauges)
        })
    };
    LEVELS.iter().enumerate().filter_map(of_level).collect()
}

/// `NEWIDLE_DICE_SIDES` of `src/bpf/policy/newidle.h`, where it is a macro.
const NEWIDLE_DICE_SIDES: u32 = 1024;

#[cfg(test)]
mod tests {
    use scx_stats::prelude::*;

    use super::super::table::Per;
    use super::super::table::GAUGES;
    use super::*;

    fn sample(at: Instant, placed: u64, reading: CpuReading) -> Sample {
        Sample {
            at,
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(7),
            counters: Counters::from([("place.core".into(), placed)]),
            cpus: BTreeMap::from([(3, reading)]),
            levels: BTreeMap::new(),
        }
    }

    #[test]
    fn an_interval_has_changes_and_the_state_at_its_end() {
        let start = Instant::now();
        let times = |busy, idle| CpuTimes { busy, idle };
        let before = CpuReading {
            times: times(100, 100),
            ..CpuReading::default()
        };
        let now = CpuReading {
            nr_running: 2,
            avg_idle_ns: 5,
            idle_ns: 0,
            times: times(130, 110),
        };
        let metrics = Metrics::between(
            &sample(start + Duration::from_secs(1), 10, now),
            &sample(start, 4, before),
        );
        assert_eq!(metrics.interval_ns, 1_000_000_000);
        assert_eq!(metrics.time_ns, 7_000_000_000);
        assert_eq!(metrics.counters["place.core"], 6);
        assert_eq!(metrics.counters["total.placed"], 6);
        assert_eq!(metrics.since_start["total.placed"], 10);
        let cpu = &metrics.cpus[&3];
        assert_eq!((cpu.nr_running, cpu.busy_pct), (2, 75.0));
    }

    #[test]
    fn levels_average_over_the_cpus_that_searched() {
        let mut cpus = vec![types::cpu_state::default(); 3];
        for (cs, cost) in cpus.iter_mut().zip([100, 300]) {
            cs.pull_cost_stamp_ns[2] = 1;
            cs.pull_cost_ns[2] = cost;
            cs.dice_ratio[2] = 512;
        }
        let levels = level_gauges(cpus.iter());
        let expected = LevelGauges {
            pull_cost_ns: 200,
            success_ratio: 0.5,
        };
        assert_eq!(levels, BTreeMap::from([("llc".to_string(), expected)]));
    }

    #[test]
    fn the_dice_has_as_many_sides_as_in_the_policy() {
        let policy = include_str!("../bpf/policy/newidle.h");
        let define = policy
            .lines()
            .find(|l| l.starts_with("#define NEWIDLE_DICE_SIDES"));
        let sides = define.and_then(|l| l.split_whitespace().nth(2));
        assert_eq!(sides, Some(NEWIDLE_DICE_SIDES.to_string().as_str()));
    }

    /// The protocol's description and the one table say the same.
    #[test]
    fn gauges_carried_are_the_gauges_of_the_table() {
        let carried = |meta: StatsMeta| -> Vec<(String, String)> {
            let text = |f: &StatsField| f.attrs.desc.clone().unwrap_or_default();
            meta.fields
                .iter()
                .map(|(n, f)| (n.clone(), text(f)))
                .collect()
        };
        for (per, meta) in [
            (Per::Cpu, CpuGauges::meta()),
            (Per::Level, LevelGauges::meta()),
        ] {
            let fields = carried(meta);
            let gauges: Vec<_> = GAUGES.iter().filter(|g| g.per == per).collect();
            assert_eq!(fields.len(), gauges.len(), "{fields:?}");
            for gauge in gauges {
                let start = gauge.meaning.split([':', ',', ';']).next().unwrap_or("");
                let found = fields
                    .iter()
                    .any(|(name, desc)| name == gauge.name && desc.starts_with(start));
                assert!(found, "{} in {fields:?}", gauge.name);
            }
        }
    }
}
