//! Hand-made sysfs trees, and what must hold of the topology read from any tree whatever.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use scx_sibling::topology;
use scx_sibling::topology::json::to_json;
use scx_sibling::topology::print::to_text;
use scx_sibling::topology::print::MAX_COLUMNS;
use scx_sibling::topology::print::MAX_LINES;
use scx_sibling::topology::Cpu;
use scx_sibling::topology::CpuSet;
use scx_sibling::topology::Topology;
use tempfile::TempDir;

/// The shape of a regular machine: CPU numbers run through threads, cores, LLCs and packages in
/// that order, one package per node.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub packages: u32,
    pub llcs: u32,
    pub cores: u32,
    pub threads: u32,
}

impl Shape {
    pub fn new(packages: u32, llcs: u32, cores: u32, threads: u32) -> Self {
        Self {
            packages,
            llcs,
            cores,
            threads,
        }
    }

    pub fn cpus(&self) -> u32 {
        self.packages * self.llcs * self.cores * self.threads
    }

    /// The list string of the `width` CPUs around `cpu`.
    pub fn around(cpu: u32, width: u32) -> String {
        let first = cpu / width * width;
        if width == 1 {
            return first.to_string();
        }
        format!("{first}-{}", first + width - 1)
    }
}

/// A sysfs tree in a temporary directory, to be edited file by file.
pub struct Tree {
    dir: TempDir,
}

impl Tree {
    /// Nothing but the CPU directory.
    pub fn empty() -> Self {
        // Thousands of tiny files: in memory where there is a place, ten times as fast as on disk.
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        let tree = Self { dir: dir.unwrap() };
        fs::create_dir_all(tree.path("cpu")).unwrap();
        tree
    }

    /// Everything a new x86 kernel lists: L1d, L1i and private L2 per core, L3 per LLC, nodes with
    /// distances 10 and 20.
    pub fn new(shape: Shape) -> Self {
        let tree = Self::empty();
        let all = Shape::around(0, shape.cpus());
        for name in ["online", "possible", "present"] {
            tree.write(&format!("cpu/{name}"), &all);
        }
        tree.write("cpu/isolated", "");
        for cpu in 0..shape.cpus() {
            tree.add_cpu(cpu, shape);
        }
        let per_node = shape.cpus() / shape.packages;
        tree.write("node/online", &Shape::around(0, shape.packages));
        for node in 0..shape.packages {
            let distance: Vec<&str> = (0..shape.packages)
                .map(|other| if other == node { "10" } else { "20" })
                .collect();
            let dir = format!("node/node{node}");
            tree.write(
                &format!("{dir}/cpulist"),
                &Shape::around(node * per_node, per_node),
            );
            tree.write(&format!("{dir}/distance"), &distance.join(" "));
            tree.write(
                &format!("{dir}/meminfo"),
                &format!("Node {node} MemTotal:  1048576 kB"),
            );
        }
        tree
    }

    fn add_cpu(&self, cpu: u32, shape: Shape) {
        let (core, llc) = (shape.threads, shape.threads * shape.cores);
        let package = llc * shape.llcs;
        let dir = format!("cpu/cpu{cpu}/topology");
        self.write(&format!("{dir}/core_cpus_list"), &Shape::around(cpu, core));
        self.write(
            &format!("{dir}/cluster_cpus_list"),
            &Shape::around(cpu, core),
        );
        self.write(
            &format!("{dir}/package_cpus_list"),
            &Shape::around(cpu, package),
        );
        self.write(
            &format!("{dir}/core_id"),
            &(cpu / core % shape.cores).to_string(),
        );
        self.write(&format!("{dir}/cluster_id"), &(cpu / core).to_string());
        self.write(
            &format!("{dir}/physical_package_id"),
            &(cpu / package).to_string(),
        );
        self.cache(cpu, 0, 1, "Data", &Shape::around(cpu, core));
        self.cache(cpu, 1, 1, "Instruction", &Shape::around(cpu, core));
        self.cache(cpu, 2, 2, "Unified", &Shape::around(cpu, core));
        self.cache(cpu, 3, 3, "Unified", &Shape::around(cpu, llc));
        self.write(
            &format!("cpu/cpu{cpu}/cache/index3/id"),
            &(cpu / llc).to_string(),
        );
        self.write(&format!("cpu/cpu{cpu}/cpufreq/scaling_max_freq"), "3000000");
        let node = cpu / package;
        let link = self.path(&format!("cpu/cpu{cpu}/node{node}"));
        symlink(format!("../../node/node{node}"), link).unwrap();
    }

    /// One cache of one CPU.
    pub fn cache(&self, cpu: u32, index: u32, level: u32, kind: &str, cpus: &str) {
        let dir = format!("cpu/cpu{cpu}/cache/index{index}");
        self.write(&format!("{dir}/level"), &level.to_string());
        self.write(&format!("{dir}/type"), kind);
        self.write(&format!("{dir}/shared_cpu_list"), cpus);
    }

    /// What to give to `topology::read`.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// A path below `devices/system`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join("devices/system").join(path)
    }

    /// Writes a file as the kernel does, with a newline at the end.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    /// Deletes a file or a directory with everything in it.
    pub fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// Deletes the `nodeM` links of every CPU, as on a kernel without NUMA.
    pub fn remove_node_links(&self) {
        (0..64).for_each(|node| self.remove_everywhere(&format!("node{node}")));
    }

    /// Deletes the same path below every `cpuN` that has it.
    pub fn remove_everywhere(&self, path: &str) {
        for cpu in 0..2048 {
            let path = format!("cpu/cpu{cpu}/{path}");
            let full = self.path(&path);
            if full.exists() || full.is_symlink() {
                self.remove(&path);
            }
        }
    }
}

/// The distinct groups of one level, by their lowest CPU, as list strings.
pub fn groups(topology: &Topology, level: impl Fn(&Cpu) -> &CpuSet) -> Vec<String> {
    let sets: BTreeSet<(Option<u32>, &CpuSet)> = topology
        .cpus
        .values()
        .map(|cpu| (level(cpu).first(), level(cpu)))
        .collect();
    sets.into_iter().map(|(_, set)| set.to_string()).collect()
}

/// Reads a tree that can be read, and checks what must always hold.
pub fn read(tree: &Tree) -> Topology {
    let topology = topology::read(tree.root()).unwrap();
    check_sane(&topology).unwrap();
    topology
}

/// The distinct cores.
pub fn smt(topology: &Topology) -> Vec<String> {
    groups(topology, |cpu| &cpu.smt)
}

/// The distinct clusters.
pub fn cluster(topology: &Topology) -> Vec<String> {
    groups(topology, |cpu| &cpu.cluster)
}

/// The distinct LLCs.
pub fn llc(topology: &Topology) -> Vec<String> {
    groups(topology, |cpu| &cpu.llc)
}

/// Exactly one warning has this text in it.
#[track_caller]
pub fn warns(topology: &Topology, text: &str) {
    let count = topology
        .warnings
        .iter()
        .filter(|line| line.contains(text))
        .count();
    assert_eq!(count, 1, "{text:?} in {:?}", topology.warnings);
}

/// 2 packages of 2 LLCs of 2 cores of 2 threads.
pub fn sixteen() -> Tree {
    Tree::new(Shape::new(2, 2, 2, 2))
}

/// What must hold whatever was read, or a text about what does not.
pub fn check_sane(topology: &Topology) -> Result<(), String> {
    let online = &topology.online;
    if online.is_empty() || !topology.cpus.keys().copied().eq(online.iter()) {
        return Err(format!(
            "cpus {:?} are not online {online}",
            topology.cpus.keys()
        ));
    }
    for (name, level) in [
        ("smt", (|cpu| &cpu.smt) as fn(&Cpu) -> &CpuSet),
        ("cluster", |cpu| &cpu.cluster),
        ("llc", |cpu| &cpu.llc),
        ("package", |cpu| &cpu.package),
    ] {
        for (id, cpu) in &topology.cpus {
            let set = level(cpu);
            let alike = set
                .iter()
                .all(|other| topology.cpus.get(&other).map(level) == Some(set));
            if !set.contains(*id) || !set.is_subset(online) || !alike {
                return Err(format!("{name} of CPU {id} is {set}: no partition"));
            }
        }
    }
    for (id, cpu) in &topology.cpus {
        let node = topology.node_cpus(*id);
        let chain = [&cpu.smt, &cpu.cluster, &cpu.llc, &node, online];
        if !chain.windows(2).all(|pair| pair[0].is_subset(pair[1])) {
            return Err(format!("the levels of CPU {id} do not nest: {chain:?}"));
        }
        check_chain(topology, *id)?;
    }
    check_nodes(topology)?;
    check_output(topology)
}

fn check_chain(topology: &Topology, cpu: u32) -> Result<(), String> {
    let mut inner = CpuSet::single(cpu);
    for step in topology.level_chain(cpu) {
        if !inner.is_subset(&step.cpus) || inner == step.cpus {
            return Err(format!(
                "{:?} of CPU {cpu} adds nothing: {}",
                step.level, step.cpus
            ));
        }
        inner = step.cpus;
    }
    if inner != topology.online {
        return Err(format!("the chain of CPU {cpu} ends at {inner}"));
    }
    Ok(())
}

fn check_nodes(topology: &Topology) -> Result<(), String> {
    for (id, node) in &topology.nodes {
        let members: CpuSet = topology
            .cpus
            .iter()
            .filter_map(|(cpu, entry)| (entry.node == Some(*id)).then_some(*cpu))
            .collect();
        if members != node.cpus {
            return Err(format!(
                "node {id} has {} but its CPUs are {members}",
                node.cpus
            ));
        }
    }
    if let Some(distance) = &topology.distance {
        let ids: Vec<u32> = topology.nodes.keys().copied().collect();
        let square = distance.matrix.iter().all(|row| row.len() == ids.len());
        if distance.nodes != ids || distance.matrix.len() != ids.len() || !square {
            return Err(format!(
                "distances do not fit the nodes {ids:?}: {distance:?}"
            ));
        }
    }
    Ok(())
}

fn check_output(topology: &Topology) -> Result<(), String> {
    if topology
        .warnings
        .iter()
        .any(|line| line.trim().is_empty() || line.contains('\n'))
    {
        return Err(format!("warnings are no lines: {:?}", topology.warnings));
    }
    let text = to_text(topology);
    let wide = text.lines().any(|line| line.chars().count() > MAX_COLUMNS);
    if wide || text.lines().count() > MAX_LINES {
        return Err(format!("does not fit the screen:\n{text}"));
    }
    match to_json(topology).as_object().map(|object| object.len()) {
        Some(5) => Ok(()),
        other => Err(format!("{other:?} keys in the JSON form")),
    }
}
