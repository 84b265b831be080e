//! Sound trees of unusual machines, each of a kind that made a parser fail in the field.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/sysfs_tree.rs"]
mod sysfs_tree;

use std::os::unix::fs::symlink;
use std::time::Duration;
use std::time::Instant;

use scx_sibling::topology;
use scx_sibling::topology::CpuSet;
use scx_sibling::topology::Level;
use sysfs_tree::check_sane;
use sysfs_tree::cluster;
use sysfs_tree::groups;
use sysfs_tree::llc;
use sysfs_tree::read;
use sysfs_tree::sixteen;
use sysfs_tree::smt;
use sysfs_tree::warns;
use sysfs_tree::Shape;
use sysfs_tree::Tree;

#[test]
fn a_sound_tree_gives_no_warning() {
    let topology = read(&sixteen());
    assert_eq!(topology.warnings, [""; 0]);
    assert_eq!(llc(&topology), ["0-3", "4-7", "8-11", "12-15"]);
    assert_eq!(groups(&topology, |cpu| &cpu.package), ["0-7", "8-15"]);
    let levels: Vec<Level> = topology
        .level_chain(0)
        .iter()
        .map(|step| step.level)
        .collect();
    assert_eq!(levels, [Level::Smt, Level::Llc, Level::Node, Level::System]);
    assert_eq!(topology.level_chain(0)[3].distance, Some(20));
}

#[test]
fn cache_ids_do_not_matter() {
    let want = llc(&read(&sixteen()));
    let absent = sixteen();
    absent.remove_everywhere("cache/index3/id");
    assert_eq!(llc(&read(&absent)), want);
    let same = sixteen();
    (0..16).for_each(|cpu| same.write(&format!("cpu/cpu{cpu}/cache/index3/id"), "0"));
    assert_eq!(llc(&read(&same)), want);
}

#[test]
fn memory_only_nodes_and_sparse_ids_are_kept() {
    let tree = sixteen();
    tree.write("node/online", "0-1,7");
    tree.write("node/node0/distance", "10 20 17");
    tree.write("node/node1/distance", "20 10 28");
    tree.write("node/node7/distance", "17 28 10");
    tree.write("node/node7/cpulist", "");
    tree.write("node/node7/meminfo", "Node 7 MemTotal:   512 kB");
    let topology = read(&tree);
    assert_eq!(
        topology.nodes.keys().copied().collect::<Vec<_>>(),
        [0, 1, 7]
    );
    assert!(topology.nodes[&7].cpus.is_empty());
    assert_eq!(topology.nodes[&7].memory_kb, Some(512));
    assert_eq!(topology.distance.as_ref().unwrap().between(0, 7), Some(17));
    let last = topology.level_chain(0).pop().unwrap();
    assert_eq!((last.level, last.distance), (Level::System, Some(20)));
}

#[test]
fn cpu0_offline_changes_nothing_for_the_others() {
    let tree = sixteen();
    tree.write("cpu/online", "1-15");
    tree.remove("cpu/cpu0/cache");
    tree.remove("cpu/cpu0/topology");
    let topology = read(&tree);
    assert_eq!(llc(&topology), ["1-3", "4-7", "8-11", "12-15"]);
    assert_eq!(smt(&topology)[..2], ["1", "2-3"]);
    assert_eq!(topology.warnings, [""; 0]);
}

#[test]
fn cpu_numbers_may_have_holes() {
    let tree = sixteen();
    tree.write("cpu/online", "0,2,4-7,12");
    let topology = read(&tree);
    assert_eq!(topology.online.to_string(), "0,2,4-7,12");
    assert_eq!(llc(&topology), ["0,2", "4-7", "12"]);
    assert_eq!(smt(&topology), ["0", "2", "4-5", "6-7", "12"]);
    assert_eq!(topology.nodes[&1].cpus.to_string(), "12");
}

#[test]
fn possible_cpus_need_no_directory() {
    let tree = sixteen();
    tree.write("cpu/possible", "0-31");
    let topology = read(&tree);
    assert_eq!(topology.possible, Some(CpuSet::range(0, 31)));
    assert_eq!(topology.online, CpuSet::range(0, 15));
    assert_eq!(topology.warnings, [""; 0]);

    tree.write("cpu/online", "0-17");
    let topology = read(&tree);
    assert_eq!(topology.online, CpuSet::range(0, 15));
    warns(&topology, "CPUs 16-17: cpu/online names it");
}

#[test]
fn cluster_ids_are_never_needed() {
    let want = read(&sixteen());
    for id in [Some("65535"), Some("-1"), None] {
        let tree = sixteen();
        match id {
            Some(id) => {
                (0..16).for_each(|cpu| tree.write(&format!("cpu/cpu{cpu}/topology/cluster_id"), id))
            }
            None => tree.remove_everywhere("topology/cluster_id"),
        }
        assert_eq!(read(&tree), want, "cluster_id {id:?}");
    }
}

#[test]
fn clusters_that_cross_the_cache_are_cut() {
    let tree = sixteen();
    let cross = |cpus: std::ops::Range<u32>, list: &str| {
        cpus.for_each(|cpu| tree.write(&format!("cpu/cpu{cpu}/topology/cluster_cpus_list"), list));
    };
    cross(2..6, "2-5");
    cross(8..16, "8-15");
    let topology = read(&tree);
    assert_eq!(
        cluster(&topology),
        ["0-1", "2-3", "4-5", "6-7", "8-11", "12-15"]
    );
    assert_eq!(smt(&topology).len(), 8);
    warns(&topology, "CPUs 2-5,8-15: the cluster or L2 crosses");
}

#[test]
fn clusters_wider_than_the_core_beat_the_l2() {
    let tree = sixteen();
    (0..4).for_each(|cpu| tree.write(&format!("cpu/cpu{cpu}/topology/cluster_cpus_list"), "0-3"));
    (4..8).for_each(|cpu| tree.cache(cpu, 2, 2, "Unified", "4-7"));
    assert_eq!(cluster(&read(&tree))[..3], ["0-3", "4-7", "8-9"]);
}

#[test]
fn an_llc_that_spans_nodes_is_cut_at_the_node() {
    let tree = Tree::new(Shape::new(1, 1, 4, 2));
    tree.write("node/online", "0-1");
    for (node, cpus, distance) in [(0, "0-3", "10 20"), (1, "4-7", "20 10")] {
        tree.write(&format!("node/node{node}/cpulist"), cpus);
        tree.write(&format!("node/node{node}/distance"), distance);
    }
    let topology = read(&tree);
    assert_eq!(llc(&topology), ["0-3", "4-7"]);
    assert_eq!(groups(&topology, |cpu| &cpu.package), ["0-7"]);
    warns(&topology, "CPUs 0-7: the LLC spans NUMA nodes");
}

#[test]
fn a_cache_list_cut_at_the_node_is_taken_as_it_is() {
    let tree = Tree::new(Shape::new(1, 2, 2, 2));
    (0..8).for_each(|cpu| tree.write(&format!("cpu/cpu{cpu}/cache/index3/id"), "0"));
    assert_eq!(llc(&read(&tree)), ["0-3", "4-7"]);
}

#[test]
fn a_machine_of_1024_cpus_is_read_within_a_second() {
    let tree = Tree::new(Shape::new(8, 8, 8, 2));
    let start = Instant::now();
    let topology = topology::read(tree.root()).unwrap();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    check_sane(&topology).unwrap();
    assert_eq!(llc(&topology).len(), 64);
}

#[test]
fn frequencies_are_not_needed() {
    let want = read(&sixteen());
    let missing = sixteen();
    missing.remove_everywhere("cpufreq");
    assert_eq!(read(&missing), want);
    let zero = sixteen();
    (0..16).for_each(|cpu| zero.write(&format!("cpu/cpu{cpu}/cpufreq/scaling_max_freq"), "0"));
    assert_eq!(read(&zero), want);
}

#[test]
fn the_l2_may_be_the_last_level_and_core_ids_may_repeat() {
    let tree = Tree::new(Shape::new(1, 3, 4, 1));
    for cpu in 0..12 {
        tree.remove(&format!("cpu/cpu{cpu}/cache/index3"));
        tree.cache(cpu, 2, 2, "Unified", &Shape::around(cpu, 4));
        tree.write(
            &format!("cpu/cpu{cpu}/topology/core_id"),
            &(cpu % 4).to_string(),
        );
    }
    let topology = read(&tree);
    assert_eq!(llc(&topology), ["0-3", "4-7", "8-11"]);
    assert_eq!(smt(&topology).len(), 12);
}

#[test]
fn the_index_number_is_not_the_level() {
    let want = read(&sixteen());
    let tree = sixteen();
    for cpu in 0..16 {
        tree.remove(&format!("cpu/cpu{cpu}/cache/index3"));
        tree.cache(cpu, 1, 2, "Unified", &Shape::around(cpu, 2));
        tree.cache(cpu, 2, 3, "Unified", &Shape::around(cpu, 4));
    }
    assert_eq!(read(&tree), want);
}

#[test]
fn capacities_of_hybrid_cpus_are_kept() {
    let tree = sixteen();
    for (cpu, capacity) in [
        (0, "1024"),
        (1, "512"),
        (2, "0"),
        (3, "99999999999999999999"),
        (4, "-5"),
    ] {
        tree.write(&format!("cpu/cpu{cpu}/cpu_capacity"), capacity);
    }
    let topology = read(&tree);
    let capacity: Vec<Option<u32>> = (0..5).map(|cpu| topology.cpus[&cpu].capacity).collect();
    assert_eq!(capacity, [Some(1024), Some(512), None, None, None]);
    assert_eq!(llc(&topology).len(), 4);
    warns(&topology, "CPUs 2,4: cpu_capacity");
}

#[test]
fn cores_of_eight_threads_and_one_cpu_alone_are_fine() {
    assert_eq!(
        smt(&read(&Tree::new(Shape::new(1, 1, 2, 8)))),
        ["0-7", "8-15"]
    );
    let one = Tree::new(Shape::new(1, 1, 1, 1));
    for path in ["node", "cpu/cpu0/topology", "cpu/cpu0/cache"] {
        one.remove(path);
    }
    assert_eq!(smt(&read(&one)), ["0"]);
}

#[test]
fn the_root_may_hold_sys() {
    let tree = sixteen();
    let outer = tempfile::tempdir().unwrap();
    symlink(tree.root(), outer.path().join("sys")).unwrap();
    assert_eq!(topology::read(outer.path()).unwrap(), read(&tree));
}
