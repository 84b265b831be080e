// SPDX-License-Identifier: GPL-2.0-only
//! What a guest script printed: lines of a name and a JSON value.

use std::collections::BTreeMap;

use serde_json::Value;

/// The values by name, and the text they came from for messages.
pub struct Output {
    values: BTreeMap<String, Value>,
    text: String,
}

impl Output {
    /// Reads "NAME JSON" lines; other lines are somebody's chatter.
    pub fn parse(text: &str) -> Self {
        let values = text
            .lines()
            .filter_map(|line| {
                let (name, value) = line.split_once(' ')?;
                Some((name.to_string(), serde_json::from_str(value).ok()?))
            })
            .collect();
        Self {
            values,
            text: text.to_string(),
        }
    }

    /// The value of `name`, at a JSON pointer such as `/hogs/0/cpu_ns` or "" for all of it.
    #[track_caller]
    pub fn at(&self, name: &str, pointer: &str) -> &Value {
        let value = self
            .values
            .get(name)
            .and_then(|value| value.pointer(pointer));
        value.unwrap_or_else(|| panic!("no {name} {pointer} in\n{}", self.text))
    }

    /// A number.
    #[track_caller]
    pub fn number(&self, name: &str, pointer: &str) -> f64 {
        let value = self.at(name, pointer);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{name} {pointer} is {value}, no number"))
    }

    /// A string.
    #[track_caller]
    pub fn text(&self, name: &str) -> &str {
        let value = self.at(name, "");
        value
            .as_str()
            .unwrap_or_else(|| panic!("{name} is {value}, no string"))
    }

    /// The members of an array, each through `pointer`.
    #[track_caller]
    pub fn numbers(&self, name: &str, array: &str, pointer: &str) -> Vec<f64> {
        let items = self.at(name, array).as_array();
        let items = items.unwrap_or_else(|| panic!("{name} {array} is no array"));
        items
            .iter()
            .filter_map(|item| item.pointer(pointer)?.as_f64())
            .collect()
    }

    /// A counter of the run `run`.
    #[track_caller]
    pub fn count(&self, run: &str, counter: &str) -> f64 {
        self.number(&format!("{run}.counters"), &format!("/{counter}"))
    }

    /// The sum of the counters of `run` whose names begin with `prefix`.
    #[track_caller]
    pub fn total(&self, run: &str, prefix: &str) -> f64 {
        let counters = self.at(&format!("{run}.counters"), "");
        let counters = counters
            .as_object()
            .unwrap_or_else(|| panic!("{run} has no counters"));
        let these = counters.iter().filter(|(name, _)| name.starts_with(prefix));
        these.filter_map(|(_, value)| value.as_f64()).sum()
    }

    /// The scheduler ran from its start to its stop without a word of the kernel, ended as asked,
    /// and left the fair class in charge.
    #[track_caller]
    pub fn assert_healthy(&self, run: &str) {
        assert_eq!(
            self.text(&format!("{run}.health")),
            "ok",
            "health of {run}\n{}",
            self.text
        );
        self.assert_stopped(run);
    }

    /// The scheduler ended as asked and left the fair class in charge.
    #[track_caller]
    pub fn assert_stopped(&self, run: &str) {
        assert_eq!(
            self.number(&format!("{run}.exit"), ""),
            0.0,
            "exit code\n{}",
            self.text
        );
        assert_eq!(
            self.text(&format!("{run}.state")),
            "disabled",
            "state left behind"
        );
    }
}
