// SPDX-License-Identifier: GPL-2.0-only
//! The topology as the BPF side reads it: tables indexed by CPU, LLC and node,
//! in the skeleton's own types. Pure; the loader copies the result into
//! `.rodata`.

use std::collections::BTreeMap;

use thiserror::Error;

use super::CpuSet;
use super::Topology;
use crate::skel::types;

const MAX_CPUS: usize = types::sibling_limits::MAX_CPUS.0 as usize;
const MAX_LLCS: usize = types::sibling_limits::MAX_LLCS.0 as usize;
const MAX_NODES: usize = types::sibling_limits::MAX_NODES.0 as usize;
const LLC_CPUS: usize = types::sibling_limits::LLC_CPUS.0 as usize;
const NODE_LLCS: usize = types::sibling_limits::NODE_LLCS.0 as usize;
const NO_CPU: u16 = types::sibling_limits::NO_CPU.0 as u16;

/// A machine the tables cannot hold.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LayoutError {
    /// A CPU number beyond the tables.
    #[error("CPU {0} is online, but this build handles CPU numbers below {MAX_CPUS}; boot with nr_cpus={MAX_CPUS} or rebuild with a larger MAX_CPUS in src/bpf/intf.h")]
    Cpus(u32),
    /// Too many caches or nodes.
    #[error("this machine has {found} {what}, this build handles {limit}; rebuild with larger limits in src/bpf/intf.h")]
    Groups {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many fit.
        limit: usize,
    },
}

/// The tables, each as long as it is used.
#[derive(Default)]
pub struct Layout {
    /// By CPU number; CPUs not scheduled on have `valid` 0.
    pub cpus: Vec<types::cpu_topo>,
    /// By dense LLC number. An LLC of more than 64 CPUs is several entries.
    pub llcs: Vec<types::llc_topo>,
    /// By dense node number. A node of more than 64 LLCs is several entries.
    pub nodes: Vec<types::node_topo>,
    /// CPUs scheduled on: online and not isolated.
    pub usable: CpuSet,
}

/// Builds the tables.
///
/// # Errors
/// [`LayoutError`] when a CPU number, or the number of caches or nodes, is
/// beyond what the BPF side was built for.
pub fn build(topology: &Topology) -> Result<Layout, LayoutError> {
    if let Some(cpu) = topology.online.iter().find(|cpu| *cpu as usize >= MAX_CPUS) {
        return Err(LayoutError::Cpus(cpu));
    }
    let mut layout = Layout {
        usable: usable(topology),
        ..Layout::default()
    };
    let last = topology
        .online
        .iter()
        .last()
        .map_or(0, |cpu| cpu as usize + 1);
    layout.cpus = (0..last).map(|_| types::cpu_topo::default()).collect();

    let mut by_node: BTreeMap<Option<u32>, Vec<CpuSet>> = BTreeMap::new();
    for part in llc_parts(topology, &layout.usable) {
        let node = part
            .first()
            .and_then(|cpu| topology.cpus.get(&cpu))
            .and_then(|c| c.node);
        by_node.entry(node).or_default().push(part);
    }
    let mut node_ids = Vec::new();
    for (id, parts) in &by_node {
        for group in parts.chunks(NODE_LLCS) {
            node_ids.push(*id);
            add_node(&mut layout, topology, group);
        }
    }
    limit("last-level caches", layout.llcs.len(), MAX_LLCS)?;
    limit("NUMA nodes", layout.nodes.len(), MAX_NODES)?;
    order_nodes(&mut layout, topology, &node_ids);
    Ok(layout)
}

fn limit(what: &'static str, found: usize, limit: usize) -> Result<(), LayoutError> {
    if found <= limit {
        return Ok(());
    }
    Err(LayoutError::Groups { what, found, limit })
}

/// Online CPUs that unpinned tasks may be placed on. A machine whose every CPU
/// is isolated is scheduled as if none were: tasks must run somewhere.
fn usable(topology: &Topology) -> CpuSet {
    let usable = topology.online.minus(&topology.isolated);
    if usable.is_empty() {
        topology.online.clone()
    } else {
        usable
    }
}

/// Every LLC cut to the usable CPUs, in parts of at most 64 CPUs that keep
/// cores whole.
fn llc_parts(topology: &Topology, usable: &CpuSet) -> Vec<CpuSet> {
    let mut parts = Vec::new();
    let mut seen = CpuSet::new();
    for cpu in usable.iter() {
        if seen.contains(cpu) {
            continue;
        }
        let llc = topology.cpus[&cpu].llc.intersect(usable);
        seen = seen.union(&llc);
        let mut part = CpuSet::new();
        for cpu in llc.iter() {
            let core = topology.cpus[&cpu].smt.intersect(usable);
            if part.contains(cpu) || core.first() != Some(cpu) {
                continue;
            }
            if part.len() + core.len() > LLC_CPUS && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            part = part.union(&core);
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

fn add_node(layout: &mut Layout, topology: &Topology, parts: &[CpuSet]) {
    let node = layout.nodes.len() as u16;
    let mut entry = types::node_topo {
        nr_llcs: parts.len() as u16,
        ..Default::default()
    };
    let mut all = CpuSet::new();
    for (bit, part) in parts.iter().enumerate() {
        let llc = layout.llcs.len() as u16;
        entry.llcs[bit] = llc;
        all = all.union(part);
        add_llc(layout, topology, part, (llc, node, bit as u16));
    }
    entry.span = span(&all);
    layout.nodes.push(entry);
}

fn add_llc(
    layout: &mut Layout,
    topology: &Topology,
    part: &CpuSet,
    (llc, node, node_bit): (u16, u16, u16),
) {
    let span = span(part);
    let mut entry = types::llc_topo {
        nr_cpus: part.len() as u16,
        node,
        node_bit,
        span,
        ..Default::default()
    };
    let bits: BTreeMap<u32, u32> = part.iter().zip(0..).collect();
    let mask = |set: &CpuSet| -> u64 {
        set.iter()
            .filter_map(|cpu| bits.get(&cpu))
            .fold(0, |acc, bit| acc | 1 << bit)
    };
    for (cpu, bit) in &bits {
        entry.cpus[*bit as usize] = *cpu as u16;
        let cpu_entry = &topology.cpus[cpu];
        let core = cpu_entry.smt.intersect(part);
        // The sibling by hardware: an isolated thread that is busy makes a core no less shared.
        let threads = &cpu_entry.smt;
        let sibling = match threads.len() {
            2 => threads
                .iter()
                .find(|other| other != cpu)
                .map_or(NO_CPU, |other| other as u16),
            _ => NO_CPU,
        };
        layout.cpus[*cpu as usize] = types::cpu_topo {
            llc,
            node,
            valid: 1,
            llc_bit: *bit as u8,
            node_bit: node_bit as u8,
            has_smt: u8::from(threads.len() > 1),
            smt_bits: mask(&core),
            cluster_bits: mask(&cpu_entry.cluster) | mask(&core),
            llc_bits: mask(part),
            sibling,
            ..Default::default()
        };
        add_words(&mut layout.cpus[*cpu as usize], &span, *cpu as usize / 64);
    }
    layout.llcs.push(entry);
}

/// The words of `span`, the LLC's, as seen from a CPU in word `own`.
fn add_words(cpu: &mut types::cpu_topo, span: &types::span, own: usize) {
    let mut others = (0..span.mask.len()).filter(|word| *word != own && span.mask[*word] != 0);
    cpu.word_mask = span.mask[own];
    if let Some(word) = others.next() {
        cpu.word2 = word as u16;
        cpu.word2_mask = span.mask[word];
    }
    cpu.wide = u8::from(others.next().is_some());
}

fn span(set: &CpuSet) -> types::span {
    let mut span = types::span::default();
    for cpu in set.iter() {
        span.mask[cpu as usize / 64] |= 1 << (cpu % 64);
    }
    span.first = set.first().map_or(0, |cpu| cpu as u16 / 64);
    span.last = set.iter().last().map_or(0, |cpu| cpu as u16 / 64);
    span
}

/// Fills in each node's neighbours, nearest first; unknown distances last.
fn order_nodes(layout: &mut Layout, topology: &Topology, ids: &[Option<u32>]) {
    let distance = |a: Option<u32>, b: Option<u32>| {
        if a == b {
            return 0;
        }
        match (a, b, &topology.distance) {
            (Some(a), Some(b), Some(d)) => d.between(a, b).unwrap_or(u32::MAX),
            _ => u32::MAX,
        }
    };
    for node in 0..ids.len() {
        let mut others: Vec<usize> = (0..ids.len()).filter(|other| *other != node).collect();
        // Equal distances: start behind oneself, or all nodes would raid node 0.
        others.sort_by_key(|other| {
            (
                distance(ids[node], ids[*other]),
                (other + ids.len() - node) % ids.len(),
            )
        });
        let entry = &mut layout.nodes[node];
        entry.nr_others = others.len() as u16;
        for (slot, other) in entry.others.iter_mut().zip(others) {
            *slot = other as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cpu;
    use crate::topology::Distance;
    use crate::topology::Node;

    /// `nodes` × `llcs` × `cores` × 2 threads; the sibling of a CPU is n/2 away.
    fn machine(nodes: u32, llcs: u32, cores: u32) -> Topology {
        let half = nodes * llcs * cores;
        let mut t = Topology {
            online: CpuSet::range(0, 2 * half - 1),
            ..Default::default()
        };
        let threads = |first, last| {
            CpuSet::range(first, last).union(&CpuSet::range(first + half, last + half))
        };
        for core in 0..half {
            let llc_first = core / cores * cores;
            let node = core / (llcs * cores);
            let cpu = Cpu {
                smt: threads(core, core),
                cluster: threads(core, core),
                llc: threads(llc_first, llc_first + cores - 1),
                package: CpuSet::new(),
                node: Some(node),
                capacity: None,
            };
            t.cpus.insert(core, cpu.clone());
            t.cpus.insert(core + half, cpu);
            let first = node * llcs * cores;
            t.nodes.insert(
                node,
                Node {
                    cpus: threads(first, first + llcs * cores - 1),
                    memory_kb: None,
                },
            );
        }
        t
    }

    #[test]
    fn two_nodes_of_two_llcs() {
        let layout = build(&machine(2, 2, 4)).unwrap();
        assert_eq!((layout.llcs.len(), layout.nodes.len()), (4, 2));
        let cpu = &layout.cpus[1];
        assert_eq!((cpu.llc, cpu.node, cpu.valid, cpu.sibling), (0, 0, 1, 17));
        assert_eq!(cpu.llc_bits.count_ones(), 8);
        assert_eq!(cpu.smt_bits.count_ones(), 2);
        let llc = &layout.llcs[3];
        assert_eq!(
            (llc.node, llc.node_bit, llc.span.first, llc.span.last),
            (1, 1, 0, 0)
        );
        assert_eq!(llc.span.mask[0], 0xf000_f000);
    }

    #[test]
    fn an_llc_is_two_words_where_its_siblings_are_numbered_far_away() {
        let layout = build(&machine(2, 2, 32)).unwrap();
        let cpu = &layout.cpus[40];
        assert_eq!((cpu.word_mask, cpu.wide), (0xffff_ffff_0000_0000, 0));
        assert_eq!((cpu.word2, cpu.word2_mask), (2, 0xffff_ffff_0000_0000));
        let sibling = &layout.cpus[128 + 40];
        assert_eq!((sibling.word2, sibling.word2_mask), (0, cpu.word_mask));
        let alone = build(&machine(1, 1, 4)).unwrap();
        assert_eq!(
            (alone.cpus[0].word_mask, alone.cpus[0].word2_mask),
            (0xff, 0)
        );
    }

    #[test]
    fn isolated_cpus_are_left_out() {
        let mut t = machine(1, 1, 4);
        t.isolated = CpuSet::single(0);
        let layout = build(&t).unwrap();
        assert_eq!(layout.cpus[0].valid, 0);
        let thread = &layout.cpus[4];
        assert_eq!(thread.smt_bits.count_ones(), 1);
        assert_eq!((thread.sibling, thread.has_smt), (0, 1));
        assert_eq!(layout.llcs[0].span.mask[0], 0xfe);
    }

    #[test]
    fn a_machine_all_isolated_is_scheduled_whole() {
        let mut t = machine(1, 1, 2);
        t.isolated = t.online.clone();
        assert_eq!(build(&t).unwrap().usable.len(), 4);
    }

    #[test]
    fn nearest_node_first() {
        let mut t = machine(3, 1, 1);
        let matrix = vec![vec![10, 30, 20], vec![30, 10, 20], vec![20, 20, 10]];
        t.distance = Some(Distance {
            nodes: vec![0, 1, 2],
            matrix,
        });
        let layout = build(&t).unwrap();
        assert_eq!(layout.nodes[0].others[..2], [2, 1]);
        assert_eq!(layout.nodes[2].others[..2], [0, 1]);
    }

    #[test]
    fn a_wide_llc_is_handled_in_parts_with_whole_cores() {
        let layout = build(&machine(1, 1, 96)).unwrap();
        assert_eq!(
            layout.llcs.iter().map(|l| l.nr_cpus).collect::<Vec<_>>(),
            [64, 64, 64]
        );
        for (cpu, entry) in layout.cpus.iter().enumerate() {
            let sibling = layout.cpus[usize::from(entry.sibling)];
            assert_eq!(entry.llc, sibling.llc, "CPU {cpu}");
        }
    }

    #[test]
    fn too_many_cpus_are_refused_in_words() {
        let mut t = machine(1, 1, 2);
        t.online.insert(1024);
        let text = build(&t).err().unwrap().to_string();
        assert!(text.contains("1024") && text.contains("nr_cpus"), "{text}");
    }
}
