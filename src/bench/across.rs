// SPDX-License-Identifier: GPL-2.0-only
//! Two results against each other: another version, kernel, machine or day.
//!
//! What the baseline did is compared as it is. Of every other arm its ratio to the
//! baseline is compared where both results have the same baseline, so that what differs
//! between the sessions for all arms alike is not laid at one's door.

use chrono::DateTime;

use super::case::Case;
use super::judged;
use super::judged::series;
use super::result::Outcomes;
use super::stats;
use super::stats::Better;
use super::stats::Comparison;
use super::table::number;

/// One arm on one case in both results.
struct Line {
    /// The case's heading.
    case: String,
    arm: String,
    /// Of what the values are, such as "of fair".
    unit: String,
    comparison: Option<Comparison>,
    /// Why there is none.
    why: String,
}

/// The comparison as text.
pub fn text(names: [&str; 2], a: &Outcomes, b: &Outcomes) -> String {
    let mut text = String::new();
    for (letter, name, result) in [("A", names[0], a), ("B", names[1], b)] {
        let at = i64::try_from(result.start.at_s).unwrap_or(0);
        let when =
            DateTime::from_timestamp(at, 0).map_or(String::new(), |t| t.format("%F").to_string());
        let state = if result.complete {
            ""
        } else {
            ", not complete"
        };
        text += &format!("{letter}  {name}, {when}{state}\n");
    }
    text += &differences(a, b);
    let lines = lines(a, b);
    if lines.is_empty() {
        return text + "They have no load in the same size under an arm of the same name.\n";
    }
    let width = lines
        .iter()
        .map(|l| l.arm.chars().count())
        .max()
        .unwrap_or(0);
    let mut last = "";
    for line in &lines {
        if line.case != last {
            text += &format!("{}\n", line.case);
            last = &line.case;
        }
        text += &match &line.comparison {
            Some(c) => format!(
                "  {:<width$}  A {:>10}  B {:>10} {}  B is {c}\n",
                line.arm,
                number(c.base),
                number(c.other),
                line.unit
            ),
            None => format!("  {:<width$}  {}\n", line.arm, line.why),
        };
    }
    text + "The sessions were one after the other: what changed between them beside the arms is in these figures.\n"
}

/// What of the environment is not the same.
fn differences(a: &Outcomes, b: &Outcomes) -> String {
    let (then, now) = (&a.start.environment, &b.start.environment);
    let mut names: Vec<&String> = then.keys().chain(now.keys()).collect();
    names.sort();
    names.dedup();
    let value =
        |of: Option<&String>| of.map_or("unknown".to_string(), |v| v.chars().take(60).collect());
    let differing = names
        .iter()
        .filter(|name| then.get(**name) != now.get(**name));
    differing
        .map(|name| {
            format!(
                "   {name}: {} | {}\n",
                value(then.get(*name)),
                value(now.get(*name))
            )
        })
        .collect()
}

fn same_case(a: &Case, b: &Case) -> bool {
    let figure = |case: &Case| {
        case.figures
            .first()
            .map(|f| (f.name.clone(), f.unit.clone()))
    };
    // By what is measured, not by the path of a program.
    a.load == b.load && a.name == b.name && a.params == b.params && figure(a) == figure(b)
}

fn lines(a: &Outcomes, b: &Outcomes) -> Vec<Line> {
    let mut lines = vec![];
    for (case_a, case) in a.start.cases.iter().enumerate() {
        let Some(case_b) = b.start.cases.iter().position(|c| same_case(case, c)) else {
            continue;
        };
        for (arm_a, arm) in a.start.arms.iter().enumerate() {
            if let Some(arm_b) = b.start.arms.iter().position(|name| name == arm) {
                lines.push(line((a, case_a, arm_a), (b, case_b, arm_b)));
            }
        }
    }
    let mut all: Vec<Comparison> = lines.iter().filter_map(|l| l.comparison.clone()).collect();
    stats::judge(&mut all);
    let mut judged = all.into_iter();
    for line in lines.iter_mut().filter(|line| line.comparison.is_some()) {
        line.comparison = judged.next();
    }
    lines
}

/// A result, a case and an arm of it.
type Place<'a> = (&'a Outcomes, usize, usize);

fn line(a: Place, b: Place) -> Line {
    let (start, case) = (&a.0.start, &a.0.start.cases[a.1]);
    let figure = &case.figures[0];
    let to_base = a.2 > 0 && b.2 > 0 && start.arms[0] == b.0.start.arms[0];
    let better = if figure.better == Better::Higher {
        "higher"
    } else {
        "lower"
    };
    let mut line = Line {
        case: format!("{}: {}, {better} is better", case.name, figure.name),
        arm: start.arms[a.2].clone(),
        unit: if to_base {
            format!("of {}", start.arms[0])
        } else {
            figure.unit.clone()
        },
        comparison: None,
        why: String::new(),
    };
    for (letter, place) in [("A", a), ("B", b)] {
        if let Some(why) = judged::failures(&place.0.blocks, place.1, place.2).first() {
            line.why = format!("FAILED in {letter}: {why}");
            return line;
        }
    }
    let (x, y) = (values(a, to_base), values(b, to_base));
    if x.len() < 2 || y.len() < 2 {
        line.why = "too few rounds".into();
        return line;
    }
    line.comparison = Some(stats::compare_apart(&x, &y, figure.better, start.seed));
    line
}

/// An arm's values, or their ratios to the baseline's of the same rounds.
fn values(place: Place, to_base: bool) -> Vec<f64> {
    let (result, case, arm) = place;
    let own = series(&result.blocks, case, arm, 0);
    if !to_base {
        return own.into_iter().flatten().collect();
    }
    let base = series(&result.blocks, case, 0, 0);
    let both = own.into_iter().zip(base);
    both.filter_map(|(own, base)| Some(own? / base?)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::played::outcomes;
    use super::*;

    fn session(arms: &[&str], machine: f64, sibling: f64) -> Outcomes {
        outcomes(arms, &["pipe:place=core"], 12, |_, arm, round| {
            let noise = 1.0 + (round * 7 % 5) as f64 / 500.0;
            Some(10.0 * machine * noise * if arm == 0 { 1.0 } else { sibling })
        })
    }

    #[test]
    fn a_slower_machine_is_not_a_slower_arm() {
        let arms = ["fair", "sibling"];
        let text = text(
            ["a", "b"],
            &session(&arms, 1.0, 0.9),
            &session(&arms, 1.5, 0.9),
        );
        let line = |arm: &str| text.lines().find(|l| l.trim().starts_with(arm)).unwrap();
        assert!(line("fair").contains("50.0 % slower"), "{text}");
        assert!(line("sibling").contains("no evidence"), "{text}");
        assert!(line("sibling").contains("of fair"), "{text}");
    }

    #[test]
    fn a_better_arm_is_seen_and_a_changed_kernel_named() {
        let arms = ["fair", "sibling"];
        let (a, mut b) = (session(&arms, 1.0, 0.9), session(&arms, 1.0, 0.8));
        b.start.environment.insert("kernel".into(), "7.4".into());
        let text = text(["a", "b"], &a, &b);
        assert!(text.contains("kernel: 7.3.4 | 7.4"), "{text}");
        assert!(text.contains("11.1 % faster"), "{text}");
    }

    #[test]
    fn nothing_in_common_and_failures_are_said() {
        let (a, b) = (
            session(&["fair"], 1.0, 1.0),
            session(&["sibling"], 1.0, 1.0),
        );
        assert!(text(["a", "b"], &a, &b).contains("no load in the same size"));
        let failing = outcomes(&["fair"], &["pipe:place=core"], 3, |_, _, _| None);
        assert!(text(["a", "b"], &a, &failing).contains("FAILED in B"));
    }
}
