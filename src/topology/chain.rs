//! The nested sets around one CPU, in the order in which a scheduler widens its search.

use std::collections::BTreeMap;

use super::cpuset::CpuSet;
use super::Topology;

/// A level of sharing, narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Hardware threads of one core.
    Smt,
    /// Cores sharing a cluster or an L2 cache.
    Cluster,
    /// Cores sharing the last-level cache.
    Llc,
    /// CPUs of one NUMA node.
    Node,
    /// CPUs of more than one node.
    System,
}

/// One level around one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What the CPUs share.
    pub level: Level,
    /// All CPUs up to this level, the inner ones included.
    pub cpus: CpuSet,
    /// Of a [`Level::System`] step: the distance of its farthest node, `None` where unknown.
    pub distance: Option<u32>,
}

impl Topology {
    /// The online CPUs of the NUMA node of `cpu`; the empty set for a CPU that is not online.
    pub fn node_cpus(&self, cpu: u32) -> CpuSet {
        let Some(entry) = self.cpus.get(&cpu) else {
            return CpuSet::new();
        };
        match entry.node.and_then(|id| self.nodes.get(&id)) {
            Some(node) => node.cpus.clone(),
            None => {
                let same = self
                    .cpus
                    .iter()
                    .filter(|(_, other)| other.node == entry.node);
                same.map(|(other, _)| *other).collect()
            }
        }
    }

    /// The levels around `cpu`, each step holding at least one CPU more than the step before it and
    /// the first at least one besides `cpu`; the last one holds every online CPU. A machine of one
    /// CPU, and a CPU that is not online, have no step.
    ///
    /// [`Level::System`] is one step per distinct distance from the CPU's node, nearest first, and
    /// at the end the nodes of which no distance is known. The same idea as the kernel's one NUMA
    /// scheduling domain per distinct distance (`sched_init_numa`).
    pub fn level_chain(&self, cpu: u32) -> Vec<Step> {
        let Some(entry) = self.cpus.get(&cpu) else {
            return Vec::new();
        };
        let node = self.node_cpus(cpu);
        let mut chain = Chain {
            widest: CpuSet::single(cpu),
            steps: Vec::new(),
        };
        chain.widen(Level::Smt, &entry.smt, None);
        chain.widen(Level::Cluster, &entry.cluster, None);
        chain.widen(Level::Llc, &entry.llc, None);
        chain.widen(Level::Node, &node, None);
        for (distance, cpus) in self.rings(entry.node) {
            chain.widen(Level::System, &cpus, Some(distance));
        }
        chain.widen(Level::System, &self.online, None);
        chain.steps
    }

    /// The CPUs of the nodes at each distance from a node, nearest first; nothing when unknown.
    fn rings(&self, from: Option<u32>) -> BTreeMap<u32, CpuSet> {
        let mut rings: BTreeMap<u32, CpuSet> = BTreeMap::new();
        let (Some(distance), Some(from)) = (&self.distance, from) else {
            return rings;
        };
        for (id, node) in self.nodes.iter().filter(|(id, _)| **id != from) {
            if let Some(value) = distance.between(from, *id) {
                let ring = rings.entry(value).or_default();
                *ring = ring.union(&node.cpus);
            }
        }
        rings
    }
}

struct Chain {
    widest: CpuSet,
    steps: Vec<Step>,
}

impl Chain {
    fn widen(&mut self, level: Level, cpus: &CpuSet, distance: Option<u32>) {
        if cpus.is_subset(&self.widest) {
            return;
        }
        self.widest = self.widest.union(cpus);
        self.steps.push(Step {
            level,
            cpus: self.widest.clone(),
            distance,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cpu;
    use super::super::Distance;
    use super::super::Node;
    use super::*;

    /// Two CPUs per core, four per LLC and node.
    fn machine(nodes: u32, matrix: Option<Vec<Vec<u32>>>) -> Topology {
        let around = |cpu: u32, width: u32| {
            CpuSet::range(cpu / width * width, cpu / width * width + width - 1)
        };
        let cpu = |cpu: u32| Cpu {
            smt: around(cpu, 2),
            cluster: around(cpu, 2),
            llc: around(cpu, 4),
            package: around(cpu, 4),
            node: Some(cpu / 4),
            capacity: None,
        };
        Topology {
            online: CpuSet::range(0, nodes * 4 - 1),
            cpus: (0..nodes * 4).map(|n| (n, cpu(n))).collect(),
            nodes: (0..nodes)
                .map(|n| {
                    (
                        n,
                        Node {
                            cpus: around(n * 4, 4),
                            memory_kb: None,
                        },
                    )
                })
                .collect(),
            distance: matrix.map(|matrix| Distance {
                nodes: (0..nodes).collect(),
                matrix,
            }),
            ..Topology::default()
        }
    }

    fn shown(topology: &Topology, cpu: u32) -> Vec<String> {
        let show = |s: &Step| format!("{:?} {} {:?}", s.level, s.cpus, s.distance);
        topology.level_chain(cpu).iter().map(show).collect()
    }

    #[test]
    fn levels_that_add_nothing_are_dropped_and_distances_are_steps() {
        let matrix = vec![vec![10, 12, 21], vec![12, 10, 21], vec![21, 21, 10]];
        let topology = machine(3, Some(matrix));
        let want = [
            "Smt 4-5 None",
            "Llc 4-7 None",
            "System 0-7 Some(12)",
            "System 0-11 Some(21)",
        ];
        assert_eq!(shown(&topology, 5), want);
        assert_eq!(shown(&topology, 99), [""; 0]);
    }

    #[test]
    fn unknown_distances_are_one_step() {
        let want = ["Smt 0-1 None", "Llc 0-3 None", "System 0-11 None"];
        assert_eq!(shown(&machine(3, None), 0), want);
    }

    #[test]
    fn a_lone_cpu_has_no_step() {
        let mut topology = machine(1, None);
        topology.online = CpuSet::single(0);
        topology.nodes.clear();
        topology.cpus = [(
            0,
            Cpu {
                smt: CpuSet::single(0),
                ..Cpu::default()
            },
        )]
        .into();
        assert_eq!(shown(&topology, 0), [""; 0]);
    }
}
