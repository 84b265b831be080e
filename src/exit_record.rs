// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's record of why it let go of the scheduler, as ops.exit kept it.
//!
//! Read here and not by `uei_report!`, which panics when the text is no UTF-8:
//! it holds names of tasks, and those are cut after 15 bytes anywhere.

use std::ffi::c_char;
use std::ffi::CStr;

use crate::skel::types::user_exit_info;

/// `struct scx_exit_info` in Rust's types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExitRecord {
    /// `enum scx_exit_kind`; 0: the scheduler has not exited.
    pub kind: i32,
    /// Exit code of an orderly exit.
    pub code: i64,
    /// The kind in the kernel's words.
    pub reason: String,
    /// What happened in detail; may be empty.
    pub message: String,
}

impl ExitRecord {
    /// Converts the record of `src/bpf/main.bpf.c`.
    pub fn new(uei: &user_exit_info) -> Self {
        ExitRecord {
            kind: uei.kind,
            code: uei.exit_code,
            reason: text(&uei.reason),
            message: text(&uei.msg),
        }
    }

    /// Reason and message for people.
    pub fn why(&self) -> String {
        match (self.reason.as_str(), self.message.as_str()) {
            ("", "") => "for no reason it gave".into(),
            (reason, "") => reason.into(),
            ("", message) => message.into(),
            (reason, message) => format!("{reason} ({message})"),
        }
    }
}

fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars
        .iter()
        .map(|c| *c as u8)
        .take_while(|b| *b != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The kernel's debug dump after an error, where there is one.
pub fn dump() -> Option<String> {
    let guard = scx_utils::UEI_DUMP_PTR_MUTEX.lock().ok()?;
    if guard.ptr.is_null() {
        return None;
    }
    // SAFETY: scx_ops_load! set it to the dump map's memory, which lives as long as the BPF object
    // and which the kernel ends with a zero byte; called before the object is dropped.
    let dump = unsafe { CStr::from_ptr(guard.ptr) }.to_string_lossy();
    (!dump.is_empty()).then(|| dump.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cut_inside_a_character_is_no_panic() {
        let mut uei = user_exit_info {
            kind: 1026,
            ..Default::default()
        };
        for (to, from) in uei.msg.iter_mut().zip(*b"task caf\xc3 stalled") {
            *to = from as c_char;
        }
        let record = ExitRecord::new(&uei);
        assert_eq!(record.message, "task caf\u{fffd} stalled");
        assert_eq!(record.why(), record.message);
    }
}
