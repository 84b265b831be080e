// SPDX-License-Identifier: GPL-2.0-only
//! One load in one size: what to run and what to read from its output.

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use super::stats::Better;

/// Where a figure stands in what a load prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Find {
    /// A key of the JSON object printed.
    Json(String),
    /// The first group of a regular expression, where it matches last.
    Pattern(String),
    /// Nowhere: the seconds the command took.
    Wall,
}

/// A figure of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is called in tables.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Which way it is better.
    pub better: Better,
    /// Where it stands.
    pub find: Find,
}

/// One load in one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The load and the parameters that tell it from its neighbours.
    pub name: String,
    /// The load's name.
    pub load: String,
    /// All parameters, by name.
    pub params: Vec<(String, String)>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// A server that runs beside it, and the TCP port it listens on when ready.
    pub server: Option<(Vec<String>, u16)>,
    /// The first is compared; the others are shown beside it.
    pub figures: Vec<Figure>,
}

impl Case {
    /// The value of a parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Every figure's value in what the load printed.
    ///
    /// # Errors
    /// A figure is missing or no positive number.
    pub fn read(&self, output: &str, wall_s: f64) -> Result<Vec<f64>, String> {
        self.figures
            .iter()
            .map(|figure| {
                let value = match &figure.find {
                    Find::Json(key) => from_json(output, key),
                    Find::Pattern(pattern) => from_pattern(output, pattern),
                    Find::Wall => Some(wall_s),
                };
                // A rate of 0 or a time of 0 is a load that did nothing.
                match value {
                    Some(v) if v.is_finite() && v > 0.0 => Ok(v),
                    Some(v) => Err(format!("{} is {v}, not a positive number", figure.name)),
                    None => Err(format!(
                        "no {} in its output, which ends: {}",
                        figure.name,
                        tail(output)
                    )),
                }
            })
            .collect()
    }
}

fn from_json(output: &str, key: &str) -> Option<f64> {
    let line = output.lines().rev().find(|line| line.starts_with('{'))?;
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    value.get(key)?.as_f64()
}

fn from_pattern(output: &str, pattern: &str) -> Option<f64> {
    let regex = Regex::new(pattern).ok()?;
    let found = regex.captures_iter(output).last()?;
    let group = found.get(1).or_else(|| found.get(0))?;
    group.as_str().replace(',', "").parse().ok()
}

/// The end of a text, on one line.
pub fn tail(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = flat.char_indices().rev().nth(199).map_or(0, |(at, _)| at);
    if flat.is_empty() {
        "(nothing)".into()
    } else {
        flat[from..].to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(find: Find) -> Case {
        Case {
            name: "x".into(),
            load: "x".into(),
            params: vec![("n".into(), "3".into())],
            argv: vec!["true".into()],
            server: None,
            figures: vec![Figure {
                name: "figure".into(),
                unit: "s".into(),
                better: Better::Lower,
                find,
            }],
        }
    }

    #[test]
    fn figures_are_found() {
        let json = case(Find::Json("khz".into()));
        assert_eq!(json.read("noise\n{\"khz\":5.5}\n", 1.0), Ok(vec![5.5]));
        let pattern = case(Find::Pattern(
            r"^Time: ([0-9.]+)|(?m:^Time: ([0-9.]+))".into(),
        ));
        assert_eq!(pattern.read("Time: 0.25\n", 1.0), Ok(vec![0.25]));
        let last = case(Find::Pattern(r"MB/s: ([0-9.,]+)".into()));
        assert_eq!(last.read("MB/s: 1\nMB/s: 1,234.5\n", 1.0), Ok(vec![1234.5]));
        assert_eq!(case(Find::Wall).read("", 2.5), Ok(vec![2.5]));
        assert_eq!(json.param("n"), Some("3"));
    }

    #[test]
    fn no_figure_is_an_error_with_what_was_printed() {
        let json = case(Find::Json("khz".into()));
        let said = json.read("killed by the watchdog", 1.0).unwrap_err();
        assert!(
            said.contains("figure") && said.contains("watchdog"),
            "{said}"
        );
        assert!(json
            .read("{\"khz\":0}", 1.0)
            .unwrap_err()
            .contains("positive"));
    }

    #[test]
    fn tails_are_short_and_whole_characters() {
        assert_eq!(tail("a\n b"), "a b");
        assert_eq!(tail(&"é".repeat(500)).chars().count(), 200);
        assert_eq!(tail(""), "(nothing)");
    }
}
