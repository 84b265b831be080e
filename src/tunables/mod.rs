// SPDX-License-Identifier: GPL-2.0-only
//! The tunables and feature switches: table, parsing, validation.
//!
//! The rows come from `src/bpf/tunables.def`, which the BPF side includes too.
//! Switches follow the kernel's `sched/features` style: `IDLE_CORE` turns one
//! on, `NO_IDLE_CORE` off.

pub mod config;
mod error;
mod names;
mod settings;
mod value;

pub use error::SetError;
pub use names::all_names;
pub use names::feature_switch;
pub use names::full_name;
pub use settings::Settings;
pub use value::edits;
pub use value::parse_value;

/// A numeric tunable.
#[derive(Debug, Clone, Copy)]
pub struct TunableDef {
    /// Name as the user types it.
    pub name: &'static str,
    /// Value at start, in `unit`.
    pub default: u64,
    /// Least accepted value.
    pub min: u64,
    /// Largest accepted value.
    pub max: u64,
    /// `ns`, `percent`, `words` or `level`.
    pub unit: &'static str,
    /// One line for people.
    pub meaning: &'static str,
}

/// A feature switch, one bit of the features word.
#[derive(Debug, Clone, Copy)]
pub struct FeatureDef {
    /// Name as the user types it; `NO_` before it turns it off.
    pub name: &'static str,
    /// State at start.
    pub default: bool,
    /// One line for people.
    pub meaning: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/tunables_table.rs"));

/// A hash of names, units and order of all rows: two programs with the same one
/// mean the same by each word.
pub fn table_id() -> u64 {
    let rows = TUNABLES
        .iter()
        .flat_map(|t| [t.name, t.unit])
        .chain(FEATURES.iter().flat_map(|f| [f.name, "on/off"]));
    // FNV-1a, each string closed by a byte that is in none.
    rows.flat_map(|text| text.bytes().chain([0xff]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

/// The table for `--help-tunables`: name, default, range, unit and meaning.
pub fn help() -> String {
    let mut text = String::from("Tunables (set with --set NAME=VALUE):\n");
    for t in TUNABLES {
        text += &format!(
            "  {:<26} {:>9} {:<7} {} … {}\n      {}\n",
            t.name, t.default, t.unit, t.min, t.max, t.meaning
        );
    }
    text += "Switches (set with --set NAME or --set NO_NAME):\n";
    for f in FEATURES {
        let state = if f.default { "on" } else { "off" };
        text += &format!("  {:<26} {:>9}         {}\n", f.name, state, f.meaning);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skel::types;

    #[test]
    fn table_and_enum_have_the_same_length() {
        assert_eq!(TUNABLES.len(), types::tun_id::TUN_FEATURES.0 as usize);
        assert_eq!(TUNABLES.len() + 1, types::tun_id::TUN_NR.0 as usize);
        assert_eq!(FEATURES.len(), types::feature_id::FEAT_NR.0 as usize);
    }

    #[test]
    fn defaults_are_in_range() {
        for t in TUNABLES {
            assert!((t.min..=t.max).contains(&t.default), "{}", t.name);
        }
    }
}
