// SPDX-License-Identifier: GPL-2.0-only
//! A result as one HTML file: no script, no font, no picture from anywhere else.

mod svg;

use std::collections::BTreeSet;

use chrono::DateTime;

use self::svg::Gain;
use self::svg::Line;
use self::svg::Sample;
use super::case::Case;
use super::judged;
use super::judged::series;
use super::judged::Row;
use super::result::Outcomes;
use super::stats;
use super::stats::Better;
use super::stats::Comparison;
use super::table::number;

/// The whole page.
pub fn page(outcomes: &Outcomes) -> String {
    let rows = judged::rows(outcomes);
    let at = i64::try_from(outcomes.start.at_s).unwrap_or(0);
    let when = DateTime::from_timestamp(at, 0)
        .map_or(String::new(), |t| t.format("%F %R UTC").to_string());
    let mut body = format!("<h1>Schedulers compared</h1>\n<p class=\"note\">{when}");
    for name in ["kernel", "cpu", "mode"] {
        if let Some(value) = outcomes.start.environment.get(name) {
            body += &format!(" · {}", escape(value));
        }
    }
    body += "</p>\n";
    if !outcomes.complete {
        body += "<p class=\"failed\">This measurement was not brought to its end.</p>\n";
    }
    body += &legend(outcomes);
    body += &verdicts(outcomes, &rows);
    body += &gains(outcomes, &rows);
    body += &sizes(outcomes);
    body += &distributions(outcomes);
    body += &counters(outcomes);
    body += &environment(outcomes);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Schedulers compared</title>\n<style>\n{}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        include_str!("style.css")
    )
}

/// Text that is safe between tags and in attributes.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn arm(outcomes: &Outcomes, arm: usize) -> String {
    let name = escape(&outcomes.start.arms[arm]);
    format!("<span class=\"a{}\">●</span> {name}", arm % svg::COLOURS)
}

fn legend(outcomes: &Outcomes) -> String {
    let arms =
        (0..outcomes.start.arms.len()).map(|at| format!("<span>{}</span>", arm(outcomes, at)));
    format!("<p class=\"legend\">{}</p>\n", arms.collect::<String>())
}

fn verdicts(outcomes: &Outcomes, rows: &[Row]) -> String {
    let mut html = String::from(
        "<h2>What can be said</h2>\n<div class=\"wide\"><table class=\"verdicts\">\n\
         <caption>Medians; against the first arm, round by round, with 95 % intervals; \
         corrected for all comparisons shown (Holm).</caption>\n\
         <tr><th>Load<th>Arm<th>Median<th>Spread<th>Verdict</tr>\n",
    );
    for row in rows {
        let case = &outcomes.start.cases[row.case];
        let figure = &case.figures[0];
        let (median, spread) = if row.values.is_empty() {
            ("–".into(), String::new())
        } else {
            let spread = stats::deviation(&row.values) / stats::mean(&row.values) * 100.0;
            let median = format!("{} {}", number(stats::median(&row.values)), figure.unit);
            let spread = if spread.is_nan() {
                String::new()
            } else {
                format!("±{spread:.1} %")
            };
            (median, spread)
        };
        let mark = match row.verdict() {
            "faster" => "▲ ",
            "slower" => "▼ ",
            "failed" => "✗ ",
            _ => "",
        };
        let disturbed = if row.disturbed > 0 {
            format!(
                " <span class=\"note\">({} runs disturbed)</span>",
                row.disturbed
            )
        } else {
            String::new()
        };
        html += &format!(
            "<tr><td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{spread}<td class=\"{}\">{mark}{}{disturbed}</tr>\n",
            escape(if row.arm == 0 { &case.name } else { "" }),
            arm(outcomes, row.arm),
            escape(&median),
            row.verdict(),
            escape(&row.words()),
        );
    }
    html + "</table></div>\n"
}

fn figure(title: &str, caption: &str, svg: &str) -> String {
    format!(
        "<figure>\n<h3>{}</h3>\n{svg}<figcaption>{}</figcaption>\n</figure>\n",
        escape(title),
        escape(caption)
    )
}

/// Positive percent for better.
fn gain(comparison: &Comparison, ratio: f64) -> f64 {
    match comparison.better {
        Better::Higher => (ratio - 1.0) * 100.0,
        Better::Lower => (1.0 - ratio) * 100.0,
    }
}

/// The loads' names, in the result's order.
fn loads(outcomes: &Outcomes) -> Vec<&str> {
    let mut names: Vec<&str> = outcomes
        .start
        .cases
        .iter()
        .map(|c| c.load.as_str())
        .collect();
    names.dedup();
    names
}

fn gains(outcomes: &Outcomes, rows: &[Row]) -> String {
    let start = &outcomes.start;
    let mut html = String::new();
    for load in loads(outcomes) {
        let shown: Vec<Gain> = rows
            .iter()
            .filter(|row| start.cases[row.case].load == load && row.failures.is_empty())
            .filter_map(|row| {
                let comparison = row.comparison.as_ref()?;
                let interval = comparison.interval?;
                let (a, b) = (
                    gain(comparison, interval.low),
                    gain(comparison, interval.high),
                );
                Some(Gain {
                    label: format!("{} · {}", start.cases[row.case].name, start.arms[row.arm]),
                    arm: row.arm,
                    middle: gain(comparison, comparison.ratio),
                    ends: (a.min(b), a.max(b)),
                })
            })
            .collect();
        if !shown.is_empty() {
            let caption = format!("against {}, 95 % intervals", start.arms[0]);
            html += &figure(load, &caption, &svg::gains(&shown));
        }
    }
    section("How much better or worse", html)
}

fn section(title: &str, plots: String) -> String {
    if plots.is_empty() {
        return plots;
    }
    format!("<h2>{title}</h2>\n<div class=\"plots\">\n{plots}</div>\n")
}

/// The parameter that tells a load's cases from one another, if it is one number.
fn varied<'a>(cases: &[&'a Case]) -> Option<&'a str> {
    let first = cases.first()?;
    let differs = |name: &str| cases.iter().any(|c| c.param(name) != first.param(name));
    let names = first.params.iter().map(|(name, _)| name.as_str());
    let differing: Vec<&str> = names.filter(|name| differs(name)).collect();
    let [name] = differing[..] else { return None };
    let number = |c: &&Case| c.param(name).is_some_and(|v| v.parse::<f64>().is_ok());
    cases.iter().all(number).then_some(name)
}

fn sizes(outcomes: &Outcomes) -> String {
    let start = &outcomes.start;
    let mut html = String::new();
    for load in loads(outcomes) {
        let of_load = start
            .cases
            .iter()
            .enumerate()
            .filter(|(_, c)| c.load == load);
        let (positions, cases): (Vec<usize>, Vec<&Case>) = of_load.unzip();
        let Some(param) = varied(&cases) else {
            continue;
        };
        let sizes: Vec<String> = cases
            .iter()
            .filter_map(|c| c.param(param).map(String::from))
            .collect();
        for (nth, is) in cases[0].figures.iter().enumerate() {
            let point = |case: &usize, arm: usize| {
                let values: Vec<f64> = series(&outcomes.blocks, *case, arm, nth)
                    .into_iter()
                    .flatten()
                    .collect();
                let quartile = |percent| stats::percentile(&values, percent);
                (!values.is_empty()).then(|| [25.0, 50.0, 75.0].map(quartile))
            };
            let lines: Vec<Line> = (0..start.arms.len())
                .map(|arm| Line {
                    arm,
                    points: positions.iter().map(|case| point(case, arm)).collect(),
                })
                .collect();
            let better = if is.better == Better::Higher {
                "higher"
            } else {
                "lower"
            };
            let caption = format!("medians with quartiles; {better} is better");
            let plot = svg::by_size(&sizes, &lines, &is.unit, param);
            html += &figure(&format!("{load}: {}", is.name), &caption, &plot);
        }
    }
    section("Against size", html)
}

fn distributions(outcomes: &Outcomes) -> String {
    let start = &outcomes.start;
    let mut html = String::new();
    for (at, case) in start.cases.iter().enumerate() {
        let rows: Vec<Sample> = (0..start.arms.len())
            .map(|arm| Sample {
                label: start.arms[arm].clone(),
                arm,
                values: series(&outcomes.blocks, at, arm, 0)
                    .into_iter()
                    .flatten()
                    .collect(),
            })
            .collect();
        if rows.iter().all(|row| row.values.is_empty()) {
            continue;
        }
        let is = &case.figures[0];
        let better = if is.better == Better::Higher {
            "higher"
        } else {
            "lower"
        };
        let caption = format!("{}: every run and the median; {better} is better", is.name);
        html += &figure(&case.name, &caption, &svg::distributions(&rows, &is.unit));
    }
    section("Every run", html)
}

/// What the schedulers counted, a run's mean, case by case.
fn counters(outcomes: &Outcomes) -> String {
    let start = &outcomes.start;
    let mut html = String::new();
    for (at, case) in start.cases.iter().enumerate() {
        let of = |arm: usize| {
            outcomes
                .blocks
                .iter()
                .filter(move |b| b.case == at && b.arm == arm)
        };
        let all = (0..start.arms.len()).flat_map(of);
        let names: BTreeSet<&String> = all.flat_map(|b| b.counters.keys()).collect();
        if names.is_empty() {
            continue;
        }
        let counting: Vec<usize> = (0..start.arms.len())
            .filter(|arm| of(*arm).any(|b| !b.counters.is_empty()))
            .collect();
        html += &format!(
            "<details><summary>{}</summary><div class=\"wide\"><table><tr><th>counter",
            escape(&case.name)
        );
        for arm_at in &counting {
            html += &format!("<th>{}", arm(outcomes, *arm_at));
        }
        html += "</tr>\n";
        for name in names {
            html += &format!("<tr><td>{}", escape(name));
            for arm in &counting {
                let values: Vec<f64> = of(*arm)
                    .map(|b| b.counters.get(name).copied().unwrap_or(0) as f64)
                    .collect();
                html += &format!("<td class=\"n\">{:.0}", stats::mean(&values));
            }
            html += "</tr>\n";
        }
        html += "</table></div></details>\n";
    }
    if html.is_empty() {
        return html;
    }
    format!("<h2>Placements and pulls</h2>\n<p class=\"note\">Counters that the scheduler keeps, mean of a run.</p>\n{html}")
}

fn environment(outcomes: &Outcomes) -> String {
    let mut html = String::from("<h2>Where</h2>\n<div class=\"wide\"><table>\n");
    for (name, value) in &outcomes.start.environment {
        html += &format!("<tr><th>{}<td>{}</tr>\n", escape(name), escape(value));
    }
    let budget = &outcomes.start.budget;
    html += &format!(
        "<tr><th>rounds<td>at most {}, until intervals are ±{} %; seed {}</tr>\n",
        budget.max_rounds, budget.precision_pct, outcomes.start.seed
    );
    html + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::super::played::outcomes;
    use super::*;

    fn played() -> Outcomes {
        let arms = ["fair", "sibling", "scx:x --name \"<b>\""];
        let loads = ["pipe:place=same/core", "tbench:clients=1/4/16"];
        outcomes(&arms, &loads, 12, |case, arm, round| {
            let crashes = arm == 2 && case == 1;
            let value = 100.0 + (case * 40 + arm * 9) as f64 + (round * 7 % 5) as f64;
            (!crashes).then_some(value)
        })
    }

    #[test]
    fn nothing_is_fetched_from_elsewhere() {
        let page = page(&played());
        for word in [
            "http", "<script", "<img", "<link", "src=", "url(", "@import",
        ] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn foreign_text_is_text() {
        let page = page(&played());
        assert!(!page.contains("<b>") && page.contains("&lt;b&gt;"));
        assert!(page.contains("it crashed &lt;&amp;&gt;"));
    }

    #[test]
    fn every_case_has_its_plots_and_its_verdict() {
        let page = page(&played());
        let count = |word: &str| page.matches(word).count();
        // Two loads' gains, tbench's two figures against size, five cases' runs.
        assert_eq!(count("<svg"), 2 + 2 + 5);
        assert_eq!(count("<svg"), count("</svg>"));
        assert_eq!(count("✗ FAILED in 12 of 12 runs"), 1);
        assert!(page.contains("▼ ") && page.contains("% slower") && page.contains("% faster"));
        for word in [
            "pull.llc",
            "i4790",
            "viewport",
            "prefers-color-scheme: dark",
        ] {
            assert!(page.contains(word), "{word}");
        }
        assert!(!page.contains("NaN") && !page.contains("inf\""));
    }

    #[test]
    fn a_result_without_a_value_is_a_page_too() {
        let none = outcomes(&["fair", "sibling"], &["schbench"], 1, |_, _, _| None);
        let page = page(&none);
        assert!(page.contains("FAILED in 1 of 1 runs") && !page.contains("NaN"));
        let mut unfinished = none;
        unfinished.complete = false;
        unfinished.blocks.clear();
        assert!(super::page(&unfinished).contains("not brought to its end"));
    }
}
