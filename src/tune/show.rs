// SPDX-License-Identifier: GPL-2.0-only
//! Settings as text and JSON.

use serde_json::json;
use serde_json::Value;

use crate::tunables::all_names;
use crate::tunables::Settings;
use crate::tunables::FEATURES;
use crate::tunables::TUNABLES;

fn text(settings: &Settings, name: &str) -> String {
    settings.text(name).unwrap_or_default()
}

/// `NAME=VALUE` lines.
pub fn settings(settings: &Settings, names: &[&str]) -> String {
    let lines = names
        .iter()
        .map(|name| format!("{name}={}\n", text(settings, name)));
    lines.collect()
}

/// What differs, with the other value; empty where nothing does.
pub fn diff(live: &Settings, default: &Settings) -> String {
    let names = live.differing(default);
    let line = |name: &&str| {
        let (is, was) = (text(live, name), text(default, name));
        format!("{name}={is}  (default {was})\n")
    };
    names.iter().map(line).collect()
}

/// All of it for people; an asterisk where the value is not the default.
pub fn table(live: &Settings) -> String {
    let default = Settings::default();
    let changed = live.differing(&default);
    let mut lines = format!(
        "  {:<26} {:>11} {:>10}  {:<24} MEANING\n",
        "NAME", "VALUE", "DEFAULT", "RANGE"
    );
    for name in all_names() {
        let (range, meaning) = match TUNABLES.iter().find(|t| t.name == name) {
            Some(t) => (format!("{} … {} {}", t.min, t.max, t.unit), t.meaning),
            None => {
                let feature = FEATURES.iter().find(|f| f.name == name);
                ("on, off".into(), feature.map_or("", |f| f.meaning))
            }
        };
        let mark = if changed.contains(&name) { '*' } else { ' ' };
        lines += &format!(
            "{mark} {name:<26} {:>11} {:>10}  {range:<24} {meaning}\n",
            text(live, name),
            text(&default, name),
        );
    }
    lines
}

/// All of it for programs: an array of objects in the order of the tables.
pub fn json(live: &Settings) -> Value {
    let default = Settings::default();
    let tunables = TUNABLES.iter().enumerate().map(|(i, t)| {
        json!({
            "name": t.name, "kind": "tunable", "value": live.words[i], "default": t.default,
            "min": t.min, "max": t.max, "unit": t.unit, "meaning": t.meaning,
        })
    });
    let switches = FEATURES.iter().map(|f| {
        json!({
            "name": f.name, "kind": "switch", "value": live.feature(f.name),
            "default": default.feature(f.name), "meaning": f.meaning,
        })
    });
    tunables.chain(switches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_value_is_marked() {
        let mut live = Settings::default();
        live.apply(&["slice_ns=5ms", "NO_IDLE_CORE"]).unwrap();
        let table = table(&live);
        let marked: Vec<&str> = table.lines().filter(|line| line.starts_with('*')).collect();
        assert_eq!(marked.len(), 2, "{table}");
        assert!(marked[0].contains("slice_ns") && marked[0].contains(" 5000000 "));
        let diff = diff(&live, &Settings::default());
        assert_eq!(
            diff,
            "slice_ns=5000000  (default 20000000)\nIDLE_CORE=off  (default on)\n"
        );
    }

    #[test]
    fn json_has_every_row_once() {
        let mut live = Settings::default();
        live.apply(&["AVG_CPU"]).unwrap();
        let json = json(&live);
        let rows = json.as_array().unwrap();
        assert_eq!(rows.len(), all_names().count());
        let row = rows.iter().find(|row| row["name"] == "AVG_CPU").unwrap();
        assert_eq!(
            (&row["value"], &row["default"]),
            (&true.into(), &false.into())
        );
    }
}
