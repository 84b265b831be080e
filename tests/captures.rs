//! Captured sysfs trees of 29 machines, against structures computed by an independent program.
//!
//! The archive lies beside the repository and not in it; without it every test here says SKIP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/sysfs_tree.rs"]
mod sysfs_tree;

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use std::time::Instant;

use scx_sibling::topology;
use scx_sibling::topology::json::to_json;
use scx_sibling::topology::CpuSet;
use scx_sibling::topology::Topology;
use serde_json::Value;
use sysfs_tree::check_sane;

const ARCHIVE: &str = "../shared/sysfs/captures.tar.zst";
const CAPTURES: usize = 29;
const READ_LIMIT: Duration = Duration::from_secs(1);

struct Capture {
    name: String,
    expected: Value,
    topology: Topology,
    json: Value,
    took: Duration,
}

/// All captures, read once for all tests; `Err` says why there are none.
fn captures() -> Option<&'static [Capture]> {
    static ALL: OnceLock<Result<Vec<Capture>, String>> = OnceLock::new();
    match ALL.get_or_init(|| Ok(load(&extracted()?))) {
        Ok(all) => Some(all),
        Err(why) => {
            eprintln!("SKIP captures: {why}");
            None
        }
    }
}

fn load(dir: &Path) -> Vec<Capture> {
    let mut names: Vec<String> = fs::read_dir(dir.join("expected"))
        .unwrap()
        .filter_map(|entry| {
            Some(
                entry
                    .unwrap()
                    .file_name()
                    .to_str()?
                    .strip_suffix(".json")?
                    .to_string(),
            )
        })
        .collect();
    names.sort();
    names.into_iter().map(|name| load_one(dir, name)).collect()
}

fn load_one(dir: &Path, name: String) -> Capture {
    let text = fs::read_to_string(dir.join(format!("expected/{name}.json"))).unwrap();
    let start = Instant::now();
    let topology = topology::read(&dir.join(&name))
        .unwrap_or_else(|error| panic!("{name} cannot be read: {error}"));
    let took = start.elapsed();
    Capture {
        expected: serde_json::from_str(&text).unwrap(),
        json: to_json(&topology),
        topology,
        took,
        name,
    }
}

/// The directory with the extracted archive; extracted again only when the archive changed.
fn extracted() -> Result<PathBuf, String> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARCHIVE);
    let meta = fs::metadata(&archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let changed = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let stamp = format!(
        "captures-{}-{}",
        meta.len(),
        changed.unwrap_or_default().as_secs()
    );
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let done = cache.join(stamp);
    if !done.is_dir() {
        // Renamed when complete, so that neither an interrupted nor a parallel run leaves half a tree.
        let fresh = tempfile::tempdir_in(cache).map_err(|error| error.to_string())?;
        let status = Command::new("tar")
            .arg("--use-compress-program=zstd")
            .arg("-xf")
            .arg(&archive)
            .arg("-C")
            .arg(fresh.path())
            .status()
            .map_err(|error| format!("tar cannot be run: {error}"))?;
        if !status.success() {
            return Err(format!(
                "tar and zstd cannot extract {}: {status}",
                archive.display()
            ));
        }
        if fs::rename(fresh.path(), &done).is_err() && !done.is_dir() {
            return Err(format!(
                "cannot move the extracted trees to {}",
                done.display()
            ));
        }
    }
    Ok(done.join("captures"))
}

/// Runs a check on every capture and reports all that disagree at once.
fn each(check: impl Fn(&Capture, &mut Vec<String>)) {
    let Some(all) = captures() else {
        return;
    };
    assert_eq!(all.len(), CAPTURES, "captures in the archive");
    let mut wrong = Vec::new();
    for capture in all {
        let mut here = Vec::new();
        check(capture, &mut here);
        let more = here.len().saturating_sub(3);
        wrong.extend(
            here.iter()
                .take(3)
                .map(|line| format!("{}: {line}", capture.name)),
        );
        if more > 0 {
            wrong.push(format!("{}: and {more} more", capture.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn ambiguous<'a>(capture: &'a Capture, level: &str) -> Option<&'a Value> {
    capture.expected["ambiguous"].get(level)
}

/// Compares one level of every CPU: `ours` in our JSON with any of `theirs` in the expected file.
/// Where sysfs does not force the level, any sane reading passes; that is another test.
fn level(ours: &str, theirs: &[&str]) {
    each(|capture, wrong| {
        let cpus = capture.expected["cpu"].as_object().unwrap();
        for (cpu, want) in cpus {
            let got = &capture.json["cpus"][cpu][ours];
            let main = theirs.iter().any(|key| want[*key] == *got);
            let open = theirs.iter().any(|key| ambiguous(capture, key).is_some());
            if !main && !open {
                wrong.push(format!(
                    "CPU {cpu} {ours} {got}, expected {}",
                    want[theirs[0]]
                ));
            }
        }
    });
}

#[test]
fn online_cpus_agree() {
    each(|capture, wrong| {
        let (got, want) = (&capture.json["online"], &capture.expected["online"]);
        if got != want {
            wrong.push(format!("online {got}, expected {want}"));
        }
        let cpus = |value: &Value| {
            value
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        if cpus(&capture.json["cpus"]) != cpus(&capture.expected["cpu"]) {
            wrong.push("cpus are not those expected".into());
        }
    });
}

#[test]
fn cores_agree() {
    level("smt", &["core"]);
}

#[test]
fn clusters_agree() {
    level("cluster", &["mid"]);
}

#[test]
fn llcs_agree() {
    level("llc", &["llc", "llc_node"]);
}

#[test]
fn packages_agree() {
    level("package", &["package"]);
}

#[test]
fn the_node_of_every_cpu_agrees() {
    level("node", &["node"]);
}

#[test]
fn nodes_agree() {
    each(|capture, wrong| {
        let (got, want) = (&capture.json["nodes"], &capture.expected["nodes"]);
        let ids = |value: &Value| {
            value
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        if ids(got) != ids(want) {
            wrong.push(format!("nodes {:?}, expected {:?}", ids(got), ids(want)));
        }
        for id in ids(want) {
            for (ours, theirs) in [("cpus", "cpus"), ("memory_kb", "mem_kb")] {
                let (got, want) = (&got[&id][ours], &want[&id][theirs]);
                if got != want {
                    wrong.push(format!("node {id} {ours} {got}, expected {want}"));
                }
            }
        }
    });
}

#[test]
fn distances_agree() {
    each(|capture, wrong| {
        let (got, want) = (&capture.json["distance"], &capture.expected["distance"]);
        if got != want && ambiguous(capture, "distance").is_none() {
            wrong.push(format!("distance {got}, expected {want}"));
        }
    });
}

#[test]
fn capacities_agree() {
    each(|capture, wrong| {
        for (cpu, want) in capture.expected["cpu"].as_object().unwrap() {
            let (got, want) = (&capture.json["cpus"][cpu]["capacity"], &want["capacity"]);
            if got != want {
                wrong.push(format!("CPU {cpu} capacity {got}, expected {want}"));
            }
        }
    });
}

#[test]
fn the_machine_wide_sets_agree() {
    each(|capture, wrong| {
        let topology = &capture.topology;
        let said = |key: &str| {
            capture.expected[key]
                .as_str()
                .map(|text| CpuSet::parse_list(text).unwrap())
        };
        for (key, got, want) in [
            (
                "possible",
                topology.possible.clone().unwrap_or_default(),
                said("possible"),
            ),
            ("isolated", topology.isolated.clone(), said("isolated")),
            ("nohz_full", topology.nohz_full.clone(), said("nohz_full")),
        ] {
            if got != want.unwrap_or_default() {
                wrong.push(format!("{key} {got}, expected {}", capture.expected[key]));
            }
        }
    });
}

#[test]
fn every_capture_is_a_sane_tree() {
    each(|capture, wrong| wrong.extend(check_sane(&capture.topology).err()));
}

/// Real machines have few oddities; a warning too many hides the one that matters.
#[test]
fn warnings_are_few_and_folded() {
    each(|capture, wrong| {
        if capture.topology.warnings.len() > 6 {
            wrong.push(capture.topology.warnings.join("\n  "));
        }
    });
}

#[test]
fn every_capture_is_read_in_time() {
    each(|capture, wrong| {
        if capture.took > READ_LIMIT {
            wrong.push(format!("{:?}, limit {READ_LIMIT:?}", capture.took));
        }
    });
}
