// SPDX-License-Identifier: GPL-2.0-only
//! A result as a table for the terminal.

use super::judged;
use super::result::Outcomes;
use super::stats;

/// One block of lines per case: each arm's median, spread and verdict.
pub fn text(outcomes: &Outcomes) -> String {
    let start = &outcomes.start;
    let width = start.arms.iter().map(|arm| arm.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    let mut last = None;
    for row in judged::rows(outcomes) {
        let case = &start.cases[row.case];
        let figure = &case.figures[0];
        if last != Some(row.case) {
            let better = format!("{:?}", figure.better).to_lowercase();
            text += &format!(
                "{}: {} in {}, {better} is better\n",
                case.name, figure.name, figure.unit
            );
            last = Some(row.case);
        }
        let (median, spread) = if row.values.is_empty() {
            ("-".to_string(), String::new())
        } else {
            let spread = stats::deviation(&row.values) / stats::mean(&row.values) * 100.0;
            (
                number(stats::median(&row.values)),
                format!("±{spread:.1} %"),
            )
        };
        text += &format!(
            "  {:<width$}  {median:>10} {spread:>8}  {}\n",
            start.arms[row.arm],
            row.words()
        );
        if row.disturbed > 0 {
            let runs = row.values.len() + row.failures.len();
            text += &format!(
                "  {:<width$}  disturbed in {} of {runs} runs\n",
                "", row.disturbed
            );
        }
    }
    text
}

/// Four significant digits or the whole number.
pub fn number(value: f64) -> String {
    let digits = 3 - value.abs().max(1e-6).log10().floor() as i32;
    format!("{value:.*}", digits.clamp(0, 9) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_or_more() {
        assert_eq!(number(0.012_345), "0.01235");
        assert_eq!(number(3.770_737), "3.771");
        assert_eq!(number(123_456.7), "123457");
        assert_eq!(number(0.0), "0.000000000");
    }
}
