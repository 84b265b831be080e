//! Decides, level by level, which of the sources of a raw tree counts, and makes the levels nest.
//!
//! Pure: what sysfs said in, a sound topology and remarks out.

use std::collections::BTreeMap;

use super::caches;
use super::cpuset::CpuSet;
use super::notes::Notes;
use super::numa;
use super::partition::nest;
use super::partition::settle;
use super::partition::Groups;
use super::sysfs::Raw;
use super::Cpu;
use super::Topology;

type Claims = BTreeMap<u32, Option<CpuSet>>;

/// Builds the topology without its warnings; those are left in `notes`.
pub(super) fn assemble(raw: Raw, notes: &mut Notes) -> Topology {
    let mut smt = cores(&raw, notes);
    let package = packages(&raw, notes);
    let mut cluster = clusters(&raw, &smt, notes);
    let mut llc = llcs(&raw, &package, notes);
    let node_of = numa::node_of(&raw, notes);
    let node = numa::groups(&node_of);

    // Outermost first, so that each level is cut once, by a level that is final.
    let cut = nest(&mut llc, &node);
    notes.cpus(
        &cut,
        "the LLC spans NUMA nodes; cut at the node, as the kernel's MC level is",
        "",
    );
    let cut = nest(&mut cluster, &llc);
    notes.cpus(
        &cut,
        "the cluster or L2 crosses the border of the LLC; cut there",
        "",
    );
    let cut = nest(&mut smt, &cluster);
    notes.cpus(
        &cut,
        "the core crosses the border of the cluster or L2; cut there",
        "",
    );

    let group = |groups: &Groups, cpu: u32| {
        groups
            .get(&cpu)
            .cloned()
            .unwrap_or_else(|| CpuSet::single(cpu))
    };
    let cpus = raw
        .cpus
        .iter()
        .map(|(&cpu, said)| {
            let entry = Cpu {
                smt: group(&smt, cpu),
                cluster: group(&cluster, cpu),
                llc: group(&llc, cpu),
                package: group(&package, cpu),
                node: node_of.get(&cpu).copied().flatten(),
                capacity: said.capacity,
            };
            (cpu, entry)
        })
        .collect();
    Topology {
        distance: numa::distance(&raw, notes),
        nodes: numa::nodes(&raw, &node_of),
        cpus,
        online: raw.online,
        possible: raw.possible,
        isolated: raw.isolated,
        nohz_full: raw.nohz_full,
        warnings: Vec::new(),
    }
}

fn cores(raw: &Raw, notes: &mut Notes) -> Groups {
    let claims: Claims = raw
        .cpus
        .iter()
        .map(|(cpu, c)| (*cpu, c.core.clone()))
        .collect();
    let groups = settled("core", &claims, notes);
    let silent = claims.iter().filter(|(cpu, claim)| {
        claim.is_none() && groups.get(cpu).is_some_and(|group| group.len() == 1)
    });
    let silent: CpuSet = silent.map(|(cpu, _)| *cpu).collect();
    notes.cpus(
        &silent,
        "no list of the threads of its core; taken as a core of its own",
        "",
    );
    groups
}

fn packages(raw: &Raw, notes: &mut Notes) -> Groups {
    let mut same_id: BTreeMap<(i64, i64, i64), CpuSet> = BTreeMap::new();
    for (cpu, said) in &raw.cpus {
        if let Some(key) = said.package_key {
            same_id.entry(key).or_default().insert(*cpu);
        }
    }
    let mut claims: Claims = raw
        .cpus
        .iter()
        .map(|(cpu, said)| {
            let by_id = || same_id.get(&said.package_key?).cloned();
            (*cpu, said.package.clone().or_else(by_id))
        })
        .collect();
    if claims.values().all(Option::is_none) {
        // As many packages as CPUs would be as many last-level caches; a machine that says nothing
        // is most often a small guest with one.
        notes.machine("no CPU names its package; the machine is taken as one package");
        claims
            .values_mut()
            .for_each(|claim| *claim = Some(raw.online.clone()));
    }
    settled("package", &claims, notes)
}

/// Clusters of the cores, between core and LLC. `cluster_cpus` is a copy of the core on machines
/// without clusters, and then the L2 is the better answer; the numbers in `cluster_id` are never
/// looked at (65535 and -1 are in the field).
fn clusters(raw: &Raw, smt: &Groups, notes: &mut Notes) -> Groups {
    let claims: Claims = raw
        .cpus
        .iter()
        .map(|(cpu, said)| {
            let core = smt.get(cpu);
            let width = core.map_or(1, CpuSet::len);
            let cluster = said.cluster.as_ref().filter(|set| set.len() > width);
            // Threads of a core share its L2 whatever a virtual machine's CPUID leaf says.
            let l2 = caches::l2(said).filter(|l2| core.is_none_or(|core| core.is_subset(l2)));
            let claim = cluster.or(l2).or(core);
            (*cpu, claim.cloned())
        })
        .collect();
    settled("cluster or L2", &claims, notes)
}

fn llcs(raw: &Raw, package: &Groups, notes: &mut Notes) -> Groups {
    let mut claims = caches::last_level(raw);
    let silent: CpuSet = claims
        .iter()
        .filter(|(_, c)| c.is_none())
        .map(|(cpu, _)| *cpu)
        .collect();
    notes.cpus(
        &silent,
        "no cache is listed for it; its package is taken as its LLC",
        "",
    );
    for cpu in silent.iter() {
        claims.insert(cpu, package.get(&cpu).cloned());
    }
    settled("LLC", &claims, notes)
}

fn settled(level: &str, claims: &Claims, notes: &mut Notes) -> Groups {
    let settled = settle(claims);
    let what = format!("no usable {level} file; put where the files of its neighbours name it");
    notes.cpus(&settled.adopted, &what, "");
    let what = format!("{level} files of neighbours disagree; grouped as most of them have it");
    notes.cpus(&settled.overruled, &what, "");
    settled.groups
}
