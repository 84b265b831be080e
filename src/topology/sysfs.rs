//! Reads what sysfs says, as it says it: nothing here decides which of two files is right.
//!
//! Every file is read up to a size limit and only if it is a regular file, so that a damaged tree
//! (a directory, FIFO or dangling link in the place of a file) costs a remark and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::cpuparse::CpuSetError;
use super::cpuset::CpuSet;
use super::cpuset::MAX_CPUS;
use super::error::TopologyError;
use super::notes::Notes;

/// A list of every second one of 8192 CPUs needs 20 KiB, `meminfo` 2 KiB; what is larger is noise.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// Four levels, split and unified, is the most any machine lists.
const MAX_CACHES: u32 = 16;
/// Above every cache level known (s390 lists four).
const MAX_CACHE_LEVEL: u32 = 8;
/// `SCHED_CAPACITY_SCALE`: the kernel gives the largest CPU this and every other one less.
const MAX_CAPACITY: u32 = 1024;

type Parser = fn(&str) -> Result<CpuSet, CpuSetError>;
type Sources<'a> = &'a [(&'a str, Parser)];

const CORE: Sources = &[
    ("topology/core_cpus_list", CpuSet::parse_list),
    ("topology/thread_siblings_list", CpuSet::parse_list),
    ("topology/core_cpus", CpuSet::parse_mask),
    ("topology/thread_siblings", CpuSet::parse_mask),
];
const CLUSTER: Sources = &[
    ("topology/cluster_cpus_list", CpuSet::parse_list),
    ("topology/cluster_cpus", CpuSet::parse_mask),
];
const PACKAGE: Sources = &[
    ("topology/package_cpus_list", CpuSet::parse_list),
    ("topology/core_siblings_list", CpuSet::parse_list),
    ("topology/package_cpus", CpuSet::parse_mask),
    ("topology/core_siblings", CpuSet::parse_mask),
];
const CACHE: Sources = &[
    ("shared_cpu_list", CpuSet::parse_list),
    ("shared_cpu_map", CpuSet::parse_mask),
];

/// The tree as read; every CPU set is cut to `online`.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) online: CpuSet,
    pub(super) possible: Option<CpuSet>,
    pub(super) isolated: CpuSet,
    pub(super) nohz_full: CpuSet,
    pub(super) cpus: BTreeMap<u32, RawCpu>,
    pub(super) nodes: BTreeMap<u32, RawNode>,
    /// `node/online`: the columns of every `distance` file.
    pub(super) node_online: Option<CpuSet>,
}

/// One online CPU; a set that is there holds the CPU itself.
#[derive(Debug, Default)]
pub(super) struct RawCpu {
    pub(super) core: Option<CpuSet>,
    pub(super) cluster: Option<CpuSet>,
    pub(super) package: Option<CpuSet>,
    /// Drawer, book and package id, when the package id is one (not -1).
    pub(super) package_key: Option<(i64, i64, i64)>,
    /// Caches that hold data.
    pub(super) caches: Vec<RawCache>,
    /// Nodes that `cpuN/nodeM` links name, which may have no directory.
    pub(super) node_links: CpuSet,
    pub(super) capacity: Option<u32>,
}

/// A data or unified cache of one CPU.
#[derive(Debug)]
pub(super) struct RawCache {
    pub(super) level: u32,
    pub(super) unified: bool,
    pub(super) cpus: CpuSet,
}

/// A node that has a directory.
#[derive(Debug, Default)]
pub(super) struct RawNode {
    pub(super) cpus: CpuSet,
    pub(super) memory_kb: Option<u64>,
    pub(super) distance: Option<Vec<u32>>,
}

/// Reads the tree below `root`, which is what stands for `/sys`, or a directory that holds `sys`.
pub(super) fn read(root: &Path, notes: &mut Notes) -> Result<Raw, TopologyError> {
    let system = [root.join("devices/system"), root.join("sys/devices/system")]
        .into_iter()
        .find(|dir| dir.join("cpu").is_dir())
        .ok_or_else(|| TopologyError::NoTree {
            root: root.to_path_buf(),
        })?;
    let cpu_dir = system.join("cpu");
    let online = read_online(&cpu_dir, notes)?;
    let mut raw = Raw {
        possible: read_set(&cpu_dir, "possible", notes),
        isolated: read_set(&cpu_dir, "isolated", notes).unwrap_or_default(),
        nohz_full: read_set(&cpu_dir, "nohz_full", notes).unwrap_or_default(),
        node_online: read_set(&system.join("node"), "online", notes),
        nodes: read_nodes(&system.join("node"), &online, notes),
        ..Raw::default()
    };
    for cpu in online.iter() {
        let dir = cpu_dir.join(format!("cpu{cpu}"));
        raw.cpus.insert(cpu, read_cpu(&dir, cpu, &online, notes));
    }
    raw.online = online;
    Ok(raw)
}

/// The online CPUs that have a directory: by `cpu/online`, else `cpuN/online`, else all of them.
fn read_online(cpu_dir: &Path, notes: &mut Notes) -> Result<CpuSet, TopologyError> {
    let path = cpu_dir.to_path_buf();
    let dirs =
        numbered_dirs(cpu_dir, "cpu", MAX_CPUS).map_err(|source| TopologyError::Unreadable {
            path: path.clone(),
            source,
        })?;
    if dirs.is_empty() {
        return Err(TopologyError::NoCpus { path });
    }
    if let Some(listed) = read_set(cpu_dir, "online", notes) {
        let online = listed.intersect(&dirs);
        if !online.is_empty() {
            let bare = listed.minus(&dirs);
            notes.cpus(
                &bare,
                "cpu/online names it, but it has no directory; left out",
                "",
            );
            return Ok(online);
        }
        notes
            .machine("cpu/online names no CPU that has a directory; read from cpuN/online instead");
    }
    let online: CpuSet = dirs
        .iter()
        .filter(|cpu| {
            let text = read_text(&cpu_dir.join(format!("cpu{cpu}/online")));
            text.is_none_or(|text| text.trim() != "0")
        })
        .collect();
    if online.is_empty() {
        return Err(TopologyError::NoneOnline {
            path,
            dirs: dirs.to_string(),
        });
    }
    Ok(online)
}

fn read_cpu(dir: &Path, cpu: u32, online: &CpuSet, notes: &mut Notes) -> RawCpu {
    let capacity = read_number(&dir.join("cpu_capacity"));
    let known = capacity
        .and_then(|value| u32::try_from(value).ok())
        .filter(|value| (1..=MAX_CAPACITY).contains(value));
    if let (Some(value), None) = (capacity, known) {
        let detail = format!("{value} is not from 1 to {MAX_CAPACITY}");
        notes.cpu(cpu, "cpu_capacity is taken as unknown", &detail);
    }
    let mut own = |sources| read_own(dir, "", sources, cpu, online, notes);
    let (core, cluster, package) = (own(CORE), own(CLUSTER), own(PACKAGE));
    // The ids are only for trees without package masks; three opens per CPU are worth saving.
    let package_key = package.is_none().then(|| read_package_key(dir)).flatten();
    RawCpu {
        core,
        cluster,
        package,
        package_key,
        caches: read_caches(dir, cpu, online, notes),
        node_links: numbered(dir, "node", MAX_CPUS).unwrap_or_default(),
        capacity: known,
    }
}

fn read_package_key(dir: &Path) -> Option<(i64, i64, i64)> {
    let id = |name: &str| read_number(&dir.join("topology").join(name));
    let package = id("physical_package_id").filter(|id| *id >= 0)?;
    let outer = |name| id(name).unwrap_or(-1);
    Some((outer("drawer_id"), outer("book_id"), package))
}

fn read_caches(dir: &Path, cpu: u32, online: &CpuSet, notes: &mut Notes) -> Vec<RawCache> {
    let mut caches = Vec::new();
    let cache_dir = dir.join("cache");
    // Listing beats probing: the numbers may have holes, and most CPUs of a damaged tree have none.
    let indices = numbered(&cache_dir, "index", MAX_CACHES).unwrap_or_default();
    for index in indices.iter() {
        let dir = cache_dir.join(format!("index{index}"));
        let kind = read_text(&dir.join("type")).unwrap_or_default();
        let kind = kind.split('\0').next().unwrap_or_default().trim();
        if kind == "Instruction" {
            continue;
        }
        let level = read_number(&dir.join("level"))
            .and_then(|level| u32::try_from(level).ok())
            .filter(|level| (1..=MAX_CACHE_LEVEL).contains(level));
        let (Some(level), "Unified" | "Data") = (level, kind) else {
            notes.cpu(
                cpu,
                "a cache without a readable level or type is left out",
                &format!("cache/index{index}"),
            );
            continue;
        };
        let place = format!("cache/index{index}/");
        if let Some(cpus) = read_own(&dir, &place, CACHE, cpu, online, notes) {
            caches.push(RawCache {
                level,
                unified: kind == "Unified",
                cpus,
            });
        }
    }
    caches
}

/// The first of `sources` that can be read and holds the CPU itself, cut to the online CPUs.
/// `place` is where in the CPU's directory `dir` is, for remarks.
fn read_own(
    dir: &Path,
    place: &str,
    sources: Sources,
    cpu: u32,
    online: &CpuSet,
    notes: &mut Notes,
) -> Option<CpuSet> {
    for (name, parse) in sources {
        let Some(text) = read_text(&dir.join(name)) else {
            continue;
        };
        match parse(&text) {
            // Old kernels print an all-zero map for a cache they do not know; that is no oddity.
            Ok(set) if set.is_empty() => {}
            Ok(set) if set.contains(cpu) => return Some(set.intersect(online)),
            Ok(set) => {
                let what = format!("{place}{name} does not name the CPU itself; not used");
                notes.cpu(cpu, &what, &set.to_string());
            }
            Err(error) => {
                let what = format!("{place}{name} is no CPU set; not used");
                notes.cpu(cpu, &what, &error.to_string());
            }
        }
    }
    None
}

fn read_nodes(dir: &Path, online: &CpuSet, notes: &mut Notes) -> BTreeMap<u32, RawNode> {
    // No directory at all is CONFIG_NUMA=n, a normal machine.
    let ids = numbered_dirs(dir, "node", MAX_CPUS).unwrap_or_default();
    let mut nodes = BTreeMap::new();
    for id in ids.iter() {
        let dir = dir.join(format!("node{id}"));
        let listed = read_set(&dir, "cpulist", notes)
            .or_else(|| {
                let text = read_text(&dir.join("cpumap"))?;
                CpuSet::parse_mask(&text).ok()
            })
            .or_else(|| numbered(&dir, "cpu", MAX_CPUS).ok());
        let node = RawNode {
            cpus: listed.unwrap_or_default().intersect(online),
            memory_kb: read_text(&dir.join("meminfo")).and_then(|text| mem_total(&text)),
            distance: read_text(&dir.join("distance")).and_then(|text| distance_row(&text)),
        };
        nodes.insert(id, node);
    }
    nodes
}

/// `Node 0 MemTotal:  16772032 kB`.
fn mem_total(text: &str) -> Option<u64> {
    let rest = text.split_once("MemTotal:")?.1;
    rest.split_whitespace().next()?.parse().ok()
}

fn distance_row(text: &str) -> Option<Vec<u32>> {
    let text = text.split('\0').next()?;
    let row: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    row.ok().filter(|row| !row.is_empty())
}

/// A list file of the whole machine; unreadable text is a remark and counts as absent.
fn read_set(dir: &Path, name: &str, notes: &mut Notes) -> Option<CpuSet> {
    let path = dir.join(name);
    let text = read_text(&path)?;
    CpuSet::parse_list(&text)
        .inspect_err(|error| {
            let place = dir.file_name().unwrap_or_default().to_string_lossy();
            notes.machine(&format!("{place}/{name} is not used: {error}"));
        })
        .ok()
}

fn read_number(path: &Path) -> Option<i64> {
    let text = read_text(path)?;
    text.split('\0').next()?.trim().parse().ok()
}

/// The text of a regular file of bearable size; bytes that are no UTF-8 become U+FFFD, which no
/// parser accepts.
fn read_text(path: &Path) -> Option<String> {
    // Opening a FIFO would wait for a writer, so look before.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The numbers N below `limit` of the entries `prefixN` of a directory, links and files included.
fn numbered(dir: &Path, prefix: &str, limit: u32) -> std::io::Result<CpuSet> {
    let names = fs::read_dir(dir)?.flatten().map(|entry| entry.file_name());
    Ok(names
        .filter_map(|name| {
            let digits = name.to_str()?.strip_prefix(prefix)?;
            let number: u32 = digits.parse().ok().filter(|number| *number < limit)?;
            // "cpu007" and "cpu+7" parse as well, and would be read twice.
            (number.to_string() == digits).then_some(number)
        })
        .collect())
}

/// Those of [`numbered`] that are directories.
fn numbered_dirs(dir: &Path, prefix: &str, limit: u32) -> std::io::Result<CpuSet> {
    let entries = numbered(dir, prefix, limit)?;
    Ok(entries
        .iter()
        .filter(|number| dir.join(format!("{prefix}{number}")).is_dir())
        .collect())
}
