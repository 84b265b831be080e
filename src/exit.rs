// SPDX-License-Identifier: GPL-2.0-only
//! How a run ended: exit codes and what they mean.

use thiserror::Error;

use crate::exit_record::ExitRecord;

/// Process exit codes; `--help` prints this table.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  stopped as asked (Ctrl-C, SIGTERM, end of the measurement)
  1  unexpected error
  2  the command line is wrong
  3  this machine lacks something (kernel option, BTF, JIT, a supported topology)
  4  missing privileges
  5  another sched_ext scheduler is loaded
  6  the kernel ejected the scheduler after an error or a stall
  7  the scheduler was removed from outside (SysRq-S, another tool)
  8  scx_sibling is not running (commands that talk to a running one)
  9  the running scx_sibling is of another version than the command";

/// A failure with an exit code of its own. Anything else exits with 1.
#[derive(Debug, Error)]
pub enum Failure {
    /// The command line is well-formed but its values are not usable.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks something; the text names it.
    #[error("{0}")]
    Machine(String),
    /// Privileges are missing; the text names them.
    #[error("{0}")]
    Privileges(String),
    /// Another scheduler is loaded.
    #[error("another sched_ext scheduler is loaded: {0}; stop it first (it was left alone)")]
    OtherScheduler(String),
    /// The kernel ejected the scheduler.
    #[error("the kernel ejected the scheduler: {0}; the system is back on the fair class. Please report this with the text above and `uname -r`")]
    Ejected(String),
    /// Somebody else removed the scheduler.
    #[error("the scheduler was removed from outside: {0}; the system is back on the fair class")]
    Removed(String),
    /// A command needs a running scheduler.
    #[error("{0}")]
    NotRunning(String),
    /// The running scheduler is of another version than this command.
    #[error("{0}")]
    Version(String),
    /// What there is to say has been printed; only the exit code is left.
    #[error("")]
    Said(u8),
}

impl Failure {
    /// The exit code documented in [`EXIT_CODES`].
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Machine(_) => 3,
            Failure::Privileges(_) => 4,
            Failure::OtherScheduler(_) => 5,
            Failure::Ejected(_) => 6,
            Failure::Removed(_) => 7,
            Failure::NotRunning(_) => 8,
            Failure::Version(_) => 9,
            Failure::Said(code) => *code,
        }
    }
}

/// The exit code for an error chain: that of the [`Failure`] in it, else 1.
pub fn code_of(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<Failure>().map_or(1, Failure::code)
}

/// Values of the kernel's `enum scx_exit_kind`, which is stable ABI in that new
/// ones are only added.
mod kind {
    pub const UNREG: i32 = 64;
    pub const UNREG_BPF: i32 = 65;
    pub const UNREG_KERN: i32 = 66;
    pub const ERROR: i32 = 1024;
}

/// What to do after the scheduler left the kernel.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Detached because this program asked for it.
    Asked,
    /// The machine changed (CPU hotplug): read it anew and load again.
    Restart,
    /// Ended with the given kind of failure and text.
    Failed(Ending),
}

/// A failed ending, kept comparable for tests.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// See [`Failure::Ejected`].
    Ejected(String),
    /// See [`Failure::Removed`].
    Removed(String),
}

impl From<Ending> for Failure {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Ejected(text) => Failure::Ejected(text),
            Ending::Removed(text) => Failure::Removed(text),
        }
    }
}

/// Judges the kernel's exit record. `early`: it had ended before this program
/// asked for it.
pub fn judge(record: &ExitRecord, early: bool) -> Outcome {
    let restart = record.code & *scx_utils::SCX_ECODE_ACT_RESTART as i64 != 0;
    match record.kind {
        kind::UNREG if early => Outcome::Failed(Ending::Removed(record.why())),
        0 | 1 | kind::UNREG => Outcome::Asked,
        kind::UNREG_BPF | kind::UNREG_KERN if restart => Outcome::Restart,
        k if k >= kind::ERROR => Outcome::Failed(Ending::Ejected(record.why())),
        _ => Outcome::Failed(Ending::Removed(record.why())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let record = |kind| ExitRecord {
            kind,
            reason: "why".into(),
            ..Default::default()
        };
        let text = || "why".to_string();
        assert_eq!(judge(&record(64), false), Outcome::Asked);
        let removed = Outcome::Failed(Ending::Removed(text()));
        assert_eq!(judge(&record(64), true), removed);
        assert_eq!(judge(&record(67), true), removed);
        let ejected = Outcome::Failed(Ending::Ejected(text()));
        assert_eq!(judge(&record(1026), true), ejected);
    }

    #[test]
    fn every_code_is_documented() {
        for failure in [
            Failure::Usage(String::new()),
            Failure::Machine(String::new()),
            Failure::Privileges(String::new()),
            Failure::OtherScheduler(String::new()),
            Failure::Ejected(String::new()),
            Failure::Removed(String::new()),
            Failure::NotRunning(String::new()),
            Failure::Version(String::new()),
        ] {
            assert!(EXIT_CODES.contains(&format!("\n  {}  ", failure.code())));
        }
    }

    #[test]
    fn a_wrapped_failure_keeps_its_code() {
        let error = anyhow::Error::new(Failure::Privileges("x".into())).context("starting");
        assert_eq!(code_of(&error), 4);
        assert_eq!(code_of(&anyhow::anyhow!("x")), 1);
    }
}
