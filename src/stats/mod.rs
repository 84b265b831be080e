// SPDX-License-Identifier: GPL-2.0-only
//! Counters: the table, sums over CPUs, differences, texts.
//!
//! The rows come from `src/bpf/stats.def`, which the BPF side includes too.

pub mod server;
mod summary;

use std::collections::BTreeMap;

use crate::skel::types;

pub use summary::line;
pub use summary::summary;

/// The level names, nearest first, as in `migration_cost_ns.*`.
pub const LEVELS: [&str; 5] = ["smt", "cluster", "llc", "node", "system"];

/// A counter; those by level are one row per level.
#[derive(Debug, Clone, Copy)]
pub struct StatDef {
    /// Name without the level.
    pub group: &'static str,
    /// Index into [`LEVELS`].
    pub level: Option<usize>,
    /// One line for people.
    pub meaning: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/stats_table.rs"));

impl StatDef {
    /// The full name, like `place.core` or `newidle.pulled.llc`.
    pub fn name(&self) -> String {
        match self.level {
            Some(level) => format!("{}.{}", self.group, LEVELS[level]),
            None => self.group.to_string(),
        }
    }
}

/// All counters summed over CPUs, by full name; events since load.
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

/// The table for `--help-stats`.
pub fn help() -> String {
    let mut text =
        String::from("Counters, summed over CPUs; a stream shows the change per interval:\n");
    for def in STATS.iter().filter(|d| d.level.unwrap_or(0) == 0) {
        let name = match def.level {
            Some(_) => format!("{}.LEVEL", def.group),
            None => def.group.to_string(),
        };
        text += &format!("  {name:<24} {}\n", def.meaning);
    }
    text += &format!("LEVEL is one of {}.\n", LEVELS.join(", "));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_enum_have_the_same_length() {
        assert_eq!(STATS.len(), types::stat_id::STAT_NR.0 as usize);
    }

    #[test]
    fn table_and_enum_agree_on_positions() {
        let at = |id: types::stat_id| STATS[id.0 as usize].name();
        assert_eq!(at(types::stat_id::STAT_PLACE_TARGET), "place.target");
        assert_eq!(
            at(types::stat_id::STAT_NEWIDLE_PULLED),
            "newidle.pulled.smt"
        );
        assert_eq!(
            at(types::stat_id::STAT_BUSY_PULLED_END),
            "balance.pulled.system"
        );
    }

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
}
