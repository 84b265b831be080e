//! The topology for people: an indented tree that fits a screen.

use std::collections::BTreeMap;

use super::cpuset::CpuSet;
use super::partition::distinct;
use super::tree;
use super::tree::Kind;
use super::tree::Part;
use super::Distance;
use super::Node;
use super::Topology;

/// The most lines of [`to_text`].
pub const MAX_LINES: usize = 50;
/// The longest line of [`to_text`], in characters.
pub const MAX_COLUMNS: usize = 100;

/// A larger distance matrix is summed up.
const MAX_MATRIX: usize = 8;
const MAX_WARNING_LINES: usize = 14;

/// The topology as at most [`MAX_LINES`] lines of at most [`MAX_COLUMNS`] characters.
///
/// Nodes, LLCs, clusters and cores are indented below each other; as much detail is shown as fits,
/// innermost left out first, and a line always says what is inside (`8 LLCs of 8 cores x 2
/// threads`). Parts of the same shape share a line once they no longer fit on their own. Below
/// come nodes of memory only, the node distances and the warnings.
pub fn to_text(topology: &Topology) -> String {
    let mut head = header(topology);
    let mut tail: Vec<String> = cpuless(topology).into_iter().collect();
    tail.extend(distances(topology.distance.as_ref()));
    tail.extend(warnings(&topology.warnings));
    let room = MAX_LINES.saturating_sub(head.len() + tail.len());

    let nodes = tree::nodes(topology);
    let mut body = Vec::new();
    for detail in details() {
        body.clear();
        render(topology, &nodes, 0, detail, &mut body);
        if body.len() <= room {
            break;
        }
    }
    if body.len() > room {
        let shown = room.saturating_sub(1);
        let more = body.len() - shown;
        body.truncate(shown);
        body.push(format!("... and {more} more lines like these"));
    }

    head.append(&mut body);
    head.append(&mut tail);
    let mut text = String::new();
    for line in head {
        text.push_str(&clip(&line));
        text.push('\n');
    }
    text
}

fn header(topology: &Topology) -> Vec<String> {
    let packages = distinct(topology.cpus.values().map(|cpu| &cpu.package)).len();
    let mut first = format!(
        "{} online ({}), {}, {}",
        count(topology.online.len(), "CPU"),
        topology.online,
        count(packages, "package"),
        count(topology.nodes.len().max(1), "node"),
    );
    let idle = |set: &CpuSet| set.minus(&topology.online).len();
    match topology.possible.as_ref().map_or(0, idle) {
        0 => {}
        more => first.push_str(&format!(", {more} more possible")),
    }
    let mut lines = vec![first];
    for (name, set) in [
        ("isolated", &topology.isolated),
        ("nohz_full", &topology.nohz_full),
    ] {
        if !set.is_empty() {
            lines.push(format!("{name}: cpus {set}"));
        }
    }
    lines.extend(capacities(topology));
    lines
}

/// Only machines with unlike CPUs have anything to tell here.
fn capacities(topology: &Topology) -> Option<String> {
    let mut by_value: BTreeMap<u32, CpuSet> = BTreeMap::new();
    for (cpu, entry) in &topology.cpus {
        by_value.entry(entry.capacity?).or_default().insert(*cpu);
    }
    if by_value.len() < 2 {
        return None;
    }
    let words = by_value
        .iter()
        .rev()
        .map(|(value, cpus)| format!("{value} (cpus {cpus})"));
    Some(format!(
        "capacity: {}",
        words.collect::<Vec<_>>().join(", ")
    ))
}

/// How much of the tree is listed.
#[derive(Clone, Copy)]
struct Detail {
    /// The innermost kind of which every part has a line; `None`: not even nodes.
    each: Option<Kind>,
    /// Whether the parts just below have one line per shape, or are words in their parent's line.
    shapes: bool,
}

/// From everything to almost nothing.
fn details() -> impl Iterator<Item = Detail> {
    let each = |each, shapes| Detail { each, shapes };
    [Kind::Core, Kind::Cluster, Kind::Llc, Kind::Node]
        .into_iter()
        .flat_map(move |kind| [each(Some(kind), true), each(Some(kind), false)])
        .chain([each(None, true)])
}

fn render(
    topology: &Topology,
    parts: &[Part],
    depth: usize,
    detail: Detail,
    out: &mut Vec<String>,
) {
    let indent = "  ".repeat(depth);
    let listed = |part: &Part| detail.each.is_some_and(|each| part.kind <= each);
    for part in parts.iter().filter(|part| listed(part)) {
        let mut title = name(topology, part);
        let mut inner = part;
        // A level that adds nothing shares the line of the one around it.
        while let [only] = inner.parts.as_slice() {
            if !listed(only) {
                break;
            }
            title.push_str(&format!(", {}", name(topology, only)));
            inner = only;
        }
        let at = out.len();
        render(topology, &inner.parts, depth + 1, detail, out);
        let inside = if out.len() == at {
            inner.content.as_str()
        } else {
            ""
        };
        let title = format!("{indent}{title}: {}", cpus(&part.cpus));
        out.insert(at, with_inside(title, inner.kind, inside));
    }
    if !detail.shapes {
        return;
    }
    for equal in tree::fold(parts.iter().filter(|part| !listed(part))) {
        if let Some(first) = equal.first() {
            let sets: Vec<String> = equal.iter().map(|part| part.cpus.to_string()).collect();
            let shape = tree::counted(equal.len(), first);
            out.push(format!("{indent}{shape}: cpus {}", sets.join(" | ")));
        }
    }
}

/// What is inside must survive a CPU list that is longer than the line.
fn with_inside(line: String, kind: Kind, inside: &str) -> String {
    if inside.is_empty() || kind == Kind::Core {
        return line;
    }
    let room = MAX_COLUMNS.saturating_sub(inside.len() + 3).max(40);
    format!("{} ({inside})", clip_to(&line, room))
}

fn name(topology: &Topology, part: &Part) -> String {
    match part.kind {
        Kind::Node => node_name(topology, part),
        Kind::Llc => "LLC".to_string(),
        Kind::Cluster => "cluster".to_string(),
        Kind::Core => "core".to_string(),
    }
}

fn cpus(set: &CpuSet) -> String {
    let plural = if set.len() == 1 { "" } else { "s" };
    format!("cpu{plural} {set}")
}

fn node_name(topology: &Topology, part: &Part) -> String {
    let cpu = part.cpus.first().and_then(|cpu| topology.cpus.get(&cpu));
    let Some(id) = cpu.and_then(|cpu| cpu.node) else {
        return "node without a number".to_string();
    };
    let memory = topology.nodes.get(&id).and_then(|node| node.memory_kb);
    let memory = memory.map_or(String::new(), |kb| format!(" ({})", gib(kb)));
    format!("node {id}{memory}")
}

/// Nodes of memory alone have no CPU to be found below in the tree.
fn cpuless(topology: &Topology) -> Option<String> {
    let empty = |node: &Node| node.cpus.is_empty();
    let ids: CpuSet = topology
        .nodes
        .iter()
        .filter(|(_, n)| empty(n))
        .map(|(id, _)| *id)
        .collect();
    let kb = topology
        .nodes
        .values()
        .filter(|n| empty(n))
        .filter_map(|n| n.memory_kb);
    let total = kb.fold(0u64, u64::saturating_add);
    (!ids.is_empty()).then(|| format!("nodes without CPUs: {ids} ({})", gib(total)))
}

fn distances(distance: Option<&Distance>) -> Vec<String> {
    let Some(distance) = distance.filter(|distance| distance.nodes.len() > 1) else {
        return Vec::new();
    };
    if distance.nodes.len() <= MAX_MATRIX {
        let row = |head: &str, row: &[u32]| {
            let cells: Vec<String> = row.iter().map(|value| format!("{value:>5}")).collect();
            format!("{head:>8}{}", cells.concat())
        };
        let mut lines = vec![row("distance", &distance.nodes)];
        let rows = distance.nodes.iter().zip(&distance.matrix);
        lines.extend(rows.map(|(id, values)| row(&id.to_string(), values)));
        return lines;
    }
    let mut pairs: BTreeMap<u32, usize> = BTreeMap::new();
    for value in distance.matrix.iter().flatten() {
        *pairs.entry(*value).or_default() += 1;
    }
    let words: Vec<String> = pairs
        .iter()
        .map(|(value, n)| format!("{value} ({n})"))
        .collect();
    let nodes = distance.nodes.len();
    vec![format!(
        "distances of {nodes} nodes, with the number of pairs: {}",
        words.join(", ")
    )]
}

fn warnings(warnings: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, warning) in warnings.iter().enumerate() {
        let wrapped = wrap(&format!("warning: {warning}"));
        let last = index + 1 == warnings.len();
        if lines.len() + wrapped.len() + usize::from(!last) > MAX_WARNING_LINES {
            lines.push(format!("... and {} more warnings", warnings.len() - index));
            break;
        }
        lines.extend(wrapped);
    }
    lines
}

/// At most three lines, broken at spaces; a word longer than a line is clipped.
fn wrap(text: &str) -> Vec<String> {
    const LINES: usize = 3;
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let full = lines.len() == LINES;
        let Some(line) = lines.last_mut() else {
            break;
        };
        if line.is_empty() || full || line.chars().count() + 1 + word.chars().count() <= MAX_COLUMNS
        {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(format!("  {}", clip_to(word, MAX_COLUMNS - 10)));
        }
    }
    lines
}

fn clip(line: &str) -> String {
    clip_to(line, MAX_COLUMNS)
}

fn clip_to(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_string();
    }
    let mut head: String = line.chars().take(columns.saturating_sub(3)).collect();
    head.push_str("...");
    head
}

fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

fn gib(kb: u64) -> String {
    // Integers, because a damaged file may give any number.
    let tenths = u128::from(kb) * 10 / (1024 * 1024);
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::super::Cpu;
    use super::*;

    /// Every node has `llcs` LLCs of `cores` cores; the second thread of a core is numbered in the
    /// second half, as on x86 servers.
    fn machine(nodes: u32, llcs: u32, cores: u32) -> Topology {
        let half = nodes * llcs * cores;
        let around = |cpu: u32, width: u32| -> CpuSet {
            let first = cpu % half / width * width;
            (first..first + width)
                .flat_map(|cpu| [cpu, cpu + half])
                .collect()
        };
        let cpu = |cpu: u32| Cpu {
            smt: around(cpu, 1),
            cluster: around(cpu, 1),
            llc: around(cpu, cores),
            package: around(cpu, cores * llcs),
            node: Some(cpu % half / (cores * llcs)),
            capacity: None,
        };
        let node = |n: u32| Node {
            cpus: around(n * cores * llcs, cores * llcs),
            memory_kb: Some(1 << 26),
        };
        Topology {
            online: CpuSet::range(0, 2 * half - 1),
            cpus: (0..2 * half).map(|n| (n, cpu(n))).collect(),
            nodes: (0..nodes).map(|n| (n, node(n))).collect(),
            ..Topology::default()
        }
    }

    #[test]
    fn a_small_machine_is_listed_to_the_core() {
        let want = "\
4 CPUs online (0-3), 1 package, 1 node
node 0 (64.0 GiB), LLC: cpus 0-3
  core: cpus 0,2
  core: cpus 1,3
";
        assert_eq!(to_text(&machine(1, 1, 2)), want);
    }

    #[test]
    fn equal_parts_of_a_large_machine_fold() {
        let text = to_text(&machine(2, 16, 8));
        assert!(text.contains("8 cores x 2 threads"), "{text}");
        let text = to_text(&machine(64, 2, 8));
        assert!(
            text.contains("64 nodes of 2 LLCs of 8 cores x 2 threads: cpus 0-15,"),
            "{text}"
        );
    }

    #[test]
    fn every_machine_fits_the_screen() {
        for (nodes, llcs, cores) in [
            (1, 1, 1),
            (2, 1, 64),
            (2, 12, 8),
            (8, 8, 8),
            (64, 1, 2),
            (100, 3, 1),
        ] {
            let mut topology = machine(nodes, llcs, cores);
            topology.warnings = (0..100)
                .map(|n| format!("{n} {}", "word ".repeat(200)))
                .collect();
            topology.isolated = (0..500).map(|cpu| cpu * 2).collect();
            topology.distance = Some(Distance {
                nodes: (0..nodes).collect(),
                matrix: (0..nodes)
                    .map(|a| (0..nodes).map(|b| a.abs_diff(b)).collect())
                    .collect(),
            });
            let text = to_text(&topology);
            assert!(text.lines().count() <= MAX_LINES, "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= MAX_COLUMNS),
                "{text}"
            );
        }
    }
}
