//! What shares what on this machine: cores, caches, nodes and the distances between nodes.
//!
//! [`read`] takes everything from a sysfs tree below a root, so that captured and hand-made trees
//! work like the live one. Whatever the tree says, the result is a partition of the online CPUs at
//! every level, and the levels nest; what had to be bent for that is a line in
//! [`Topology::warnings`]. The levels are those of the kernel's scheduling domains (SMT, CLS, MC,
//! PKG/NUMA in `kernel/sched/topology.c`).
//!
//! ```no_run
//! # fn main() -> Result<(), scx_sibling::topology::TopologyError> {
//! let topology = scx_sibling::topology::read("/sys".as_ref())?;
//! for step in topology.level_chain(0) {
//!     println!("{:?}: {}", step.level, step.cpus);
//! }
//! # Ok(())
//! # }
//! ```

mod assemble;
mod caches;
pub mod chain;
mod cpuparse;
pub mod cpuset;
mod error;
pub mod json;
pub mod layout;
mod notes;
mod numa;
mod partition;
pub mod print;
mod sysfs;
mod tree;

use std::collections::BTreeMap;
use std::path::Path;

pub use chain::Level;
pub use chain::Step;
pub use cpuparse::CpuSetError;
pub use cpuset::CpuSet;
pub use cpuset::MAX_CPUS;
pub use error::TopologyError;

/// The root of the live tree, for [`read`].
pub const DEFAULT_ROOT: &str = "/sys";

/// The online CPUs of a machine and what they share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Online CPUs that have a directory in sysfs; never empty after [`read`].
    pub online: CpuSet,
    /// CPUs that could ever come online; `None` where the kernel does not say.
    pub possible: Option<CpuSet>,
    /// CPUs taken out of load balancing (`isolcpus=`), offline ones included.
    pub isolated: CpuSet,
    /// CPUs without a periodic tick (`nohz_full=`), offline ones included.
    pub nohz_full: CpuSet,
    /// One entry for every online CPU and no other.
    pub cpus: BTreeMap<u32, Cpu>,
    /// NUMA nodes that have a directory, those without CPUs included; empty without NUMA support.
    pub nodes: BTreeMap<u32, Node>,
    /// How far the nodes are from each other; `None` when any row is missing or does not fit.
    pub distance: Option<Distance>,
    /// What was odd and how it was read, one line per kind, for people.
    pub warnings: Vec<String>,
}

/// The groups of one CPU. Every set is cut to the online CPUs and holds the CPU itself;
/// `smt` ⊆ `cluster` ⊆ `llc` ⊆ the node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    /// The hardware threads of its core.
    pub smt: CpuSet,
    /// CPUs sharing a cluster wider than the core, else the L2 cache, else the core.
    pub cluster: CpuSet,
    /// CPUs sharing the last-level cache, cut at the node as the kernel's MC level is.
    pub llc: CpuSet,
    /// CPUs of its package. Not part of the nesting: phones have packages narrower than the cache.
    pub package: CpuSet,
    /// Its NUMA node, which need not be in [`Topology::nodes`] when that node has no directory.
    pub node: Option<u32>,
    /// Its computing power; the kernel gives the fastest CPU 1024. `None` where it does not say.
    pub capacity: Option<u32>,
}

/// A NUMA node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// Its online CPUs; none for a node of memory only.
    pub cpus: CpuSet,
    /// Its memory in KiB (`MemTotal`).
    pub memory_kb: Option<u64>,
}

/// The node distances as firmware gives them: 10 is local, 20 is twice as far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distance {
    /// The node numbers that rows and columns stand for, ascending.
    pub nodes: Vec<u32>,
    /// Square; `matrix[i][j]` is the distance from `nodes[i]` to `nodes[j]`.
    pub matrix: Vec<Vec<u32>>,
}

/// Reads the topology from the tree below `root`: [`DEFAULT_ROOT`], a copy of it, or a directory
/// that holds such a copy under the name `sys`.
///
/// # Errors
/// [`TopologyError`] when there is no CPU directory below `root`, or no CPU in it is online. Any
/// lesser damage is read as well as it can be and noted in [`Topology::warnings`].
pub fn read(root: &Path) -> Result<Topology, TopologyError> {
    let mut notes = notes::Notes::default();
    let raw = sysfs::read(root, &mut notes)?;
    let mut topology = assemble::assemble(raw, &mut notes);
    topology.warnings = notes.into_lines();
    Ok(topology)
}

impl Distance {
    /// The distance from one node to another; `None` for a node that is not in the matrix.
    pub fn between(&self, from: u32, to: u32) -> Option<u32> {
        let index = |node| self.nodes.iter().position(|n| *n == node);
        self.matrix.get(index(from)?)?.get(index(to)?).copied()
    }
}
