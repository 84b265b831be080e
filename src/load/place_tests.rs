// SPDX-License-Identifier: GPL-2.0-only
//! Placement on synthetic machines and on small sysfs trees.

use super::*;
use std::path::PathBuf;

/// A machine of `nodes` x `llcs` x `cores` x `threads`, CPUs numbered in that order.
fn machine(nodes: usize, llcs: usize, cores: usize, threads: usize) -> Vec<CpuPos> {
    let per_llc = cores * threads;
    (0..nodes * llcs * per_llc)
        .map(|cpu| CpuPos {
            cpu,
            core: cpu / threads * threads,
            llc: cpu / per_llc * per_llc,
            node: cpu / (llcs * per_llc),
        })
        .collect()
}

#[test]
fn every_relation_on_a_large_machine() {
    let m = machine(2, 2, 2, 2);
    assert_eq!(choose(&m, Place::Same).unwrap(), [0, 0]);
    assert_eq!(choose(&m, Place::Smt).unwrap(), [0, 1]);
    assert_eq!(choose(&m, Place::Core).unwrap(), [0, 2]);
    assert_eq!(choose(&m, Place::Llc).unwrap(), [0, 4]);
    assert_eq!(choose(&m, Place::Node).unwrap(), [0, 8]);
}

#[test]
fn cross_cache_stays_on_the_node_if_it_can() {
    // Node 0 has one cache, node 1 has two: 0-8 would come first in CPU order.
    let mut m = machine(2, 2, 2, 2);
    m.retain(|p| p.cpu < 4 || p.cpu >= 8);
    assert_eq!(choose(&m, Place::Llc).unwrap(), [8, 12]);
    // One cache per node: crossing the cache means crossing the node.
    assert_eq!(choose(&machine(2, 1, 2, 1), Place::Llc).unwrap(), [0, 2]);
}

#[test]
fn absent_relations_are_named() {
    let m = machine(1, 1, 2, 1);
    assert_eq!(choose(&m, Place::Core).unwrap(), [0, 1]);
    for place in [Place::Smt, Place::Llc, Place::Node] {
        let text = choose(&m, place).unwrap_err().to_string();
        assert!(
            text.contains("2 CPUs, 2 cores, 1 last-level cache, 1 node"),
            "{text}"
        );
        assert!(
            text.contains(place.name()) && text.contains("--cpus"),
            "{text}"
        );
    }
    assert!(choose(&[], Place::Same).is_err());
    assert!(choose(&machine(1, 1, 1, 1), Place::Core).is_err());
}

/// Files below a directory of their own that goes away with the value.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(String, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("sib-place-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn reads_caches_nodes_and_siblings() {
    let mut files: Vec<(String, &str)> = vec![
        ("cpu/online".into(), "0-3\n"),
        ("node/node0/cpulist".into(), "0-1\n"),
        ("node/node3/cpulist".into(), "2-3,9\n"),
        ("node/node4/cpulist".into(), "\n"),
    ];
    for (cpu, pair) in [(0, "0-1\n"), (1, "0-1\n"), (2, "2-3\n"), (3, "2-3\n")] {
        files.push((format!("cpu/cpu{cpu}/topology/core_cpus_list"), pair));
        for (index, level, kind, list) in [
            (0, "1\n", "Data\n", pair),
            (1, "9\n", "Instruction\n", pair),
            (3, "3\n", "Unified\n", "0-3,8\n"),
        ] {
            let dir = format!("cpu/cpu{cpu}/cache/index{index}");
            files.push((format!("{dir}/level"), level));
            files.push((format!("{dir}/type"), kind));
            files.push((format!("{dir}/shared_cpu_list"), list));
        }
    }
    let tree = Tree::new("full", &files);
    let got = read(&tree.0).unwrap();
    let want = |cpu, core, node| CpuPos {
        cpu,
        core,
        llc: 0,
        node,
    };
    assert_eq!(
        got,
        [want(0, 0, 0), want(1, 0, 0), want(2, 2, 3), want(3, 2, 3)]
    );
}

#[test]
fn falls_back_without_caches_and_nodes() {
    let files = [
        ("cpu/online".to_string(), "0,2\n"),
        ("cpu/cpu0/topology/package_cpus_list".to_string(), "0-2\n"),
        ("cpu/cpu2/topology/core_siblings_list".to_string(), "0-2\n"),
        (
            "cpu/cpu2/topology/thread_siblings_list".to_string(),
            "1-2\n",
        ),
    ];
    let tree = Tree::new("bare", &files);
    let got = read(&tree.0).unwrap();
    let want = |cpu| CpuPos {
        cpu,
        core: cpu,
        llc: 0,
        node: 0,
    };
    assert_eq!(got, [want(0), want(2)]);
}

#[test]
fn a_broken_tree_is_an_error() {
    assert!(read(Path::new("/nonexistent")).is_err());
    for (name, text) in [("empty", "\n"), ("garbage", "x-y\n")] {
        let tree = Tree::new(name, &[("cpu/online".to_string(), text)]);
        assert!(read(&tree.0).is_err(), "{name}");
    }
}
