// SPDX-License-Identifier: GPL-2.0-only
//! A whole set of values and what may be done to it.

use super::feature_switch;
use super::names;
use super::parse_value;
use super::SetError;
use super::FEATURES;
use super::TUNABLES;
use crate::skel::types;

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
        changed.apply_each(settings)?;
        changed.check()?;
        *self = changed;
        Ok(())
    }

    /// [`Self::apply`] without [`Self::check`]; those before the refused one stay applied.
    ///
    /// # Errors
    /// The first setting that names nothing known or has an unusable value.
    pub fn apply_each<S: AsRef<str>>(&mut self, settings: &[S]) -> Result<(), SetError> {
        for setting in settings {
            let (name, value) = split(setting.as_ref());
            self.set(name, value)?;
        }
        Ok(())
    }

    /// Sets one value, without [`Self::check`].
    ///
    /// # Errors
    /// The name or the value is refused.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), SetError> {
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
            self.set_feature(bit, on);
            return Ok(());
        }
        let Some((index, def)) = TUNABLES.iter().enumerate().find(|(_, t)| t.name == name) else {
            return Err(names::unknown(name));
        };
        let given = value.ok_or_else(|| SetError::NoValue(name.into()))?;
        self.words[index] = parse_value(def, given)?;
        Ok(())
    }

    /// Do the values go together?
    ///
    /// # Errors
    /// Which ones do not.
    pub fn check(&self) -> Result<(), SetError> {
        let [slice, least] = [types::tun_id::TUN_SLICE, types::tun_id::TUN_SLICE_MIN]
            .map(|id| self.words[id.0 as usize]);
        if least > slice {
            return Err(SetError::Slices { slice, least });
        }
        Ok(())
    }

    /// Gives those named the values they have in `other`. Names are as in the tables.
    pub fn copy_all(&mut self, names: &[&str], other: &Settings) {
        for name in names {
            if let Some((bit, _)) = feature_switch(name) {
                self.set_feature(bit, other.on(bit));
            } else if let Some(index) = TUNABLES.iter().position(|t| t.name == *name) {
                self.words[index] = other.words[index];
            }
        }
    }

    /// Is the switch with this name on? `None` when there is no such switch.
    pub fn feature(&self, name: &str) -> Option<bool> {
        let (bit, _) = FEATURES.iter().enumerate().find(|(_, f)| f.name == name)?;
        Some(self.on(bit))
    }

    /// The value of a tunable or switch as [`Self::set`] takes it: a plain
    /// number, `on` or `off`. `None` when there is no such one.
    pub fn text(&self, name: &str) -> Option<String> {
        if let Some(on) = self.feature(name) {
            return Some(if on { "on" } else { "off" }.into());
        }
        let index = TUNABLES.iter().position(|t| t.name == name)?;
        Some(self.words[index].to_string())
    }

    /// The names of those that differ from `other`, in the order of the tables.
    pub fn differing(&self, other: &Settings) -> Vec<&'static str> {
        let tunables = TUNABLES.iter().enumerate();
        let features = FEATURES.iter().enumerate();
        tunables
            .filter(|(i, _)| self.words[*i] != other.words[*i])
            .map(|(_, t)| t.name)
            .chain(
                features
                    .filter(|(bit, _)| self.on(*bit) != other.on(*bit))
                    .map(|(_, f)| f.name),
            )
            .collect()
    }

    fn on(&self, bit: usize) -> bool {
        self.words.last().is_some_and(|word| word >> bit & 1 == 1)
    }

    fn set_feature(&mut self, bit: usize, on: bool) {
        if let Some(word) = self.words.last_mut() {
            *word = *word & !(1 << bit) | u64::from(on) << bit;
        }
    }
}

/// Name and value of `NAME=VALUE` or `NAME`.
fn split(setting: &str) -> (&str, Option<&str>) {
    match setting.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (setting.trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::all_names;

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

    #[test]
    fn what_differs_is_named_and_can_be_copied_back() {
        let mut s = Settings::default();
        s.apply(&["slice_ns=5ms", "NO_SYNC", "AVG_CPU"]).unwrap();
        let names = s.differing(&Settings::default());
        assert_eq!(names, ["slice_ns", "SYNC", "AVG_CPU"]);
        s.copy_all(&names, &Settings::default());
        assert_eq!(s, Settings::default());
    }

    #[test]
    fn every_value_s_text_is_accepted_back() {
        let mut s = Settings::default();
        for name in all_names() {
            let text = s.text(name).unwrap();
            s.set(name, Some(&text)).unwrap();
        }
        assert_eq!(s, Settings::default());
    }
}
