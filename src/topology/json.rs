//! The machine-readable form of a topology.

use serde_json::Map;
use serde_json::Value;

use super::Cpu;
use super::Distance;
use super::Node;
use super::Topology;

/// The topology as one JSON object; CPU sets are list strings (`"0-3,8"`).
///
/// - `online`
/// - `cpus`: by CPU number, `smt`, `cluster`, `llc`, `package`, `node` (number or null) and, where
///   it is known, `capacity` (1024 for the fastest CPU)
/// - `nodes`: by node number, `cpus` and `memory_kb` (KiB or null)
/// - `distance`: `nodes` and the square `matrix`, or null when unknown
/// - `warnings`: lines for people
pub fn to_json(topology: &Topology) -> Value {
    let cpus = topology
        .cpus
        .iter()
        .map(|(id, cpu)| (id.to_string(), cpu_json(cpu)));
    let nodes = topology
        .nodes
        .iter()
        .map(|(id, node)| (id.to_string(), node_json(node)));
    object([
        ("online", Value::from(topology.online.to_string())),
        ("cpus", Value::Object(cpus.collect())),
        ("nodes", Value::Object(nodes.collect())),
        (
            "distance",
            topology
                .distance
                .as_ref()
                .map_or(Value::Null, distance_json),
        ),
        ("warnings", Value::from(topology.warnings.clone())),
    ])
}

fn cpu_json(cpu: &Cpu) -> Value {
    let mut value = Map::new();
    for (key, set) in [
        ("smt", &cpu.smt),
        ("cluster", &cpu.cluster),
        ("llc", &cpu.llc),
        ("package", &cpu.package),
    ] {
        value.insert(key.to_string(), Value::from(set.to_string()));
    }
    value.insert("node".to_string(), Value::from(cpu.node));
    if let Some(capacity) = cpu.capacity {
        value.insert("capacity".to_string(), Value::from(capacity));
    }
    Value::Object(value)
}

fn node_json(node: &Node) -> Value {
    object([
        ("cpus", Value::from(node.cpus.to_string())),
        ("memory_kb", Value::from(node.memory_kb)),
    ])
}

fn distance_json(distance: &Distance) -> Value {
    object([
        ("nodes", Value::from(distance.nodes.clone())),
        ("matrix", Value::from(distance.matrix.clone())),
    ])
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_string(), value))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::CpuSet;
    use super::*;

    #[test]
    fn the_keys_are_those_of_the_interface() {
        let set = CpuSet::range(0, 1);
        let cpu = Cpu {
            smt: set.clone(),
            node: None,
            capacity: Some(512),
            ..Cpu::default()
        };
        let topology = Topology {
            online: set.clone(),
            cpus: [
                (0, cpu.clone()),
                (
                    1,
                    Cpu {
                        capacity: None,
                        node: Some(3),
                        ..cpu
                    },
                ),
            ]
            .into(),
            nodes: [(
                3,
                Node {
                    cpus: set,
                    memory_kb: Some(7),
                },
            )]
            .into(),
            warnings: vec!["odd".into()],
            ..Topology::default()
        };
        let want = serde_json::json!({
            "online": "0-1",
            "cpus": {
                "0": {"smt": "0-1", "cluster": "", "llc": "", "package": "", "node": null, "capacity": 512},
                "1": {"smt": "0-1", "cluster": "", "llc": "", "package": "", "node": 3},
            },
            "nodes": {"3": {"cpus": "0-1", "memory_kb": 7}},
            "distance": null,
            "warnings": ["odd"],
        });
        assert_eq!(to_json(&topology), want);
    }
}
