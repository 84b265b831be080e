//! Turns what each CPU says about its own group into groups that share no CPU.
//!
//! sysfs repeats every group once per member. On a sound machine the copies agree; in a damaged or
//! half hot-plugged tree they do not, and the members then vote: one bad file must not split a
//! cache that seven other files describe.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::cpuset::CpuSet;

/// The group of every CPU. After [`settle`] the distinct values share no CPU.
pub(super) type Groups = BTreeMap<u32, CpuSet>;

/// What [`settle`] found.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) groups: Groups,
    /// CPUs that said nothing and were put where others name them.
    pub(super) adopted: CpuSet,
    /// CPUs whose own words and final group differ.
    pub(super) overruled: CpuSet,
}

/// Makes a partition of what every CPU says (`None`: nothing) about its group.
///
/// Each CPU takes the set that holds it and that most CPUs claim; the smaller one on a tie, because
/// too small a group costs a chance while too large a one sends tasks to a cache they do not share.
/// CPUs that took the same set are a group. A CPU of which nobody says anything is alone.
pub(super) fn settle(claims: &BTreeMap<u32, Option<CpuSet>>) -> Settled {
    let mut votes: BTreeMap<&CpuSet, usize> = BTreeMap::new();
    for set in claims.values().flatten() {
        *votes.entry(set).or_default() += 1;
    }
    let mut best: BTreeMap<u32, (&CpuSet, usize)> = BTreeMap::new();
    for (set, count) in &votes {
        for cpu in set.iter() {
            let current = best.entry(cpu).or_insert((set, *count));
            let tie = *count == current.1;
            if *count > current.1 || (tie && set.len() < current.0.len()) {
                *current = (set, *count);
            }
        }
    }
    let mut members: BTreeMap<&CpuSet, CpuSet> = BTreeMap::new();
    for cpu in claims.keys() {
        if let Some((set, _)) = best.get(cpu) {
            members.entry(set).or_default().insert(*cpu);
        }
    }
    let mut settled = Settled::default();
    for (cpu, claim) in claims {
        let group = best
            .get(cpu)
            .and_then(|(set, _)| members.get(set))
            .cloned()
            .unwrap_or_else(|| CpuSet::single(*cpu));
        match claim {
            Some(own) if *own != group => settled.overruled.insert(*cpu),
            None if group.len() > 1 => settled.adopted.insert(*cpu),
            _ => {}
        }
        settled.groups.insert(*cpu, group);
    }
    settled
}

/// Cuts every inner group at the borders of the outer ones, and names the CPUs whose group shrank.
/// Cutting keeps a partition a partition; joining the outer groups would not end.
pub(super) fn nest(inner: &mut Groups, outer: &Groups) -> CpuSet {
    let mut cut = CpuSet::new();
    for (cpu, group) in inner.iter_mut() {
        let Some(limit) = outer.get(cpu) else {
            continue;
        };
        if !group.is_subset(limit) {
            *group = group.intersect(limit);
            cut.insert(*cpu);
        }
    }
    cut
}

/// The distinct groups, by their lowest CPU.
pub(super) fn distinct<'a>(groups: impl Iterator<Item = &'a CpuSet>) -> Vec<&'a CpuSet> {
    let unique: BTreeSet<(Option<u32>, &CpuSet)> = groups.map(|g| (g.first(), g)).collect();
    unique.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(said: &[&str]) -> BTreeMap<u32, Option<CpuSet>> {
        let set = |text: &&str| (*text != "?").then(|| CpuSet::parse_list(text).unwrap());
        (0..).zip(said.iter().map(set)).collect()
    }

    fn groups(said: &[&str]) -> Vec<String> {
        let settled = settle(&claims(said));
        distinct(settled.groups.values())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn agreeing_files_are_taken_as_they_are() {
        let settled = settle(&claims(&["0,2", "1,3", "0,2", "1,3"]));
        assert!(settled.adopted.is_empty() && settled.overruled.is_empty());
        assert_eq!(groups(&["0,2", "1,3", "0,2", "1,3"]), ["0,2", "1,3"]);
    }

    #[test]
    fn one_bad_file_is_outvoted() {
        assert_eq!(groups(&["0-3", "?", "0-3", "2-3"]), ["0-3"]);
        assert_eq!(groups(&["0-1", "0-1", "0-3", "2-3"]), ["0-1", "2-3"]);
        assert_eq!(groups(&["?", "?"]), ["0", "1"]);
    }

    #[test]
    fn whatever_is_claimed_the_result_is_a_partition() {
        for said in [
            ["0-1", "1-2", "2-3", "0,3"],
            ["0-3", "1", "1-2", "3"],
            ["0", "0-1", "0-2", "0-3"],
        ] {
            let settled = settle(&claims(&said));
            let total: usize = distinct(settled.groups.values())
                .iter()
                .map(|g| g.len())
                .sum();
            assert_eq!(total, 4, "{said:?} gives {:?}", settled.groups);
            assert!(settled.groups.iter().all(|(cpu, g)| g.contains(*cpu)));
        }
    }

    #[test]
    fn inner_groups_are_cut_at_outer_borders() {
        let mut inner = settle(&claims(&["0-3", "0-3", "0-3", "0-3"])).groups;
        let outer = settle(&claims(&["0-1", "0-1", "2-3", "2-3"])).groups;
        assert_eq!(nest(&mut inner, &outer), CpuSet::range(0, 3));
        assert_eq!(inner, outer);
        assert_eq!(nest(&mut inner, &outer), CpuSet::new());
    }
}
