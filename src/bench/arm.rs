// SPDX-License-Identifier: GPL-2.0-only
//! What is compared: a scheduler with its settings.

use super::nearest;
use crate::tunables::Settings;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arm {
    /// The kernel's fair class.
    Fair,
    /// This scheduler with these settings before its defaults.
    Sibling(Vec<String>),
    /// Another sched_ext scheduler, by its command line.
    Scx(String),
}

/// What an arm is spelled as, for lists.
pub const SPELLINGS: &str =
    "  fair                    the kernel's own scheduler (also: cfs, eevdf)
  sibling                 scx_sibling with its defaults
  sibling:SETTING,…       with tunables and switches: sibling:NO_IDLE_CORE,slice_ns=5ms;
                          flipped in the running scheduler where only these differ
  scx:COMMAND             any other sched_ext scheduler: \"scx:scx_cosmos -s 1000\"";

const NAMES: [&str; 5] = ["fair", "cfs", "eevdf", "sibling", "scx"];

impl Arm {
    /// Reads an arm as in [`SPELLINGS`].
    ///
    /// # Errors
    /// What is wrong, with the nearest name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match (name, rest) {
            ("fair" | "cfs" | "eevdf", None) => Ok(Arm::Fair),
            ("fair" | "cfs" | "eevdf", Some(_)) => Err(format!(
                "arm {text:?}: the fair class takes no settings here"
            )),
            ("sibling", rest) => {
                let settings: Vec<String> = rest
                    .into_iter()
                    .flat_map(|rest| rest.split(','))
                    .map(|setting| setting.trim().to_string())
                    .filter(|setting| !setting.is_empty())
                    .collect();
                let check = Settings::default().apply(&settings);
                check.map_err(|error| format!("arm {text:?}: {error}"))?;
                Ok(Arm::Sibling(settings))
            }
            ("scx", Some(command)) if !command.trim().is_empty() => {
                Ok(Arm::Scx(command.trim().to_string()))
            }
            ("scx", _) => Err("arm \"scx\" lacks its command: scx:COMMAND".into()),
            _ => Err(format!(
                "no arm {text:?}; {}",
                nearest::hint(name, NAMES.iter().copied())
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for fair in ["fair", "cfs", "eevdf"] {
            assert_eq!(Arm::parse(fair), Ok(Arm::Fair));
        }
        assert_eq!(Arm::parse("sibling"), Ok(Arm::Sibling(vec![])));
        assert_eq!(
            Arm::parse("sibling:NO_IDLE_CORE, slice_ns=5ms"),
            Ok(Arm::Sibling(vec![
                "NO_IDLE_CORE".into(),
                "slice_ns=5ms".into()
            ]))
        );
        let command = "scx_x --opt a:b,c";
        assert_eq!(
            Arm::parse(&format!("scx:{command}")),
            Ok(Arm::Scx(command.into()))
        );
    }

    #[test]
    fn slips_are_answered_with_the_nearest() {
        let refusal = |text| Arm::parse(text).unwrap_err();
        assert!(refusal("siblin").contains("did you mean sibling?"));
        assert!(refusal("fiar").contains("did you mean fair?"));
        assert!(refusal("sibling:NO_IDLE_COER").contains("did you mean IDLE_CORE?"));
        assert!(refusal("scx:").contains("COMMAND"));
        assert!(refusal("fair:X=1").contains("no settings"));
        assert!(refusal("zzzzzz").contains("there are: fair"));
    }
}
