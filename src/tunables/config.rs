// SPDX-License-Identifier: GPL-2.0-only
//! Settings in a TOML file.
//!
//! A key is the name of a tunable or switch, dotted names as TOML's dotted keys:
//!
//! ```toml
//! slice_ns = "5ms"
//! migration_cost_ns.llc = "100us"
//! IDLE_CORE = false
//! ```

use std::fmt;

use toml_edit::Document;
use toml_edit::Item;
use toml_edit::TableLike;
use toml_edit::Value;

use super::all_names;
use super::full_name;
use super::Settings;
use super::FEATURES;
use super::TUNABLES;

/// What a file sets, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    line: usize,
    name: String,
    value: String,
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub text: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

impl Config {
    /// Reads `text` and validates it by itself: names, values, ranges.
    ///
    /// # Errors
    /// All that is wrong in it; where it is no TOML, the first such place.
    pub fn parse(text: &str) -> Result<Self, Vec<Mistake>> {
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            vec![Mistake {
                line: line_of(text, at),
                text: format!("not TOML: {}", error.message().replace('\n', "; ")),
            }]
        })?;
        let mut entries = Vec::new();
        let mut mistakes = Vec::new();
        walk(text, document.as_table(), "", &mut entries, &mut mistakes);
        let config = Config { entries };
        mistakes.extend(config.each(&mut Settings::default()));
        mistakes.extend(config.twice());
        mistakes.sort_by_key(|mistake| mistake.line);
        if mistakes.is_empty() {
            Ok(config)
        } else {
            Err(mistakes)
        }
    }

    /// Gives `settings` the file's values, without [`Settings::check`].
    pub fn put(&self, settings: &mut Settings) {
        // Each was accepted by parse(), so none is refused now.
        self.each(settings);
    }

    /// The names of the tunables and switches that the file sets.
    pub fn names(&self) -> Vec<&'static str> {
        let named = |entry: &Entry| full_name(&entry.name).ok();
        self.entries.iter().filter_map(named).collect()
    }

    fn each(&self, settings: &mut Settings) -> Vec<Mistake> {
        let refused = |entry: &Entry| {
            let error = settings.set(&entry.name, Some(&entry.value)).err()?;
            Some(Mistake {
                line: entry.line,
                text: error.to_string(),
            })
        };
        self.entries.iter().filter_map(refused).collect()
    }

    /// `IDLE_CORE` and `NO_IDLE_CORE` are two keys to TOML.
    fn twice(&self) -> Vec<Mistake> {
        let names = self.entries.iter().map(|entry| full_name(&entry.name));
        let mut seen: Vec<&str> = Vec::new();
        let mut mistakes = Vec::new();
        for (name, entry) in names.zip(&self.entries) {
            let Ok(name) = name else { continue };
            if seen.contains(&name) {
                mistakes.push(Mistake {
                    line: entry.line,
                    text: format!("{name} is set a second time; keep one"),
                });
            }
            seen.push(name);
        }
        mistakes
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// Collects the values of `table`, whose name is `prefix`.
fn walk(
    text: &str,
    table: &dyn TableLike,
    prefix: &str,
    entries: &mut Vec<Entry>,
    mistakes: &mut Vec<Mistake>,
) {
    for (key, item) in table.iter() {
        let name = if prefix.is_empty() {
            key.to_string()
        } else {
            format!("{prefix}.{key}")
        };
        let key_span = table.key(key).and_then(|key| key.span());
        let at = key_span
            .or_else(|| item.span())
            .map_or(0, |span| span.start);
        let line = line_of(text, at);
        if let Some(inner) = item.as_table_like() {
            walk(text, inner, &name, entries, mistakes);
            continue;
        }
        match plain(item) {
            Ok(value) => entries.push(Entry { line, name, value }),
            Err(kind) => mistakes.push(Mistake {
                line,
                text: format!(
                    "{name} is {kind}; write a number, a text like \"50us\", true or false"
                ),
            }),
        }
    }
}

/// A value as it would be typed on the command line, or what it is instead.
fn plain(item: &Item) -> Result<String, &'static str> {
    match item.as_value() {
        Some(Value::String(text)) => Ok(text.value().clone()),
        Some(Value::Integer(number)) => Ok(number.value().to_string()),
        Some(Value::Float(number)) => Ok(number.value().to_string()),
        Some(Value::Boolean(on)) => Ok(if *on.value() { "on" } else { "off" }.into()),
        Some(Value::Datetime(_)) => Err("a date"),
        Some(Value::Array(_)) => Err("a list"),
        _ => Err("no value"),
    }
}

/// `settings` as a file that [`Config::parse`] reads back, every value in it.
pub fn to_toml(settings: &Settings) -> String {
    let mut text = format!(
        "# Settings of scx_sibling {}: scx_sibling tune load FILE, or --config FILE.\n",
        env!("CARGO_PKG_VERSION")
    );
    let defaults = Settings::default();
    for name in all_names() {
        let (Some(value), Some(default)) = (settings.text(name), defaults.text(name)) else {
            continue;
        };
        let value = match settings.feature(name) {
            Some(on) => on.to_string(),
            None => value,
        };
        let note = if settings.differing(&defaults).contains(&name) {
            format!("  # default {default}")
        } else {
            String::new()
        };
        text += &format!("{name} = {value}{note}\n");
    }
    text
}

/// A file for `/etc` in which every setting stands commented out, explained.
pub fn example() -> String {
    let mut text =
        String::from("# Settings of scx_sibling. What is not set here has its default.\n");
    for t in TUNABLES {
        text += &format!(
            "\n# {}\n# {} … {} {}\n#{} = {}\n",
            t.meaning, t.min, t.max, t.unit, t.name, t.default
        );
    }
    for f in FEATURES {
        text += &format!("\n# {}\n#{} = {}\n", f.meaning, f.name, f.default);
    }
    text
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
