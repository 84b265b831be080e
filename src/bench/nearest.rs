// SPDX-License-Identifier: GPL-2.0-only
//! The name a user may have meant.

use crate::tunables::edits;

/// "; did you mean X?" where one of `names` is near, else the whole list.
pub fn hint<'a>(given: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let given = given.to_ascii_lowercase();
    let nearest = names.clone().map(|name| (edits(name, &given), name)).min();
    match nearest {
        // With more than half of it wrong it is not a slip of the finger.
        Some((wrong, name)) if wrong <= given.chars().count() / 2 => {
            format!("did you mean {name}?")
        }
        _ => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
    }
}
