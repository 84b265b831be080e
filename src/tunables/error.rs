// SPDX-License-Identifier: GPL-2.0-only
//! Why a setting was refused, in words.

use thiserror::Error;

/// Why a setting was refused. Nothing is changed by a refused setting.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SetError {
    /// The name is neither a tunable nor a switch.
    #[error("{given}: no such tunable or switch; {hint}")]
    Unknown {
        /// What the user typed.
        given: String,
        /// The closest existing name, or where the names are listed.
        hint: String,
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
