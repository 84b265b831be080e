// SPDX-License-Identifier: GPL-2.0-only
//! Finding a row by what the user typed.

use super::value::edits;
use super::SetError;
use super::FEATURES;
use super::TUNABLES;

/// The names of all tunables and switches, in the order of the tables.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    let tunables = TUNABLES.iter().map(|t| t.name);
    tunables.chain(FEATURES.iter().map(|f| f.name))
}

/// Bit and state that `NAME` or `NO_NAME` stands for.
pub fn feature_switch(name: &str) -> Option<(usize, bool)> {
    let find = |wanted: &str| FEATURES.iter().position(|f| f.name == wanted);
    find(name).map(|bit| (bit, true)).or_else(|| {
        name.strip_prefix("NO_")
            .and_then(find)
            .map(|bit| (bit, false))
    })
}

/// The name of the tunable or switch meant by `given`, `NO_` taken off.
///
/// # Errors
/// There is none; the error names the nearest.
pub fn full_name(given: &str) -> Result<&'static str, SetError> {
    if let Some((bit, _)) = feature_switch(given) {
        return Ok(FEATURES[bit].name);
    }
    let found = TUNABLES.iter().find(|t| t.name == given);
    found.map(|t| t.name).ok_or_else(|| unknown(given))
}

/// The refusal of a name that is no row's.
pub(super) fn unknown(given: &str) -> SetError {
    let lower = given.to_ascii_lowercase();
    let lower = lower.strip_prefix("no_").unwrap_or(&lower);
    let nearest = TUNABLES
        .iter()
        .map(|t| t.name)
        .chain(FEATURES.iter().map(|f| f.name))
        .map(|name| (edits(&name.to_ascii_lowercase(), lower), name))
        .min();
    SetError::Unknown {
        given: given.into(),
        hint: match nearest {
            // With more than half of it wrong it is not a slip of the finger.
            Some((wrong, name)) if wrong <= lower.chars().count() / 2 => {
                format!("did you mean {name}? `scx_sibling --help-tunables` lists all")
            }
            _ => "`scx_sibling --help-tunables` lists them".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_where_one_is_near() {
        let hint = |given| unknown(given).to_string();
        assert!(hint("slice_nss").contains("did you mean slice_ns?"));
        assert!(hint("NO_IDLE_COER").contains("did you mean IDLE_CORE?"));
        assert!(hint("migration_cost_ns.lcl").contains("mean migration_cost_ns.llc?"));
        assert!(!hint("FOO").contains("did you mean"), "{}", hint("FOO"));
        assert!(!hint("").contains("did you mean"));
    }

    #[test]
    fn a_switch_has_one_name() {
        assert_eq!(full_name("NO_IDLE_CORE"), Ok("IDLE_CORE"));
        assert_eq!(full_name("slice_ns"), Ok("slice_ns"));
    }
}
