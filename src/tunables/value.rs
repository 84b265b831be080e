// SPDX-License-Identifier: GPL-2.0-only
//! Values with units: `50us`, `0.5ms`, `117`.

use super::SetError;
use super::TunableDef;

const TIME_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// Parses `given` for the tunable `def`; a time without a unit is
/// nanoseconds, `off` is 0.
///
/// # Errors
/// Not a number, an unknown unit, or outside the tunable's range.
pub fn parse_value(def: &TunableDef, given: &str) -> Result<u64, SetError> {
    let bad = |hint| SetError::Value {
        name: def.name.into(),
        given: given.into(),
        unit: def.unit,
        hint,
    };
    // A cost of none, an interval of none.
    let given_value = if given == "off" { "0" } else { given };
    let number_end = given_value
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(given_value.len());
    let (number, unit) = given_value.split_at(number_end);
    let factor = match (def.unit, unit) {
        (_, "") => 1.0,
        ("ns", unit) => TIME_UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, factor)| *factor)
            .ok_or_else(|| bad("write a number with ns, us, ms or s"))?,
        _ => return Err(bad("write a plain number")),
    };
    let value: f64 = number
        .trim()
        .parse()
        .map_err(|_| bad("write a number, like 50us or 20ms"))?;
    let scaled = (value * factor).round();
    if !scaled.is_finite() || scaled < def.min as f64 || scaled > def.max as f64 {
        return Err(SetError::Range {
            name: def.name.into(),
            given: given.into(),
            min: def.min,
            max: def.max,
            unit: def.unit,
        });
    }
    Ok(scaled as u64)
}

/// Least number of insertions, deletions and substitutions from `a` to `b`.
pub fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: TunableDef = TunableDef {
        name: "slice_ns",
        default: 1,
        min: 100,
        max: 1_000_000_000,
        unit: "ns",
        meaning: "",
    };

    #[test]
    fn units() {
        for (text, ns) in [
            ("20ms", 20_000_000),
            ("0.5ms", 500_000),
            ("50us", 50_000),
            ("1s", 1_000_000_000),
            ("123", 123),
        ] {
            assert_eq!(parse_value(&SLICE, text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "ms",
            "5 parsecs",
            "1e400ms",
            "-5ms",
            "0x10",
            "nan",
            "inf",
            "2s",
        ] {
            assert!(parse_value(&SLICE, text).is_err(), "{text}");
        }
    }

    #[test]
    fn off_is_zero_where_zero_is_allowed() {
        let cost = TunableDef { min: 0, ..SLICE };
        assert_eq!(parse_value(&cost, "off"), Ok(0));
        assert!(matches!(
            parse_value(&SLICE, "off"),
            Err(SetError::Range { .. })
        ));
    }

    #[test]
    fn edit_distance() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("same", "same"), 0);
    }
}
