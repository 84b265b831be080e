//! The machine as a tree of parts, and words for the shape of a part, so that equal parts fold.

use super::cpuset::CpuSet;
use super::partition::distinct;
use super::Cpu;
use super::Topology;

/// What a part of the tree is, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Node,
    Llc,
    Cluster,
    Core,
}

const KINDS: [Kind; 4] = [Kind::Node, Kind::Llc, Kind::Cluster, Kind::Core];

/// A node, LLC, cluster or core with the parts inside it. A cluster that is just one core, or a
/// whole LLC, has no part of its own.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) cpus: CpuSet,
    pub(super) parts: Vec<Part>,
    /// What the part is made of, such as `8 LLCs of 8 cores x 2 threads`; empty for a single CPU.
    pub(super) content: String,
}

/// The nodes of the machine; one, of every CPU, on a machine without nodes.
pub(super) fn nodes(topology: &Topology) -> Vec<Part> {
    split(topology, &topology.online, Kind::Node)
}

/// The parts of one kind in a set of CPUs.
fn split(topology: &Topology, within: &CpuSet, kind: Kind) -> Vec<Part> {
    let groups: Vec<CpuSet> = match kind {
        Kind::Node => within.iter().map(|cpu| topology.node_cpus(cpu)).collect(),
        _ => within
            .iter()
            .filter_map(|cpu| Some(group(topology.cpus.get(&cpu)?, kind).clone()))
            .collect(),
    };
    distinct(groups.iter())
        .into_iter()
        .map(|cpus| {
            let next = KINDS.into_iter().find(|next| *next > kind);
            let parts = next.map(|next| split(topology, cpus, next));
            let mut parts = parts.unwrap_or_default();
            if kind == Kind::Llc && parts.len() == 1 {
                parts = parts.into_iter().flat_map(unwrap_cluster).collect();
            }
            if kind == Kind::Cluster && parts.len() == 1 {
                return parts.remove(0);
            }
            let content = content(kind, cpus, &parts);
            Part {
                kind,
                cpus: cpus.clone(),
                parts,
                content,
            }
        })
        .collect()
}

fn unwrap_cluster(part: Part) -> Vec<Part> {
    if part.kind == Kind::Cluster {
        part.parts
    } else {
        vec![part]
    }
}

fn group(cpu: &Cpu, kind: Kind) -> &CpuSet {
    match kind {
        Kind::Node | Kind::Llc => &cpu.llc,
        Kind::Cluster => &cpu.cluster,
        Kind::Core => &cpu.smt,
    }
}

fn content(kind: Kind, cpus: &CpuSet, parts: &[Part]) -> String {
    if kind == Kind::Core {
        return match cpus.len() {
            1 => String::new(),
            threads => format!("{threads} threads"),
        };
    }
    let shapes = fold(parts);
    let words: Vec<String> = shapes
        .iter()
        .filter_map(|equal| Some(counted(equal.len(), equal.first()?)))
        .collect();
    words.join(" + ")
}

/// Parts of the same shape together, in the order in which each shape comes up first.
pub(super) fn fold<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<Vec<&'a Part>> {
    let mut shapes: Vec<Vec<&Part>> = Vec::new();
    for part in parts {
        let same = |equal: &&mut Vec<&Part>| {
            equal
                .first()
                .is_some_and(|first| first.kind == part.kind && first.content == part.content)
        };
        match shapes.iter_mut().find(same) {
            Some(equal) => equal.push(part),
            None => shapes.push(vec![part]),
        }
    }
    shapes
}

/// `8 LLCs of 4 cores`, `1 core x 2 threads`.
pub(super) fn counted(count: usize, part: &Part) -> String {
    let (one, joint) = match part.kind {
        Kind::Node => ("node", "of"),
        Kind::Llc => ("LLC", "of"),
        Kind::Cluster => ("cluster", "of"),
        Kind::Core => ("core", "x"),
    };
    let plural = if count == 1 { "" } else { "s" };
    if part.content.is_empty() {
        format!("{count} {one}{plural}")
    } else {
        format!("{count} {one}{plural} {joint} {}", part.content)
    }
}
