// SPDX-License-Identifier: GPL-2.0-only
//! Synthetic machines.

use scx_sibling::topology::Cpu;
use scx_sibling::topology::CpuSet;
use scx_sibling::topology::Distance;
use scx_sibling::topology::Node;
use scx_sibling::topology::Topology;

/// A regular machine. CPU numbers run through threads, cores, clusters, LLCs and nodes in that
/// order, unless changed by the builder functions.
#[derive(Debug, Clone)]
pub struct Shape {
    nodes: u32,
    llcs: u32,
    clusters: u32,
    cores: u32,
    threads: u32,
    far_siblings: bool,
    gap: u32,
    offline: Vec<u32>,
    isolated: Vec<u32>,
    distances: Option<Vec<Vec<u32>>>,
}

impl Shape {
    /// `nodes` × `llcs` × `cores` × `threads`, no clusters wider than a core.
    pub fn new(nodes: u32, llcs: u32, cores: u32, threads: u32) -> Self {
        Shape {
            nodes,
            llcs,
            clusters: 1,
            cores,
            threads,
            far_siblings: false,
            gap: 1,
            offline: Vec::new(),
            isolated: Vec::new(),
            distances: None,
        }
    }

    /// Each LLC has `n` clusters of `cores` cores each.
    pub fn clusters(mut self, n: u32) -> Self {
        self.clusters = n;
        self
    }

    /// The siblings of CPUs 0 … n-1 are n … 2n-1, as most firmware numbers them.
    pub fn far_siblings(mut self) -> Self {
        self.far_siblings = true;
        self
    }

    /// CPU numbers `gap` apart.
    pub fn gap(mut self, gap: u32) -> Self {
        self.gap = gap;
        self
    }

    /// CPUs that are not online.
    pub fn offline(mut self, cpus: &[u32]) -> Self {
        self.offline = cpus.to_vec();
        self
    }

    /// CPUs taken out of load balancing.
    pub fn isolated(mut self, cpus: &[u32]) -> Self {
        self.isolated = cpus.to_vec();
        self
    }

    /// The distance matrix of the nodes.
    pub fn distances(mut self, matrix: &[&[u32]]) -> Self {
        self.distances = Some(matrix.iter().map(|row| row.to_vec()).collect());
        self
    }

    /// The numbers of the CPUs `first` … `first + n`, counted thread by thread.
    fn set(&self, first: u32, n: u32) -> CpuSet {
        let number = |i: u32| {
            let cores = self.nodes * self.llcs * self.clusters * self.cores;
            let i = if self.far_siblings {
                i % self.threads * cores + i / self.threads
            } else {
                i
            };
            i * self.gap
        };
        (first..first + n)
            .map(number)
            .filter(|cpu| !self.offline.contains(cpu))
            .collect()
    }

    /// The topology as if read from sysfs.
    pub fn topology(&self) -> Topology {
        let cluster = self.cores * self.threads;
        let llc = cluster * self.clusters;
        let node = llc * self.llcs;
        let all = node * self.nodes;
        let around = |i: u32, n: u32| self.set(i / n * n, n);
        let mut t = Topology {
            online: self.set(0, all),
            isolated: self.isolated.iter().copied().collect(),
            ..Default::default()
        };
        for i in 0..all {
            let smt = around(i, self.threads);
            let wide = self.clusters > 1;
            let entry = Cpu {
                cluster: if wide {
                    around(i, cluster)
                } else {
                    smt.clone()
                },
                smt,
                llc: around(i, llc),
                package: around(i, node),
                node: Some(i / node),
                capacity: None,
            };
            for cpu in self.set(i, 1).iter() {
                t.cpus.insert(cpu, entry.clone());
            }
        }
        for n in 0..self.nodes {
            let cpus = self.set(n * node, node);
            t.nodes.insert(
                n,
                Node {
                    cpus,
                    memory_kb: None,
                },
            );
        }
        t.distance = self.distances.clone().map(|matrix| Distance {
            nodes: (0..self.nodes).collect(),
            matrix,
        });
        t
    }
}
