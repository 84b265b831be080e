// SPDX-License-Identifier: GPL-2.0-only
//! README's tables against the code they describe.

use scx_sibling::stats;
use scx_sibling::tunables;

const README: &str = include_str!("../README.md");

#[test]
fn the_tunables_table_is_the_code_s() {
    for t in tunables::TUNABLES {
        let row = format!(
            "| `{}` | {} | {} | {} |",
            t.name, t.default, t.unit, t.meaning
        );
        assert!(README.contains(&row), "README lacks: {row}");
    }
}

#[test]
fn the_switches_table_is_the_code_s() {
    for f in tunables::FEATURES {
        let state = if f.default { "on" } else { "off" };
        let row = format!("| `{}` | {} | {} |", f.name, state, f.meaning);
        assert!(README.contains(&row), "README lacks: {row}");
    }
}

#[test]
fn counters_named_in_readme_exist() {
    let names: Vec<&str> = stats::STATS.iter().map(|s| s.group).collect();
    let quoted = README.split('`').skip(1).step_by(2);
    for word in quoted.filter(|w| {
        (w.starts_with("place.") && !w.ends_with(".h"))
            || (w.starts_with("newidle.") && !w.contains("max_level"))
    }) {
        assert!(names.contains(&word), "README names the counter {word}");
    }
}

#[test]
fn readme_s_exit_codes_are_the_binary_s() {
    assert!(README.contains(scx_sibling::exit::EXIT_CODES));
}
