// SPDX-License-Identifier: GPL-2.0-only
//! Statistics: the tables, sums over CPUs, differences, the streams.

pub mod client;
pub mod monitor;
pub mod sample;
pub mod server;
mod summary;
pub mod table;

use std::collections::BTreeMap;

use crate::skel::types;

pub use summary::line;
pub use summary::summary;
pub use table::LEVELS;
pub use table::STATS;

use table::Per;
use table::Unit;
use table::GAUGES;
use table::TOTALS;

/// All counters summed over CPUs, by full name; counted since load.
pub type Counters = BTreeMap<String, u64>;

/// Sums the per-CPU counters.
pub fn sum(per_cpu: &[types::cpu_stats]) -> Counters {
    let mut counters = Counters::new();
    for (id, def) in STATS.iter().enumerate() {
        let total = per_cpu
            .iter()
            .map(|cpu| cpu.cnt[id])
            .fold(0u64, u64::wrapping_add);
        counters.insert(def.name(), total);
    }
    counters
}

/// What was counted between two samples.
pub fn delta(now: &Counters, before: &Counters) -> Counters {
    now.iter()
        .map(|(name, value)| {
            (
                name.clone(),
                value.wrapping_sub(before.get(name).copied().unwrap_or(0)),
            )
        })
        .collect()
}

/// Adds what an earlier load of the same run counted.
pub fn add(counters: &mut Counters, earlier: &Counters) {
    for (name, n) in earlier {
        *counters.entry(name.clone()).or_default() += n;
    }
}

/// The totals of [`table::TOTALS`], by name.
pub fn totals(counters: &Counters) -> Counters {
    let value = |name: String| counters.get(&name).copied().unwrap_or(0);
    TOTALS
        .iter()
        .map(|total| {
            let members = STATS.iter().filter(|def| total.has(def));
            let sum = members.map(|def| value(def.name())).sum();
            (total.name.to_string(), sum)
        })
        .collect()
}

/// One line of a table of statistics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpRow {
    /// Name, with LEVEL in place of the level.
    pub name: String,
    /// What it is in.
    pub unit: Unit,
    /// One line for people.
    pub meaning: &'static str,
}

/// The counters, a row for all levels of one.
pub fn counter_rows() -> Vec<HelpRow> {
    let rows = STATS.iter().filter(|def| def.opens_row());
    rows.map(|def| HelpRow {
        name: def.row_name(),
        unit: def.unit,
        meaning: def.meaning,
    })
    .collect()
}

/// The sums of counters.
fn total_rows() -> Vec<HelpRow> {
    let rows = TOTALS.iter();
    rows.map(|def| HelpRow {
        name: def.name.into(),
        unit: Unit::Count,
        meaning: def.meaning,
    })
    .collect()
}

/// The gauges there are one of per CPU, or per level.
fn gauge_rows(per: Per) -> Vec<HelpRow> {
    let rows = GAUGES.iter().filter(|def| def.per == per);
    rows.map(|def| HelpRow {
        name: def.name.into(),
        unit: def.unit,
        meaning: def.meaning,
    })
    .collect()
}

/// Everything that is counted and measured, by title.
pub fn tables() -> [(&'static str, Vec<HelpRow>); 4] {
    [
        ("Counters", counter_rows()),
        ("Sums of counters", total_rows()),
        ("Of each CPU", gauge_rows(Per::Cpu)),
        ("Of each level", gauge_rows(Per::Level)),
    ]
}

/// The text for `--help-stats`.
pub fn help() -> String {
    let mut text = String::new();
    for (title, rows) in tables() {
        text += &format!("{title}:\n");
        for row in rows {
            let unit = row.unit.text();
            text += &format!("  {:<24} {unit:<8} {}\n", row.name, row.meaning);
        }
    }
    text += &format!(
        "LEVEL is one of {}. Counters are summed over CPUs; a stream shows their change per interval.\n",
        LEVELS.join(", ")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_cover_every_cpu() {
        let mut cpus = vec![types::cpu_stats::default(), types::cpu_stats::default()];
        cpus[0].cnt[0] = 3;
        cpus[1].cnt[0] = 4;
        assert_eq!(sum(&cpus)[&STATS[0].name()], 7);
    }

    #[test]
    fn a_delta_counts_the_interval() {
        let before = Counters::from([("a".to_string(), 2)]);
        let now = Counters::from([("a".to_string(), 5), ("b".to_string(), 1)]);
        assert_eq!(
            delta(&now, &before),
            Counters::from([("a".into(), 3), ("b".into(), 1)])
        );
    }

    #[test]
    fn totals_add_up_what_belongs_to_them() {
        let counters = Counters::from([
            ("place.core".to_string(), 1),
            ("place.queue".to_string(), 2),
            ("place.sync".to_string(), 4),
            ("pinned.lone".to_string(), 8),
            ("newidle.pulled.llc".to_string(), 16),
            ("newidle.try.llc".to_string(), 1000),
            ("balance.pulled.smt".to_string(), 32),
        ]);
        let expected = [
            ("total.placed", 7),
            ("total.on_idle", 1),
            ("total.direct", 13),
            ("total.migrated", 0),
            ("total.pulled", 48),
        ];
        assert_eq!(
            totals(&counters),
            expected
                .map(|(name, n)| (name.to_string(), n))
                .into_iter()
                .collect()
        );
    }

    #[test]
    fn every_row_is_in_the_help() {
        let text = help();
        for row in tables().into_iter().flat_map(|(_, rows)| rows) {
            let has = |l: &str| l.contains(&row.name) && l.contains(row.unit.text());
            let shown = text.lines().any(|l| has(l) && l.ends_with(row.meaning));
            assert!(shown, "{row:?}");
        }
    }
}
