// SPDX-License-Identifier: GPL-2.0-only
//! A result for documents, spreadsheets and programs.

use serde_json::json;
use serde_json::Value;

use super::judged;
use super::judged::Row;
use super::result::Outcome;
use super::result::Outcomes;
use super::stats;
use super::table::number;

/// Median and spread of a row's values; dashes where there is none.
fn middle(row: &Row) -> [String; 2] {
    if row.values.is_empty() {
        return ["–".into(), "–".into()];
    }
    let spread = stats::deviation(&row.values) / stats::mean(&row.values) * 100.0;
    let spread = if spread.is_nan() {
        "–".into()
    } else {
        format!("{spread:.1} %")
    };
    [number(stats::median(&row.values)), spread]
}

/// Markdown: a table of verdicts, then where it was measured.
pub fn markdown(outcomes: &Outcomes) -> String {
    let start = &outcomes.start;
    // A bar would end its cell, and a line its row.
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let mut text = String::from(
        "| load | figure | arm | runs | median | std dev | against the first arm |\n\
         |---|---|---|--:|--:|--:|---|\n",
    );
    for row in judged::rows(outcomes) {
        let case = &start.cases[row.case];
        let figure = &case.figures[0];
        let [median, spread] = middle(&row);
        let mut words = row.words();
        if row.disturbed > 0 {
            words += &format!(" ({} runs disturbed)", row.disturbed);
        }
        text += &format!(
            "| {} | {} {} | {} | {} | {median} | {spread} | {} |\n",
            cell(&case.name),
            figure.name,
            figure.unit,
            cell(&start.arms[row.arm]),
            row.values.len(),
            cell(&words),
        );
    }
    text += "\nMedians; differences are medians of the rounds' ratios with 95 % intervals, \
             called after Holm's correction for all comparisons in the table.\n\n";
    for (name, value) in &start.environment {
        text += &format!("- {name}: {}\n", cell(value));
    }
    text
}

/// Comma-separated values: a line for every figure of every block.
pub fn csv(outcomes: &Outcomes) -> String {
    let start = &outcomes.start;
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = String::from("round,load,arm,at_s,wall_s,figure,unit,value,failed,disturbed\n");
    for block in &outcomes.blocks {
        let case = &start.cases[block.case];
        let (values, failed) = match &block.outcome {
            Outcome::Values(values) => (values.clone(), ""),
            Outcome::Failed(why) => (vec![], why.as_str()),
        };
        for (at, figure) in case.figures.iter().enumerate() {
            let value = values.get(at).map_or(String::new(), f64::to_string);
            text += &format!(
                "{},{},{},{},{},{},{},{value},{},{}\n",
                block.round,
                quoted(&case.name),
                quoted(&start.arms[block.arm]),
                block.at_s,
                block.wall_s,
                quoted(&figure.name),
                quoted(&figure.unit),
                quoted(failed),
                quoted(&block.disturbed.join("; ")),
            );
        }
    }
    text
}

/// One object: the rows with their comparisons, and the first line of the file.
pub fn json(outcomes: &Outcomes) -> Value {
    let start = &outcomes.start;
    let row = |row: &Row| {
        let case = &start.cases[row.case];
        let median = (!row.values.is_empty()).then(|| stats::median(&row.values));
        json!({
            "load": case.name,
            "arm": start.arms[row.arm],
            "figure": case.figures[0],
            "values": row.values,
            "median": median,
            "failures": row.failures,
            "disturbed": row.disturbed,
            "verdict": row.verdict(),
            "words": row.words(),
            "comparison": row.comparison,
        })
    };
    let rows: Vec<Value> = judged::rows(outcomes).iter().map(row).collect();
    json!({ "complete": outcomes.complete, "start": start, "rows": rows })
}

#[cfg(test)]
mod tests {
    use super::super::played::outcomes;
    use super::*;

    fn played() -> Outcomes {
        let arms = ["fair", "scx:x|y \"z\""];
        outcomes(&arms, &["tbench:clients=1/4"], 10, |case, arm, round| {
            let crashes = (case, arm) == (1, 1);
            (!crashes).then_some(100.0 + (arm * 50) as f64 + (round % 3) as f64)
        })
    }

    #[test]
    fn a_bar_in_a_name_does_not_break_the_table() {
        let text = markdown(&played());
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.len(), 2 + 4);
        for line in table {
            let bars = line.replace("\\|", "").matches('|').count();
            assert_eq!(bars, 8, "{line}");
        }
        assert!(text.contains("% faster") && text.contains("FAILED in 10 of 10"));
        assert!(text.contains("- kernel: 7.3.4"));
    }

    #[test]
    fn every_figure_of_every_block_is_a_line() {
        let text = csv(&played());
        // Two figures of tbench, two sizes, two arms, ten rounds.
        assert_eq!(text.lines().count(), 1 + 2 * 2 * 2 * 10);
        assert!(text.contains("\"scx:x|y \"\"z\"\"\""), "{text}");
        let failed = text.lines().filter(|line| line.contains(",,\"it crashed"));
        assert_eq!(failed.count(), 20);
    }

    #[test]
    fn programs_read_the_verdict() {
        let json = json(&played());
        let verdicts: Vec<&str> = json["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["verdict"].as_str().unwrap())
            .collect();
        assert_eq!(verdicts, ["baseline", "faster", "baseline", "failed"]);
        assert!(json["rows"][1]["comparison"]["interval"]["low"].as_f64() > Some(1.4));
        assert_eq!(json["start"]["arms"][0], "fair");
    }
}
