// SPDX-License-Identifier: GPL-2.0-only
//! Names of tunables and switches on the command line: completions list them.

use std::ffi::OsStr;

use clap::builder::PossibleValue;
use clap::builder::TypedValueParser;
use clap::Arg;
use clap::Command;
use clap::Error;

use crate::tunables::all_names;

/// Takes any text; what it names is judged with the rest of the command, in our words.
#[derive(Debug, Clone, Copy)]
pub struct Name;

impl TypedValueParser for Name {
    type Value = String;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(all_names().map(PossibleValue::new)))
    }
}
