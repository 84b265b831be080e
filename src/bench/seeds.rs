// SPDX-License-Identifier: GPL-2.0-only
//! A result as the tables of three mails that this scheduler takes after: tbench by
//! clients (April 2016), hackbench and OLTP (idle balance and topology, 2018),
//! pipe-test and TCP_RR (July 2014), all on linux-kernel.
//!
//! Means, as there; whether a difference is one at all is for the other reports.

use super::case::Case;
use super::judged::series;
use super::result::Outcomes;
use super::stats;
use super::stats::Better;

/// As many runs stand beside each other; of more, the least, the middle and the most.
const RUNS: usize = 4;

/// The tables of all loads in the result that the mails have.
pub fn text(outcomes: &Outcomes) -> String {
    let tables: Vec<String> = [tbench, hackbench, oltp, pipe, rr]
        .iter()
        .map(|table| table(outcomes))
        .filter(|table| !table.is_empty())
        .collect();
    if tables.is_empty() {
        return "None of the mails' loads is in this result: tbench, hackbench, oltp, pipe, rr.\n"
            .into();
    }
    head(outcomes) + &tables.join("\n")
}

fn head(outcomes: &Outcomes) -> String {
    let environment = &outcomes.start.environment;
    let of = |name: &str| environment.get(name).map_or("unknown", String::as_str);
    let mut text = format!(
        "{}, kernel {}, cpus {}\n",
        of("cpu"),
        of("kernel"),
        of("cpus online")
    );
    if let Some(mode) = environment.get("mode") {
        text += &format!("{mode}\n");
    }
    text + "\n"
}

/// The cases of a load, by position.
fn cases<'a>(outcomes: &'a Outcomes, load: &str) -> Vec<(usize, &'a Case)> {
    let all = outcomes.start.cases.iter().enumerate();
    all.filter(|(_, case)| case.load == load).collect()
}

/// One figure of an arm on a case, in the order measured.
fn values(outcomes: &Outcomes, case: usize, arm: usize, figure: usize) -> Vec<f64> {
    let values = series(&outcomes.blocks, case, arm, figure);
    values.into_iter().flatten().collect()
}

fn arms(outcomes: &Outcomes) -> impl Iterator<Item = (usize, &String)> {
    outcomes.start.arms.iter().enumerate()
}

/// "1.019", or ".951" as in the mail of 2014.
fn ratio(value: f64, short: bool) -> String {
    let text = format!("{value:.3}");
    match text.strip_prefix('0') {
        Some(rest) if short => rest.to_string(),
        _ => text,
    }
}

fn tbench(outcomes: &Outcomes) -> String {
    let cases = cases(outcomes, "tbench");
    if cases.is_empty() {
        return String::new();
    }
    let most = cases
        .iter()
        .flat_map(|(case, _)| arms(outcomes).map(|(arm, _)| values(outcomes, *case, arm, 0).len()))
        .max()
        .unwrap_or(0);
    let mut text = String::from("tbench, MB/sec by clients");
    text += if most > RUNS {
        "; of all runs the least, the middle and the most\n"
    } else {
        "\n"
    };
    for (arm, name) in arms(outcomes) {
        let columns = most.clamp(1, RUNS - usize::from(most > RUNS));
        text += &format!("\n{name:<w$}    avg\n", w = 7 + 8 * columns);
        for (at, case) in &cases {
            let runs = values(outcomes, *at, arm, 0);
            text += &format!("{:<7}", case.param("clients").unwrap_or_default());
            if runs.is_empty() {
                text += "failed\n";
                continue;
            }
            let shown = if most > RUNS {
                [0.0, 50.0, 100.0]
                    .map(|p| stats::percentile(&runs, p))
                    .to_vec()
            } else {
                runs.clone()
            };
            let cells: String = shown.iter().map(|v| format!("{v:<8.0}")).collect();
            text += &format!("{cells:<w$}", w = 8 * columns);
            let mean = stats::mean(&runs);
            text += &format!("{mean:<7.0}");
            // The third arm and later ones also stand against the second.
            for to in (0..arm.min(2)).chain((arm == 0).then_some(0)) {
                let base = values(outcomes, *at, to, 0);
                if !base.is_empty() {
                    text += &format!(" {}  ", ratio(mean / stats::mean(&base), false));
                }
            }
            text = text.trim_end().to_string() + "\n";
        }
    }
    text
}

/// Mean, its gain over the baseline's in percent, and the deviation in percent.
fn gain(outcomes: &Outcomes, case: usize, arm: usize, better: Better) -> (String, String) {
    let runs = values(outcomes, case, arm, 0);
    if runs.is_empty() {
        return ("failed".into(), String::new());
    }
    let mean = stats::mean(&runs);
    let digits = if mean < 1000.0 { 3 } else { 1 };
    let mut text = format!("{mean:.digits$}");
    let base = values(outcomes, case, 0, 0);
    if arm > 0 && !base.is_empty() {
        let base = stats::mean(&base);
        let more = match better {
            Better::Higher => mean / base - 1.0,
            Better::Lower => 1.0 - mean / base,
        };
        text += &format!(" ({:+.2}%)", more * 100.0);
    }
    let spread = stats::deviation(&runs) / mean * 100.0;
    let spread = if spread.is_nan() {
        "-".into()
    } else {
        format!("{spread:.2}")
    };
    (text, spread)
}

/// A ruled table: the sizes, then for every arm its mean and deviation.
fn ruled(outcomes: &Outcomes, cases: &[(usize, &Case)], sizes: &[(&str, &str)]) -> String {
    let better = cases[0].1.figures[0].better;
    let wide = |name: &str| name.chars().count().max(28);
    let mut rule: String = sizes
        .iter()
        .map(|(_, title)| format!("+{:-<w$}", "", w = title.len() + 2))
        .collect();
    let mut names: String = sizes
        .iter()
        .map(|(_, title)| format!("|{:w$}", "", w = title.len() + 2))
        .collect();
    let mut titles: String = sizes
        .iter()
        .map(|(_, title)| format!("| {title} "))
        .collect();
    for (_, name) in arms(outcomes) {
        let w = wide(name);
        rule += &format!("+{:-<w$}", "", w = w + 2);
        names += &format!("| {name:<w$} ");
        titles += &format!("| {:<a$}| %Std Dev ", "Average", a = w - 10);
    }
    let mut text = format!("{rule}+\n{names}|\n{titles}|\n{rule}+\n");
    for (at, case) in cases {
        for (param, title) in sizes {
            let value = match *param {
                "utilization" => utilization(outcomes, case),
                param => case.param(param).unwrap_or_default().to_string(),
            };
            text += &format!("| {value:<w$} ", w = title.len());
        }
        for (arm, name) in arms(outcomes) {
            let (mean, spread) = gain(outcomes, *at, arm, better);
            text += &format!("| {mean:<a$}| {spread:<8} ", a = wide(name) - 10);
        }
        text += "|\n";
    }
    text + &rule + "+\n"
}

fn hackbench(outcomes: &Outcomes) -> String {
    let cases = cases(outcomes, "hackbench");
    if cases.is_empty() {
        return String::new();
    }
    let sizes = [("loops", "Loops "), ("fds", "FD"), ("groups", "Groups")];
    "hackbench (lower is better):\n\n".to_string() + &ruled(outcomes, &cases, &sizes)
}

fn oltp(outcomes: &Outcomes) -> String {
    let cases = cases(outcomes, "oltp");
    if cases.is_empty() {
        return String::new();
    }
    let sizes = [
        ("utilization", "Approx. Utilization"),
        ("threads", "Num Threads"),
    ];
    "sysbench OLTP on MariaDB, transactions a second (higher is better):\n\n".to_string()
        + &ruled(outcomes, &cases, &sizes)
}

/// Threads in percent of the CPUs.
fn utilization(outcomes: &Outcomes, case: &Case) -> String {
    let online = outcomes.start.environment.get("cpus online");
    let cpus = online.map_or(0, |list| count(list));
    let threads: Option<usize> = case.param("threads").and_then(|n| n.parse().ok());
    match threads {
        Some(threads) if cpus > 0 => format!("{:.2}%", (threads * 100) as f64 / cpus as f64),
        _ => "-".into(),
    }
}

/// CPUs in a list such as "0-3,8".
fn count(list: &str) -> usize {
    let span = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (usize, usize) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        Some(high.saturating_sub(low) + 1)
    };
    list.split(',').filter_map(span).sum()
}

/// The width of the names of all arms.
fn name_width(outcomes: &Outcomes) -> usize {
    let widths = outcomes.start.arms.iter().map(|arm| arm.chars().count());
    widths.max().unwrap_or(0).max(20)
}

fn pipe(outcomes: &Outcomes) -> String {
    let mut text = String::new();
    for (at, case) in cases(outcomes, "pipe") {
        let place = case.param("place").unwrap_or_default();
        text += &format!("pipe-test, {place}\n");
        let base = values(outcomes, at, 0, 0);
        for (arm, name) in arms(outcomes) {
            let runs = values(outcomes, at, arm, 0);
            let w = name_width(outcomes);
            let Some(last) = runs.last() else {
                text += &format!("{name:<w$}   failed\n");
                continue;
            };
            let mean = stats::mean(&runs);
            // Two hand-overs a loop, as pipe-test counts.
            text += &format!(
                "{name:<w$}   {last:.6} usecs/loop -- avg {mean:.6} {:.1} KHz",
                2000.0 / mean
            );
            if !base.is_empty() {
                text += &format!("   {:>5}", ratio(stats::mean(&base) / mean, true));
            }
            text += "\n";
        }
        text += "\n";
    }
    text.trim_end_matches('\n').to_string() + if text.is_empty() { "" } else { "\n" }
}

fn rr(outcomes: &Outcomes) -> String {
    let mut text = String::new();
    for (at, case) in cases(outcomes, "rr") {
        let bound = match case.param("bind") {
            Some("no") | None => "unbound".to_string(),
            Some(cpu) => format!("bound to cpu{cpu}"),
        };
        text += &format!(
            "{:<w$}   trans/sec ({bound})\n",
            "TCP_RR",
            w = name_width(outcomes)
        );
        let base = values(outcomes, at, 0, 0);
        for (arm, name) in arms(outcomes) {
            let runs = values(outcomes, at, arm, 0);
            text += &format!("{name:<w$}   ", w = name_width(outcomes));
            if runs.is_empty() {
                text += "failed\n";
                continue;
            }
            let mean = stats::mean(&runs);
            text += &format!("{mean:.2}");
            if !base.is_empty() {
                text += &format!("   {:>6}", ratio(mean / stats::mean(&base), true));
            }
            text += "\n";
        }
        text += "\n";
    }
    text.trim_end_matches('\n').to_string() + if text.is_empty() { "" } else { "\n" }
}

#[cfg(test)]
#[path = "seeds_tests.rs"]
mod tests;
