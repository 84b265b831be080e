// SPDX-License-Identifier: GPL-2.0-only
//! The tunables and feature switches: table, parsing, validation.
//!
//! The rows come from `src/bpf/tunables.def`, which the BPF side includes too.
//! Switches follow the kernel's `sched/features` style: `IDLE_CORE` turns one
//! on, `NO_IDLE_CORE` off.

mod value;

use thiserror::Error;

use crate::skel::types;

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

/// Why a setting was refused. Nothing is changed by a refused setting.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SetError {
    /// The name is neither a tunable nor a switch.
    #[error("{given}: no such tunable or switch; did you mean {nearest}? `scx_sibling --help-tunables` lists all")]
    Unknown {
        /// What the user typed.
        given: String,
        /// The closest existing name.
        nearest: String,
    },
    /// The value does not parse.
    #[error("{name}={given}: not a value in {unit}; {hint}")]
    Value {
        /// The tunable.
        name: String,
        /// What the user typed.
        given: String,
        /// The tunable's unit.
        unit: &'static str,
        /// What would be accepted.
        hint: &'static str,
    },
    /// The value is outside the range.
    #[error("{name}={given}: outside {min} … {max} {unit}")]
    Range {
        /// The tunable.
        name: String,
        /// What the user typed.
        given: String,
        /// Least accepted value.
        min: u64,
        /// Largest accepted value.
        max: u64,
        /// The tunable's unit.
        unit: &'static str,
    },
    /// The shortest slice is longer than the normal one.
    #[error("slice_min_ns={least} is above slice_ns={slice}; set both")]
    Slices {
        /// Of `slice_ns`, in nanoseconds.
        slice: u64,
        /// Of `slice_min_ns`, in nanoseconds.
        least: u64,
    },
    /// A tunable without a value.
    #[error("{0}: a value is missing; write {0}=VALUE")]
    NoValue(String),
}

/// A whole set of values: one word per tunable, the features word last, in the
/// order of `enum tun_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The words as the BPF side reads them.
    pub words: Vec<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        let mut words: Vec<u64> = TUNABLES.iter().map(|t| t.default).collect();
        let features = FEATURES
            .iter()
            .enumerate()
            .fold(0, |acc, (bit, f)| acc | u64::from(f.default) << bit);
        words.push(features);
        Settings { words }
    }
}

impl Settings {
    /// Applies settings like `slice_ns=5ms`, `NO_IDLE_CORE` or `IDLE_CORE=off`,
    /// all or none.
    ///
    /// # Errors
    /// The first setting that names nothing known or has an unusable value.
    pub fn apply<S: AsRef<str>>(&mut self, settings: &[S]) -> Result<(), SetError> {
        let mut changed = self.clone();
        for setting in settings {
            changed.apply_one(setting.as_ref())?;
        }
        let [slice, least] = [types::tun_id::TUN_SLICE, types::tun_id::TUN_SLICE_MIN]
            .map(|id| changed.words[id.0 as usize]);
        if least > slice {
            return Err(SetError::Slices { slice, least });
        }
        *self = changed;
        Ok(())
    }

    fn apply_one(&mut self, setting: &str) -> Result<(), SetError> {
        let (name, value) = match setting.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (setting.trim(), None),
        };
        if let Some((bit, on)) = feature_switch(name) {
            let on = match value {
                None => on,
                Some("on" | "1" | "true") => on,
                Some("off" | "0" | "false") => !on,
                Some(given) => {
                    return Err(SetError::Value {
                        name: name.into(),
                        given: given.into(),
                        unit: "on/off",
                        hint: "write on or off",
                    })
                }
            };
            if let Some(word) = self.words.last_mut() {
                *word = *word & !(1 << bit) | u64::from(on) << bit;
            }
            return Ok(());
        }
        let Some((index, def)) = TUNABLES.iter().enumerate().find(|(_, t)| t.name == name) else {
            return Err(SetError::Unknown {
                given: name.into(),
                nearest: nearest(name),
            });
        };
        let given = value.ok_or_else(|| SetError::NoValue(name.into()))?;
        self.words[index] = parse_value(def, given)?;
        Ok(())
    }

    /// Is the switch with this name on? `None` when there is no such switch.
    pub fn feature(&self, name: &str) -> Option<bool> {
        let (bit, _) = FEATURES.iter().enumerate().find(|(_, f)| f.name == name)?;
        self.words.last().map(|word| word >> bit & 1 == 1)
    }
}

/// Bit and state of `NAME` or `NO_NAME`.
fn feature_switch(name: &str) -> Option<(usize, bool)> {
    let find = |wanted: &str| FEATURES.iter().position(|f| f.name == wanted);
    find(name).map(|bit| (bit, true)).or_else(|| {
        name.strip_prefix("NO_")
            .and_then(find)
            .map(|bit| (bit, false))
    })
}

/// The existing name with the least edits from `given`.
fn nearest(given: &str) -> String {
    let names = TUNABLES
        .iter()
        .map(|t| t.name)
        .chain(FEATURES.iter().map(|f| f.name));
    names
        .min_by_key(|name| value::edits(&name.to_ascii_lowercase(), &given.to_ascii_lowercase()))
        .unwrap_or("slice_ns")
        .to_string()
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

    #[test]
    fn a_switch_in_kernel_style() {
        let mut s = Settings::default();
        assert_eq!(s.feature("IDLE_CORE"), Some(true));
        s.apply(&["NO_IDLE_CORE"]).unwrap();
        assert_eq!(s.feature("IDLE_CORE"), Some(false));
        s.apply(&["IDLE_CORE=on"]).unwrap();
        assert_eq!(s.feature("IDLE_CORE"), Some(true));
    }

    #[test]
    fn all_or_nothing() {
        let mut s = Settings::default();
        assert!(s.apply(&["slice_ns=5ms", "slice_min_ns=nonsense"]).is_err());
        assert_eq!(s, Settings::default());
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let mut s = Settings::default();
        let err = s.apply(&["slice_nss=1ms"]).unwrap_err();
        assert!(err.to_string().contains("did you mean slice_ns?"), "{err}");
        let err = s.apply(&["NO_IDLE_COER"]).unwrap_err();
        assert!(err.to_string().contains("IDLE_CORE"), "{err}");
    }

    #[test]
    fn the_least_slice_is_not_above_the_slice() {
        let mut s = Settings::default();
        let err = s.apply(&["slice_ns=1ms"]).unwrap_err().to_string();
        assert!(err.contains("slice_min_ns=3000000"), "{err}");
        s.apply(&["slice_ns=1ms", "slice_min_ns=1ms"]).unwrap();
    }

    #[test]
    fn out_of_range_names_the_range() {
        let err = Settings::default()
            .apply(&["balance.imbalance_pct=5"])
            .unwrap_err();
        assert!(err.to_string().contains("100 … 1000"), "{err}");
    }
}
