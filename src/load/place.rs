// SPDX-License-Identifier: GPL-2.0-only
//! Two CPUs that stand in a given relation: same core, same cache, other node.

use crate::exit::Failure;

use super::affinity;
use super::cpulist;
use anyhow::{bail, Context, Result};
use clap::ValueEnum;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where sysfs describes CPUs and nodes.
pub const SYSFS: &str = "/sys/devices/system";

/// How close the two processes of a pair are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Both on one CPU
    Same,
    /// Two hardware threads of one core
    Smt,
    /// Two cores with one last-level cache (level llc of the tunables)
    Core,
    /// Across last-level caches, on one node where possible (level node of the tunables)
    Llc,
    /// Across NUMA nodes (level system of the tunables)
    Node,
    /// Wherever the scheduler puts them
    Unbound,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Smt => "smt",
            Self::Core => "core",
            Self::Llc => "llc",
            Self::Node => "node",
            Self::Unbound => "unbound",
        }
    }
}

/// Where one CPU sits. Groups are named by their lowest CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPos {
    pub cpu: usize,
    pub core: usize,
    pub llc: usize,
    /// Node number as in sysfs; 0 where the kernel knows no nodes.
    pub node: usize,
}

/// Reads the positions of all online CPUs below `root` (see [`SYSFS`]).
pub fn read(root: &Path) -> Result<Vec<CpuPos>> {
    let path = root.join("cpu/online");
    let text = fs::read_to_string(&path).with_context(|| {
        format!(
            "reading the online CPUs from {} failed: mount sysfs on /sys first",
            path.display()
        )
    })?;
    let online: BTreeSet<usize> = match cpulist::parse(&text) {
        Ok(cpus) if !cpus.is_empty() => cpus.into_iter().collect(),
        Ok(_) => bail!("{} is empty: is sysfs mounted on /sys?", path.display()),
        Err(why) => bail!("{} cannot be read: {why}", path.display()),
    };
    let nodes = read_nodes(root);
    let lowest = |list: Option<Vec<usize>>, cpu: usize| {
        list.into_iter()
            .flatten()
            .filter(|c| online.contains(c))
            .min()
            .map_or(cpu, |m| m.min(cpu))
    };
    Ok(online
        .iter()
        .map(|&cpu| {
            let dir = root.join(format!("cpu/cpu{cpu}"));
            let topology = |file: &str| read_list(&dir.join("topology").join(file));
            let core = topology("core_cpus_list").or_else(|| topology("thread_siblings_list"));
            // Guests without cache directories: one cache per package.
            let llc = last_cache(&dir)
                .or_else(|| topology("package_cpus_list"))
                .or_else(|| topology("core_siblings_list"));
            CpuPos {
                cpu,
                core: lowest(core, cpu),
                llc: lowest(llc, cpu),
                node: nodes.get(&cpu).copied().unwrap_or(0),
            }
        })
        .collect())
}

fn read_list(path: &Path) -> Option<Vec<usize>> {
    let cpus = cpulist::parse(&fs::read_to_string(path).ok()?).ok()?;
    (!cpus.is_empty()).then_some(cpus)
}

/// The CPUs that share the highest cache of the CPU with directory `dir`.
fn last_cache(dir: &Path) -> Option<Vec<usize>> {
    let mut best: Option<(u32, Vec<usize>)> = None;
    for entry in fs::read_dir(dir.join("cache")).ok()?.flatten() {
        let index = entry.path();
        let level = fs::read_to_string(index.join("level")).ok();
        let Some(level) = level.and_then(|l| l.trim().parse::<u32>().ok()) else {
            continue;
        };
        let kind = fs::read_to_string(index.join("type")).unwrap_or_default();
        if kind.trim() == "Instruction" || best.as_ref().is_some_and(|(l, _)| *l >= level) {
            continue;
        }
        if let Some(cpus) = read_list(&index.join("shared_cpu_list")) {
            best = Some((level, cpus));
        }
    }
    best.map(|(_, cpus)| cpus)
}

/// Node number by CPU; empty where the kernel knows no nodes.
fn read_nodes(root: &Path) -> BTreeMap<usize, usize> {
    let mut nodes = BTreeMap::new();
    let Ok(entries) = fs::read_dir(root.join("node")) else {
        return nodes;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|n| n.strip_prefix("node"))
            .and_then(|n| n.parse().ok());
        let Some(id) = id else { continue };
        for cpu in read_list(&entry.path().join("cpulist")).unwrap_or_default() {
            nodes.insert(cpu, id);
        }
    }
    nodes
}

/// The pair for `place` on this machine, or none for [`Place::Unbound`].
pub fn find_pair(place: Place) -> Result<Option<[usize; 2]>> {
    if place == Place::Unbound {
        return Ok(None);
    }
    let allowed = affinity::allowed()?;
    let mut cpus = read(Path::new(SYSFS))?;
    cpus.retain(|pos| allowed.contains(&pos.cpu));
    choose(&cpus, place).map(Some)
}

/// The first pair, in CPU order, among `cpus` that stands as `place` says.
pub fn choose(cpus: &[CpuPos], place: Place) -> Result<[usize; 2]> {
    if let (Place::Same, Some(pos)) = (place, cpus.first()) {
        return Ok([pos.cpu, pos.cpu]);
    }
    let pairs = || {
        cpus.iter()
            .enumerate()
            .flat_map(|(i, a)| cpus[i + 1..].iter().map(move |b| (a, b)))
    };
    let first = |fits: &dyn Fn(&CpuPos, &CpuPos) -> bool| {
        pairs()
            .find(|(a, b)| fits(a, b))
            .map(|(a, b)| [a.cpu, b.cpu])
    };
    let found = match place {
        Place::Same | Place::Unbound => None,
        Place::Smt => first(&|a, b| a.core == b.core),
        Place::Core => first(&|a, b| a.core != b.core && a.llc == b.llc),
        Place::Llc => first(&|a, b| a.llc != b.llc && a.node == b.node)
            .or_else(|| first(&|a, b| a.llc != b.llc)),
        Place::Node => first(&|a, b| a.node != b.node),
    };
    match found {
        Some(pair) => Ok(pair),
        None => Err(Failure::Machine(format!(
            "--place {} does not exist on the CPUs this process may use ({}): \
             use another --place (same and unbound always work) or name two CPUs with --cpus A,B",
            place.name(),
            census(cpus)
        ))
        .into()),
    }
}

/// "8 CPUs, 4 cores, 2 last-level caches, 1 node".
fn census(cpus: &[CpuPos]) -> String {
    let count = |what: &str, of: &dyn Fn(&CpuPos) -> usize| {
        let n = cpus.iter().map(of).collect::<BTreeSet<_>>().len();
        format!("{n} {what}{}", if n == 1 { "" } else { "s" })
    };
    [
        count("CPU", &|p| p.cpu),
        count("core", &|p| p.core),
        count("last-level cache", &|p| p.llc),
        count("node", &|p| p.node),
    ]
    .join(", ")
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
