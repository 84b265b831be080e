// SPDX-License-Identifier: GPL-2.0-only
//! What is counted and measured: the rows of `src/bpf/stats.def`, what is
//! derived from them, and the gauges. Help, streams, metrics and documents come
//! from here.

/// The level names, nearest first, as in `migration_cost_ns.*`.
pub const LEVELS: [&str; 5] = ["smt", "cluster", "llc", "node", "system"];

/// What tells the counters of a group apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The group is one counter.
    None,
    /// Why; the reasons of a group add up.
    Reason(&'static str),
    /// How far, an index into [`LEVELS`].
    Level(usize),
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Events, tasks, CPUs.
    Count,
    /// Nanoseconds.
    Ns,
    /// A share of one.
    Ratio,
    /// A share of a hundred.
    Percent,
}

impl Unit {
    /// As it is printed in tables.
    pub fn text(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Ns => "ns",
            Unit::Ratio => "ratio",
            Unit::Percent => "percent",
        }
    }
}

/// A counter.
#[derive(Debug, Clone, Copy)]
pub struct StatDef {
    /// Name without reason and level.
    pub group: &'static str,
    /// Reason or level, if it has one.
    pub label: Label,
    /// What it counts.
    pub unit: Unit,
    /// One line for people.
    pub meaning: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/stats_table.rs"));

impl StatDef {
    /// The full name, like `place.core` or `newidle.pulled.llc`.
    pub fn name(&self) -> String {
        match self.label {
            Label::None => self.group.to_string(),
            Label::Reason(reason) => format!("{}.{reason}", self.group),
            Label::Level(level) => format!("{}.{}", self.group, LEVELS[level]),
        }
    }

    /// The name for a table in which the levels share a row.
    pub fn row_name(&self) -> String {
        match self.label {
            Label::Level(_) => format!("{}.LEVEL", self.group),
            _ => self.name(),
        }
    }

    /// Is it the first of its row in such a table?
    pub fn opens_row(&self) -> bool {
        !matches!(self.label, Label::Level(level) if level > 0)
    }
}

/// A sum of counters that has a name of its own.
#[derive(Debug, Clone, Copy)]
pub struct TotalDef {
    /// Full name.
    pub name: &'static str,
    /// Names of counters, or of groups whose members all count.
    pub sum_of: &'static [&'static str],
    /// Names that those groups have and the sum has not.
    pub but: &'static [&'static str],
    /// One line for people.
    pub meaning: &'static str,
}

/// The totals. Sums only: a difference of two counters that are read one after
/// the other could run backwards.
pub static TOTALS: &[TotalDef] = &[
    TotalDef {
        name: "total.placed",
        sum_of: &["place"],
        but: &[],
        meaning: "wake-ups and new tasks that ops.select_cpu was asked about; the sum of place.*",
    },
    TotalDef {
        name: "total.on_idle",
        sum_of: &["place"],
        but: &[
            "place.sync",
            "place.kthread",
            "place.sched_idle",
            "place.queue",
            "place.fork_queue",
        ],
        meaning: "of these, those placed on an idle CPU",
    },
    TotalDef {
        name: "total.direct",
        sum_of: &[
            "place",
            "pinned.idle",
            "pinned.lone",
            "queue.to_idle",
            "balance.spread",
        ],
        but: &["place.queue", "place.fork_queue"],
        meaning: "tasks put straight into a CPU's local queue",
    },
    TotalDef {
        name: "total.migrated",
        sum_of: &["migrate"],
        but: &[],
        meaning: "wake-ups placed away from the previous CPU",
    },
    TotalDef {
        name: "total.pulled",
        sum_of: &["newidle.pulled", "balance.pulled"],
        but: &[],
        meaning: "tasks pulled by idle and busy CPUs",
    },
];

impl TotalDef {
    /// Does the counter `def` belong to the sum?
    pub fn has(&self, def: &StatDef) -> bool {
        let name = def.name();
        let listed = |names: &[&str]| names.contains(&def.group) || names.contains(&name.as_str());
        listed(self.sum_of) && !listed(self.but)
    }
}

/// What a gauge exists once for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Every CPU that runs tasks.
    Cpu,
    /// Every level, as the mean over CPUs.
    Level,
}

/// Something that goes up and down.
#[derive(Debug, Clone, Copy)]
pub struct GaugeDef {
    /// Name; a field of [`super::sample::CpuGauges`] or [`super::sample::LevelGauges`].
    pub name: &'static str,
    /// What it exists once for.
    pub per: Per,
    /// What it is in.
    pub unit: Unit,
    /// One line for people.
    pub meaning: &'static str,
}

/// The gauges.
pub static GAUGES: &[GaugeDef] = &[
    GaugeDef {
        name: "nr_running",
        per: Per::Cpu,
        unit: Unit::Count,
        meaning: "runnable tasks of all classes, the running one included",
    },
    GaugeDef {
        name: "avg_idle_ns",
        per: Per::Cpu,
        unit: Unit::Ns,
        meaning: "how long it expects to idle the next time: what the new-idle gate goes by",
    },
    GaugeDef {
        name: "idle_ns",
        per: Per::Cpu,
        unit: Unit::Ns,
        meaning: "how long it has idled by now; 0 while it is busy",
    },
    GaugeDef {
        name: "busy_pct",
        per: Per::Cpu,
        unit: Unit::Percent,
        meaning: "share of the interval it was not idle, as /proc/stat has it",
    },
    GaugeDef {
        name: "pull_cost_ns",
        per: Per::Level,
        unit: Unit::Ns,
        meaning: "measured cost of a new-idle search, mean over the CPUs that searched there",
    },
    GaugeDef {
        name: "success_ratio",
        per: Per::Level,
        unit: Unit::Ratio,
        meaning: "share of new-idle searches that find a task, as the dice has it, mean over CPUs",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skel::types;

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
    fn totals_are_made_of_counters_that_exist() {
        let known = |name: &str| STATS.iter().any(|s| s.group == name || s.name() == name);
        for total in TOTALS {
            for name in total.sum_of.iter().chain(total.but) {
                assert!(known(name), "{}: {name}", total.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<String> = STATS.iter().map(StatDef::name).collect();
        names.extend(TOTALS.iter().map(|t| t.name.to_string()));
        names.extend(GAUGES.iter().map(|g| g.name.to_string()));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
