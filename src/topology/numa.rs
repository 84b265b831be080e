//! Nodes: which CPU is in which, and how far they are from each other.

use std::collections::BTreeMap;

use super::cpuset::CpuSet;
use super::notes::Notes;
use super::partition::Groups;
use super::sysfs::Raw;
use super::Distance;
use super::Node;

/// The node of every CPU, `None` where nothing names one.
pub(super) type NodeOf = BTreeMap<u32, Option<u32>>;

/// The node that lists the CPU; the CPU's own `nodeM` links decide between several nodes and stand
/// in for a missing one.
pub(super) fn node_of(raw: &Raw, notes: &mut Notes) -> NodeOf {
    if raw.nodes.is_empty() {
        return one_node(raw, notes);
    }
    let mut claimed: BTreeMap<u32, CpuSet> = BTreeMap::new();
    for (id, node) in &raw.nodes {
        for cpu in node.cpus.iter() {
            claimed.entry(cpu).or_default().insert(*id);
        }
    }
    let mut result = NodeOf::new();
    for (cpu, said) in &raw.cpus {
        let claims = claimed.get(cpu).cloned().unwrap_or_default();
        let both = claims.intersect(&said.node_links);
        let pick = both.first().or(claims.first()).or(said.node_links.first());
        if claims.len() > 1 {
            let what = "several NUMA nodes list it; the one it links to or the lowest is taken";
            notes.cpu(*cpu, what, &format!("nodes {claims}"));
        } else if let (true, Some(id)) = (claims.is_empty(), pick) {
            let what = "no NUMA node lists it; the node it links to is taken";
            notes.cpu(*cpu, what, &format!("node{id}"));
        } else if pick.is_none() {
            notes.cpu(
                *cpu,
                "in no NUMA node; all such CPUs are taken as one more node",
                "",
            );
        }
        result.insert(*cpu, pick);
    }
    result
}

/// Without node directories the machine is one node, whatever dangling links are left; their number
/// is kept when they agree.
fn one_node(raw: &Raw, notes: &mut Notes) -> NodeOf {
    notes.machine("no NUMA node directory; the machine is taken as one node");
    let linked: CpuSet = raw
        .cpus
        .values()
        .filter_map(|said| said.node_links.first())
        .collect();
    let node = linked.first().filter(|_| linked.len() == 1);
    raw.cpus.keys().map(|cpu| (*cpu, node)).collect()
}

/// The CPUs of the same node, for every CPU.
pub(super) fn groups(node_of: &NodeOf) -> Groups {
    let mut members: BTreeMap<Option<u32>, CpuSet> = BTreeMap::new();
    for (cpu, node) in node_of {
        members.entry(*node).or_default().insert(*cpu);
    }
    let group = |node: &Option<u32>| members.get(node).cloned().unwrap_or_default();
    node_of
        .iter()
        .map(|(cpu, node)| (*cpu, group(node)))
        .collect()
}

/// The nodes that have a directory, each with the CPUs that [`node_of`] put there.
pub(super) fn nodes(raw: &Raw, node_of: &NodeOf) -> BTreeMap<u32, Node> {
    let mut nodes: BTreeMap<u32, Node> = raw
        .nodes
        .iter()
        .map(|(id, said)| {
            (
                *id,
                Node {
                    cpus: CpuSet::new(),
                    memory_kb: said.memory_kb,
                },
            )
        })
        .collect();
    for (cpu, node) in node_of {
        if let Some(node) = node.and_then(|id| nodes.get_mut(&id)) {
            node.cpus.insert(*cpu);
        }
    }
    nodes
}

/// The square matrix over the node directories.
///
/// A row has one column per node of `node/online`, which need not be the directories of a copied or
/// damaged tree; the columns are picked by that list then, and when neither count fits there is no
/// telling which column is whose.
pub(super) fn distance(raw: &Raw, notes: &mut Notes) -> Option<Distance> {
    if raw.nodes.is_empty() {
        return None;
    }
    if raw.nodes.values().all(|node| node.distance.is_none()) {
        notes.machine("no NUMA distances; all other nodes are taken as equally far");
        return None;
    }
    let nodes: Vec<u32> = raw.nodes.keys().copied().collect();
    let online: Vec<u32> = raw.node_online.iter().flat_map(CpuSet::iter).collect();
    let mut matrix = Vec::new();
    for (id, node) in &raw.nodes {
        let row = node.distance.as_deref().and_then(|row| {
            let columns = [&online, &nodes]
                .into_iter()
                .find(|ids| ids.len() == row.len())?;
            let by_id: BTreeMap<u32, u32> =
                columns.iter().copied().zip(row.iter().copied()).collect();
            nodes
                .iter()
                .map(|id| by_id.get(id).copied())
                .collect::<Option<Vec<u32>>>()
        });
        let Some(row) = row else {
            notes.machine(&format!(
                "the distances of node {id} are missing or do not fit the node directories; all \
                 other nodes are taken as equally far"
            ));
            return None;
        };
        matrix.push(row);
    }
    Some(Distance { nodes, matrix })
}

#[cfg(test)]
mod tests {
    use super::super::sysfs::RawNode;
    use super::*;

    fn raw(online: &str, rows: &[(u32, &[u32])]) -> Raw {
        let node = |row: &[u32]| RawNode {
            distance: Some(row.to_vec()),
            ..RawNode::default()
        };
        Raw {
            node_online: CpuSet::parse_list(online).ok(),
            nodes: rows.iter().map(|(id, row)| (*id, node(row))).collect(),
            ..Raw::default()
        }
    }

    #[test]
    fn columns_belong_to_the_online_nodes() {
        let raw = raw("0,2-3", &[(2, &[20, 10, 15]), (3, &[21, 15, 10])]);
        let distance = distance(&raw, &mut Notes::default()).unwrap();
        assert_eq!(distance.nodes, [2, 3]);
        assert_eq!(distance.matrix, [[10, 15], [15, 10]]);
        assert_eq!(distance.between(2, 3), Some(15));
        assert_eq!(distance.between(2, 0), None);
    }

    #[test]
    fn rows_that_fit_nothing_give_no_matrix() {
        let mut notes = Notes::default();
        assert!(distance(
            &raw("0-1", &[(0, &[10, 20, 30]), (1, &[20, 10])]),
            &mut notes
        )
        .is_none());
        assert_eq!(notes.into_lines().len(), 1);
    }
}
