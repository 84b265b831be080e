// SPDX-License-Identifier: GPL-2.0-only
//! What the running scx_sibling counts, over its statistics socket.

use std::collections::BTreeMap;

use scx_stats::prelude::*;
use serde_json::Value;

/// A measurement does not wait longer than this for figures it can do without.
const TIMEOUT_MS: u64 = 2000;

/// Counters since the first look. A connection is told the change since its last
/// question, so they are added up here.
#[derive(Default)]
pub struct Counted {
    client: Option<StatsClient>,
    total: BTreeMap<String, u64>,
}

impl Counted {
    /// All counters by now; as they were, where the scheduler does not answer.
    pub fn read(&mut self) -> BTreeMap<String, u64> {
        if self.client.is_none() {
            self.client = StatsClient::new().connect(Some(TIMEOUT_MS)).ok();
        }
        let Some(client) = &mut self.client else {
            return self.total.clone();
        };
        let target = ("target".to_string(), "top".to_string());
        match client.request::<Value>("stats", vec![target]) {
            Ok(answer) => {
                for (name, n) in changes(&answer) {
                    *self.total.entry(name).or_default() += n;
                }
            }
            Err(_) => self.client = None,
        }
        self.total.clone()
    }
}

fn changes(answer: &Value) -> BTreeMap<String, u64> {
    let counters = answer.get("counters").and_then(Value::as_object);
    let each = counters.into_iter().flatten();
    each.filter_map(|(name, n)| Some((name.clone(), n.as_u64()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_an_answer() {
        let answer = serde_json::json!({"counters": {"pull.llc": 3, "odd": "x"}, "more": 1});
        assert_eq!(changes(&answer), BTreeMap::from([("pull.llc".into(), 3)]));
        assert!(changes(&Value::Null).is_empty());
    }
}
