// SPDX-License-Identifier: GPL-2.0-only
//! Reads the X-macro lists that the C side includes and writes the same rows as
//! Rust tables, so that a counter or tunable is declared in one place only.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One `NAME(arg, arg, ...)` line; string arguments come without quotes.
struct Row {
    macro_name: String,
    args: Vec<String>,
}

fn rows(path: &Path) -> Result<Vec<Row>> {
    let text = fs::read_to_string(path)?;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.starts_with(|c: char| c.is_ascii_uppercase()) {
            continue;
        }
        let bad = || {
            format!(
                "{}:{}: not NAME(arg, ...): {line}",
                path.display(),
                number + 1
            )
        };
        let (name, rest) = line.split_once('(').ok_or_else(bad)?;
        let rest = rest.strip_suffix(')').ok_or_else(bad)?;
        found.push(Row {
            macro_name: name.trim().to_string(),
            args: split_args(rest),
        });
    }
    Ok(found)
}

/// Splits at commas outside quotes and drops the quotes.
fn split_args(text: &str) -> Vec<String> {
    let mut args = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => args.push(String::new()),
            c => {
                if let Some(last) = args.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    args.iter().map(|a| a.trim().to_string()).collect()
}

fn expect(row: &Row, count: usize) -> Result<()> {
    if row.args.len() == count {
        return Ok(());
    }
    Err(format!(
        "{}({}): {} arguments, not {count}",
        row.macro_name,
        row.args.join(", "),
        row.args.len()
    )
    .into())
}

/// `LEVEL_NR` of `intf.h`; a test compares the lengths of both tables.
const LEVELS: usize = 5;

fn unit(text: &str) -> Result<&'static str> {
    match text {
        "count" => Ok("Unit::Count"),
        "ns" => Ok("Unit::Ns"),
        other => Err(format!("a counter has the unit {other}; count or ns").into()),
    }
}

/// Writes `STATS: &[StatDef]` in the order of `enum stat_id`.
pub fn stats(def: &Path, out: &Path) -> Result<()> {
    let mut text = String::from(
        "/// Every counter, in the order of `enum stat_id`.\npub static STATS: &[StatDef] = &[\n",
    );
    for row in rows(def)? {
        let reason = row.macro_name == "STAT_REASON";
        expect(&row, if reason { 5 } else { 4 })?;
        let (group, rest) = (&row.args[1], &row.args[if reason { 3 } else { 2 }..]);
        let (unit, meaning) = (unit(&rest[0])?, &rest[1]);
        let label = |label: String| {
            format!(
                "    StatDef {{ group: {group:?}, label: {label}, unit: {unit}, meaning: {meaning:?} }},"
            )
        };
        match row.macro_name.as_str() {
            "STAT" => writeln!(text, "{}", label("Label::None".into()))?,
            "STAT_REASON" => {
                let reason = format!("Label::Reason({:?})", row.args[2]);
                writeln!(text, "{}", label(reason))?;
            }
            "STAT_LEVEL" => {
                for level in 0..LEVELS {
                    writeln!(text, "{}", label(format!("Label::Level({level})")))?;
                }
            }
            other => return Err(format!("unknown row {other} in {}", def.display()).into()),
        }
    }
    text.push_str("];\n");
    Ok(fs::write(out, text)?)
}

/// Writes `TUNABLES: &[TunableDef]` and `FEATURES: &[FeatureDef]` in enum order.
pub fn tunables(def: &Path, out: &Path) -> Result<()> {
    let mut tunables = String::from("/// Every numeric tunable, in the order of `enum tun_id`.\npub static TUNABLES: &[TunableDef] = &[\n");
    let mut features = String::from("/// Every feature switch, in the order of `enum feature_id`.\npub static FEATURES: &[FeatureDef] = &[\n");
    for row in rows(def)? {
        match row.macro_name.as_str() {
            "TUNABLE" => {
                expect(&row, 7)?;
                let [_, name, default, min, max, unit, meaning] = &row.args[..] else {
                    continue;
                };
                writeln!(tunables, "    TunableDef {{ name: {name:?}, default: {default}, min: {min}, max: {max}, unit: {unit:?}, meaning: {meaning:?} }},")?;
            }
            "FEATURE" => {
                expect(&row, 3)?;
                let (name, on, meaning) = (&row.args[0], row.args[1] == "on", &row.args[2]);
                writeln!(
                    features,
                    "    FeatureDef {{ name: {name:?}, default: {on}, meaning: {meaning:?} }},"
                )?;
            }
            other => return Err(format!("unknown row {other} in {}", def.display()).into()),
        }
    }
    tunables.push_str("];\n");
    features.push_str("];\n");
    Ok(fs::write(out, tunables + &features)?)
}
