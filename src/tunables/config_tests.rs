// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn settings(text: &str) -> Settings {
    let mut settings = Settings::default();
    Config::parse(text).unwrap().put(&mut settings);
    settings
}

fn mistakes(text: &str) -> Vec<(usize, String)> {
    let mistakes = Config::parse(text).unwrap_err();
    mistakes.into_iter().map(|m| (m.line, m.text)).collect()
}

#[test]
fn values_of_every_kind() {
    let set = settings(
        "# comment\nslice_ns = \"5ms\"\nmigration_cost_ns.llc = 1000\n\
         IDLE_CORE = false\nNO_SYNC = true\n[balance]\ninterval_ns = \"1s\"\n",
    );
    let mut expected = Settings::default();
    let typed = [
        "slice_ns=5ms",
        "migration_cost_ns.llc=1000",
        "NO_IDLE_CORE",
        "NO_SYNC",
        "balance.interval_ns=1s",
    ];
    expected.apply(&typed).unwrap();
    assert_eq!(set, expected);
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let text = "slice_ns = \"5 parsecs\"\nslice_nss = 1\nwakeup_granularity_ns = [1]\n\
                IDLE_CORE = \"perhaps\"\nNO_AVG_CPU = true\nAVG_CPU = true\n\
                balance.imbalance_pct = 5\nwake.max_level = 1979-05-27\n\
                migration_cost_ns = 1\n\n[foo.bar]\nbaz = 1\n";
    let found = mistakes(text);
    let at = |line: usize, word: &str| {
        assert!(
            found
                .iter()
                .any(|(l, text)| *l == line && text.contains(word)),
            "line {line}: {word} in {found:#?}"
        );
    };
    at(1, "5 parsecs");
    at(2, "did you mean slice_ns?");
    at(3, "a list");
    at(4, "write on or off");
    at(6, "second time");
    at(7, "100 … 1000");
    at(8, "a date");
    at(9, "no such tunable");
    at(12, "foo.bar.baz");
    assert_eq!(found.len(), 9, "{found:#?}");
}

#[test]
fn no_toml_at_all() {
    for (text, line) in [
        ("slice_ns = 1000000\nslice_min_ns 5\n", 2),
        ("slice_ns = 20000000\n\nslice_ns = 30000000\n", 3),
        ("slice_ns = \"5ms\n", 1),
    ] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, line, "{found:?}");
        assert!(found[0].1.contains("not TOML"), "{found:?}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let mut changed = Settings::default();
    let typed = ["slice_ns=7ms", "NO_IDLE_CORE", "migration_cost_ns.node=off"];
    changed.apply(&typed).unwrap();
    assert_eq!(settings(&to_toml(&changed)), changed);
}

#[test]
fn the_example_s_values_are_the_defaults() {
    assert_eq!(Config::parse(&example()), Ok(Config::default()));
    let all: String = example()
        .lines()
        .filter_map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        Config::parse(&all).unwrap().names().len(),
        all_names().count()
    );
    assert_eq!(settings(&all), Settings::default());
}
