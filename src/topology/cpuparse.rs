//! The two spellings the kernel has for a CPU set.
//!
//! The kernel prints every mask either as a list (`0-3,8`) or as comma-separated 32-bit hex words,
//! highest first (`ff,00000000`). Captured trees add NULs, `(null)`, missing newlines and numbers no
//! machine has, so both parsers take untrusted text, allocate at most [`MAX_CPUS`] bits and answer
//! anything odd with an error that quotes it.

use thiserror::Error;

use super::cpuset::CpuSet;
use super::cpuset::MAX_CPUS;

/// Why a text is not a CPU set.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CpuSetError {
    /// A piece between two commas that is no number, range or hex word.
    #[error("{0:?} is not a CPU number, a range such as 0-3, or a hex word")]
    NotANumber(String),
    /// A range that ends before it starts.
    #[error("the range {0:?} ends before it starts")]
    Reversed(String),
    /// A stride (`0-31:2/8`) whose group is empty or smaller than its used part.
    #[error("the stride in {0:?} is not used/group with 1 <= used <= group")]
    BadStride(String),
    /// A CPU number no kernel can have.
    #[error("{0:?} names a CPU above {max}, the largest number a kernel can have", max = MAX_CPUS - 1)]
    TooLarge(String),
}

impl CpuSet {
    /// Reads the kernel's list form: `0-3,8`, or `0-31:2/8` (the first 2 of every 8).
    ///
    /// White space around it, everything from the first NUL on, and the text `(null)` are ignored, so
    /// a file of only a NUL is the empty set.
    ///
    /// # Errors
    /// [`CpuSetError`], quoting the first piece that is wrong.
    pub fn parse_list(text: &str) -> Result<Self, CpuSetError> {
        let mut set = Self::new();
        for piece in payload(text).split(',') {
            let piece = piece.trim();
            if !piece.is_empty() {
                set.insert_piece(piece)?;
            }
        }
        Ok(set)
    }

    /// Reads the kernel's mask form: 32-bit hex words, highest first (`ff,00000000` is CPUs 32-39).
    /// The same leniency as [`CpuSet::parse_list`]; a leading `0x` is accepted.
    ///
    /// # Errors
    /// [`CpuSetError`], quoting the first word that is wrong.
    pub fn parse_mask(text: &str) -> Result<Self, CpuSetError> {
        let text = payload(text);
        let mut set = Self::new();
        if text.is_empty() {
            return Ok(set);
        }
        for (index, piece) in text.rsplit(',').enumerate() {
            let piece = piece.trim();
            let digits = piece.strip_prefix("0x").unwrap_or(piece);
            if digits.is_empty() || digits.len() > 8 {
                return Err(CpuSetError::NotANumber(quote(piece)));
            }
            let word = u32::from_str_radix(digits, 16)
                .map_err(|_| CpuSetError::NotANumber(quote(piece)))?;
            for bit in (0..32).filter(|bit| word >> bit & 1 == 1) {
                let cpu = u32::try_from(index)
                    .ok()
                    .and_then(|index| index.checked_mul(32)?.checked_add(bit))
                    .filter(|cpu| *cpu < MAX_CPUS)
                    .ok_or_else(|| CpuSetError::TooLarge(quote(piece)))?;
                set.insert(cpu);
            }
        }
        Ok(set)
    }

    fn insert_piece(&mut self, piece: &str) -> Result<(), CpuSetError> {
        let (span, stride) = match piece.split_once(':') {
            Some((span, stride)) => (span, Some(stride)),
            None => (piece, None),
        };
        let (first, last) = match span.split_once('-') {
            Some((first, last)) => (number(first, piece)?, number(last, piece)?),
            None => (number(span, piece)?, number(span, piece)?),
        };
        if first > last {
            return Err(CpuSetError::Reversed(quote(piece)));
        }
        let Some(stride) = stride else {
            self.insert_range(first, last);
            return Ok(());
        };
        let bad = || CpuSetError::BadStride(quote(piece));
        let (used, group) = stride.split_once('/').ok_or_else(bad)?;
        let (used, group) = (number(used, piece)?, number(group, piece)?);
        if used == 0 || used > group {
            return Err(bad());
        }
        let mut start = first;
        while start <= last {
            self.insert_range(start, (start + used - 1).min(last));
            start += group;
        }
        Ok(())
    }
}

/// What a C program would see of the file, without its newline.
fn payload(text: &str) -> &str {
    let text = text.split('\0').next().unwrap_or_default().trim();
    if text == "(null)" {
        ""
    } else {
        text
    }
}

fn number(text: &str, piece: &str) -> Result<u32, CpuSetError> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(CpuSetError::NotANumber(quote(piece)));
    }
    match text.parse::<u32>() {
        Ok(cpu) if cpu < MAX_CPUS => Ok(cpu),
        _ => Err(CpuSetError::TooLarge(quote(piece))),
    }
}

/// Enough of a bad piece to recognise it; the rest may be kilobytes of noise.
fn quote(piece: &str) -> String {
    const SHOWN: usize = 24;
    if piece.chars().count() <= SHOWN {
        return piece.to_string();
    }
    let mut head: String = piece.chars().take(SHOWN).collect();
    head.push_str("...");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> String {
        CpuSet::parse_list(text).unwrap().to_string()
    }

    #[test]
    fn lists_are_read_as_the_kernel_prints_them() {
        assert_eq!(list("0-3,8\n"), "0-3,8");
        assert_eq!(list("8,0-1,2"), "0-2,8");
        assert_eq!(list("0-31:2/8"), "0-1,8-9,16-17,24-25");
        assert_eq!(list("63-65"), "63-65");
        for empty in ["", "\n", "\0", "(null)\n", " \0rest"] {
            assert_eq!(list(empty), "", "{empty:?}");
        }
        assert_eq!(list("0-3\0\0"), "0-3");
    }

    #[test]
    fn bad_lists_say_what_is_wrong() {
        let err = |text| CpuSet::parse_list(text).unwrap_err();
        assert!(matches!(err("3-1"), CpuSetError::Reversed(_)));
        assert!(matches!(err("8192"), CpuSetError::TooLarge(_)));
        assert!(matches!(
            err("0-99999999999999999999"),
            CpuSetError::TooLarge(_)
        ));
        assert!(matches!(err("0-7:3/2"), CpuSetError::BadStride(_)));
        assert!(matches!(err("0-7:0/2"), CpuSetError::BadStride(_)));
        assert!(matches!(err("abc"), CpuSetError::NotANumber(_)));
        assert!(matches!(err("-1"), CpuSetError::NotANumber(_)));
        assert!(err(&"x".repeat(9999)).to_string().len() < 200);
    }

    #[test]
    fn masks_are_read_from_the_highest_word() {
        let mask = |text| CpuSet::parse_mask(text).unwrap().to_string();
        assert_eq!(mask("ff,00000000\n"), "32-39");
        assert_eq!(mask("3"), "0-1");
        assert_eq!(mask("000,00000005"), "0,2");
        assert_eq!(mask("0x5"), "0,2");
        assert_eq!(mask(""), "");
        assert!(CpuSet::parse_mask("fg").is_err());
        assert!(CpuSet::parse_mask("1,,1").is_err());
        assert!(CpuSet::parse_mask(&format!("1{}", ",00000000".repeat(256))).is_err());
        assert_eq!(mask(&format!("0{}", ",00000000".repeat(999))), "");
    }
}
