//! Trees that are incomplete or broken: what is left must still be read as a sane machine, or be
//! refused with a clear error.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/damage.rs"]
mod damage;
#[path = "common/sysfs_tree.rs"]
mod sysfs_tree;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use damage::all_below;
use damage::damage;
use damage::spoil;
use proptest::prelude::*;
use scx_sibling::topology;
use scx_sibling::topology::CpuSet;
use sysfs_tree::check_sane;
use sysfs_tree::llc;
use sysfs_tree::read;
use sysfs_tree::sixteen;
use sysfs_tree::smt;
use sysfs_tree::warns;
use sysfs_tree::Shape;
use sysfs_tree::Tree;

#[test]
fn without_cache_directories_the_package_is_the_llc() {
    let tree = sixteen();
    tree.remove_everywhere("cache");
    let topology = read(&tree);
    assert_eq!(llc(&topology), ["0-7", "8-15"]);
    warns(&topology, "CPUs 0-15: no cache is listed");
}

#[test]
fn without_a_node_directory_there_is_one_node() {
    for links in [true, false] {
        let tree = sixteen();
        tree.remove("node");
        if !links {
            tree.remove_node_links();
        }
        let topology = read(&tree);
        assert!(topology.nodes.is_empty() && topology.distance.is_none());
        assert_eq!(topology.node_cpus(3), topology.online);
        assert!(topology.cpus.values().all(|cpu| cpu.node.is_none()));
        warns(&topology, "no NUMA node directory");
    }
}

#[test]
fn online_is_found_without_the_list() {
    let tree = sixteen();
    tree.remove("cpu/online");
    tree.write("cpu/cpu5/online", "0");
    tree.write("cpu/cpu6/online", "1");
    assert_eq!(read(&tree).online.to_string(), "0-4,6-15");
    tree.write("cpu/online", "3-1");
    let topology = read(&tree);
    assert_eq!(topology.online.to_string(), "0-4,6-15");
    warns(&topology, "cpu/online is not used");
}

#[test]
fn one_damaged_file_is_outvoted_by_its_neighbours() {
    let want = llc(&read(&sixteen()));
    for list in ["0-15", "5", "5,9", "junk", "", "99999"] {
        let tree = sixteen();
        tree.write("cpu/cpu5/cache/index3/shared_cpu_list", list);
        let topology = read(&tree);
        assert_eq!(llc(&topology), want, "{list:?}");
        assert!(list.is_empty() || !topology.warnings.is_empty(), "{list:?}");
    }
}

#[test]
fn masks_stand_in_for_lists() {
    let want = read(&sixteen());
    let tree = sixteen();
    for cpu in 0..16 {
        let dir = format!("cpu/cpu{cpu}");
        for (list, mask, width) in [
            ("topology/core_cpus_list", "topology/thread_siblings", 2),
            ("topology/package_cpus_list", "topology/core_siblings", 8),
            (
                "cache/index3/shared_cpu_list",
                "cache/index3/shared_cpu_map",
                4,
            ),
        ] {
            tree.remove(&format!("{dir}/{list}"));
            let bits = ((1u32 << width) - 1) << (cpu / width * width);
            tree.write(&format!("{dir}/{mask}"), &format!("00000000,{bits:08x}"));
        }
    }
    assert_eq!(read(&tree), want);
}

#[test]
fn things_that_are_no_regular_files_are_passed_over() {
    let tree = sixteen();
    for path in ["cpu/isolated", "cpu/cpu1/topology/core_cpus_list"] {
        tree.remove(path);
        let made = Command::new("mkfifo")
            .arg(tree.path(path))
            .status()
            .unwrap();
        assert!(made.success());
    }
    tree.remove("cpu/cpu2/cache/index3/shared_cpu_list");
    symlink(
        "nowhere",
        tree.path("cpu/cpu2/cache/index3/shared_cpu_list"),
    )
    .unwrap();
    tree.remove("cpu/possible");
    fs::create_dir(tree.path("cpu/possible")).unwrap();
    assert_eq!(llc(&read(&tree)), llc(&read(&sixteen())));
}

#[test]
fn what_is_no_tree_says_what_was_looked_for() {
    let error = |root: &Path| topology::read(root).unwrap_err().to_string();
    let nothing = tempfile::tempdir().unwrap();
    assert!(error(nothing.path()).contains("sys/devices/system/cpu"));
    assert!(error(&nothing.path().join("absent")).contains("mount sysfs"));
    assert!(error(Tree::empty().root()).contains("cpu0"));
    let offline = sixteen();
    offline.remove("cpu/online");
    (0..16).for_each(|cpu| offline.write(&format!("cpu/cpu{cpu}/online"), "0"));
    assert!(error(offline.root()).contains("0-15"));
}

#[test]
fn node_links_stand_in_for_a_node_that_lists_nobody() {
    let tree = sixteen();
    tree.write("node/node0/cpulist", "12-15");
    let topology = read(&tree);
    assert_eq!(topology.nodes[&0].cpus, CpuSet::range(0, 7));
    assert_eq!(topology.nodes[&1].cpus, CpuSet::range(8, 15));
    warns(&topology, "CPUs 0-7: no NUMA node lists it");
    warns(&topology, "CPUs 12-15: several NUMA nodes list it");

    tree.remove_node_links();
    let topology = read(&tree);
    assert_eq!(topology.node_cpus(3), CpuSet::range(0, 7));
    assert_eq!(topology.cpus[&3].node, None);
    assert_eq!(topology.cpus[&12].node, Some(0));
    warns(&topology, "CPUs 0-7: in no NUMA node");
}

#[test]
fn distances_that_do_not_fit_are_no_distances() {
    for row in ["10", "10 x", "\0", "10 20 30", "-1 20"] {
        let tree = sixteen();
        tree.write("node/node0/distance", row);
        let topology = read(&tree);
        assert_eq!(topology.distance, None, "{row:?}");
        warns(&topology, "the distances of node 0");
        let last = topology.level_chain(0).pop().unwrap();
        assert_eq!((last.cpus, last.distance), (topology.online, None));
    }
}

#[test]
fn a_core_that_crosses_the_cache_is_cut() {
    let tree = sixteen();
    for cpu in 3..5 {
        tree.write(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), "3-4");
        tree.remove(&format!("cpu/cpu{cpu}/topology/cluster_cpus_list"));
        tree.cache(cpu, 2, 2, "Unified", &cpu.to_string());
    }
    for cpu in [2, 5] {
        tree.write(
            &format!("cpu/cpu{cpu}/topology/core_cpus_list"),
            &cpu.to_string(),
        );
    }
    let topology = read(&tree);
    assert_eq!(smt(&topology)[..6], ["0-1", "2", "3", "4", "5", "6-7"]);
    warns(&topology, "CPUs 3-4: the core crosses");
}

#[test]
fn a_list_without_the_cpu_itself_is_not_used() {
    let tree = sixteen();
    tree.write("cpu/cpu5/topology/core_cpus_list", "0-1");
    tree.write("cpu/cpu5/topology/thread_siblings", "00000030");
    let topology = read(&tree);
    assert_eq!(smt(&topology), smt(&read(&sixteen())));
    warns(
        &topology,
        "CPU 5: topology/core_cpus_list does not name the CPU itself",
    );
}

/// Writing the trees takes the time, so few cases unless `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    let cases = if asked { default.cases } else { 96 };
    ProptestConfig { cases, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_damage_gives_a_sane_tree_or_a_clear_error(
        shape in prop_oneof![
            Just(Shape::new(1, 1, 2, 1)),
            Just(Shape::new(2, 1, 2, 2)),
            Just(Shape::new(2, 2, 2, 2)),
        ],
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..60),
    ) {
        let tree = Tree::new(shape);
        let files = all_below(tree.root());
        for (place, damage) in &damages {
            let path: &PathBuf = place.get(&files);
            spoil(path, damage, &files);
        }
        let start = Instant::now();
        let result = topology::read(tree.root());
        let took = start.elapsed();
        prop_assert!(took < Duration::from_secs(5), "took {took:?}");
        match result {
            Ok(topology) => {
                if let Err(why) = check_sane(&topology) {
                    return Err(TestCaseError::fail(why));
                }
            }
            Err(error) => prop_assert!(error.to_string().len() > 20, "{error}"),
        }
    }

    #[test]
    fn any_text_is_a_cpu_set_or_an_error(text in ".{0,40}|[0-9,:/-]{0,20}") {
        for result in [CpuSet::parse_list(&text), CpuSet::parse_mask(&text)] {
            match result {
                Ok(set) => prop_assert_eq!(CpuSet::parse_list(&set.to_string()), Ok(set)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn sets_behave_like_sets(
        a in prop::collection::btree_set(0u32..300, 0..40),
        b in prop::collection::btree_set(0u32..300, 0..40),
    ) {
        let set = |cpus: &std::collections::BTreeSet<u32>| cpus.iter().copied().collect::<CpuSet>();
        let (x, y) = (set(&a), set(&b));
        prop_assert_eq!(x.union(&y), set(&(&a | &b)));
        prop_assert_eq!(x.intersect(&y), set(&(&a & &b)));
        prop_assert_eq!(x.minus(&y), set(&(&a - &b)));
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!((x.len(), x.first()), (a.len(), a.first().copied()));
        prop_assert!(x.iter().eq(a.iter().copied()));
    }
}
