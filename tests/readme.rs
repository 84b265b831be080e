// SPDX-License-Identifier: GPL-2.0-only
//! README's tables against the code they describe.

use scx_sibling::stats;
use scx_sibling::tunables;

const README: &str = include_str!("../README.md");
const STATISTICS: &str = include_str!("../docs/statistics.md");

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

/// The tables of docs/statistics.md, as they have to be.
fn statistics_tables() -> String {
    let mut text = String::new();
    for (title, rows) in stats::tables() {
        text += &format!("## {title}\n\n| name | unit | meaning |\n|---|---|---|\n");
        for row in rows {
            text += &format!(
                "| `{}` | {} | {} |\n",
                row.name,
                row.unit.text(),
                row.meaning
            );
        }
        text += "\n";
    }
    text
}

#[test]
fn the_statistics_tables_are_the_code_s() {
    let tables = statistics_tables();
    assert!(
        STATISTICS.trim_end().ends_with(tables.trim_end()),
        "docs/statistics.md has other tables than these:\n\n{tables}"
    );
}

#[test]
fn counters_named_in_readme_exist() {
    let rows = stats::counter_rows();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row.name.trim_end_matches(".LEVEL"))
        .collect();
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
