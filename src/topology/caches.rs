//! Which of a CPU's caches is its L2 and which its last level.
//!
//! The level is what the `level` file says: index numbers have holes (no L1i, no L2), and cache ids
//! are absent on arm64 and not unique across core types, so neither is used.

use std::collections::BTreeMap;

use super::cpuset::CpuSet;
use super::sysfs::Raw;
use super::sysfs::RawCpu;

/// CPUs sharing the level-2 cache: the unified one, else the data one.
pub(super) fn l2(said: &RawCpu) -> Option<&CpuSet> {
    let l2 = said.caches.iter().filter(|cache| cache.level == 2);
    l2.max_by_key(|cache| cache.unified)
        .map(|cache| &cache.cpus)
}

/// What every CPU says about its last-level cache; `None` where nothing is known of any cache.
///
/// A CPU that lists fewer levels than its neighbours belongs to the highest cache in which they
/// name it: a lost directory is more likely than a cache that only one side knows of.
pub(super) fn last_level(raw: &Raw) -> BTreeMap<u32, Option<CpuSet>> {
    let own: BTreeMap<u32, (u32, &CpuSet)> = raw
        .cpus
        .iter()
        .filter_map(|(cpu, said)| {
            let last = said
                .caches
                .iter()
                .max_by_key(|cache| (cache.level, cache.unified))?;
            Some((*cpu, (last.level, &last.cpus)))
        })
        .collect();
    let mut votes: BTreeMap<(u32, &CpuSet), usize> = BTreeMap::new();
    for claim in own.values() {
        *votes.entry(*claim).or_default() += 1;
    }
    let mut named: BTreeMap<u32, (u32, usize, &CpuSet)> = BTreeMap::new();
    for ((level, set), count) in votes {
        for cpu in set.iter() {
            let best = named.entry(cpu).or_insert((level, count, set));
            if (level, count) > (best.0, best.1) {
                *best = (level, count, set);
            }
        }
    }
    let pick = |cpu: &u32| {
        let (level, set) = own.get(cpu).copied().unzip();
        match named.get(cpu) {
            Some((higher, _, theirs)) if Some(*higher) > level => Some(*theirs),
            _ => set,
        }
    };
    raw.cpus
        .keys()
        .map(|cpu| (*cpu, pick(cpu).cloned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::sysfs::RawCache;
    use super::*;

    fn cpu(caches: &[(u32, bool, &str)]) -> RawCpu {
        let caches = caches.iter().map(|(level, unified, cpus)| RawCache {
            level: *level,
            unified: *unified,
            cpus: CpuSet::parse_list(cpus).unwrap(),
        });
        RawCpu {
            caches: caches.collect(),
            ..RawCpu::default()
        }
    }

    fn llc(cpus: Vec<RawCpu>) -> Vec<String> {
        let raw = Raw {
            cpus: (0..).zip(cpus).collect(),
            ..Raw::default()
        };
        let show = |set: &Option<CpuSet>| set.as_ref().map_or("?".into(), ToString::to_string);
        last_level(&raw).values().map(show).collect()
    }

    #[test]
    fn the_highest_level_counts_whatever_the_order() {
        let first = cpu(&[(3, true, "0-1"), (1, false, "0"), (2, true, "0")]);
        assert_eq!(l2(&first), Some(&CpuSet::single(0)));
        assert_eq!(llc(vec![first, cpu(&[(3, true, "0-1")])]), ["0-1", "0-1"]);
        let split = cpu(&[(2, true, "0-1"), (2, false, "0")]);
        assert_eq!(l2(&split), Some(&CpuSet::range(0, 1)));
    }

    #[test]
    fn a_cpu_that_lost_its_last_level_is_found_in_its_neighbours_lists() {
        let whole = || cpu(&[(2, true, "0-1"), (3, true, "0-3")]);
        let torn = cpu(&[(2, true, "0-1")]);
        assert_eq!(llc(vec![whole(), torn, cpu(&[])]), ["0-3", "0-3", "0-3"]);
    }

    #[test]
    fn core_types_may_end_at_different_levels() {
        let big = || cpu(&[(3, true, "0-1")]);
        let small = || cpu(&[(2, true, "2-3")]);
        let all = vec![big(), big(), small(), small(), cpu(&[])];
        assert_eq!(llc(all), ["0-1", "0-1", "2-3", "2-3", "?"]);
    }
}
