// SPDX-License-Identifier: GPL-2.0-only
//! Memory and signals shared between the parent and the processes it forks.

use anyhow::{bail, Result};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8};
use std::time::Duration;

/// Types that may lie in shared, zero-filled memory.
///
/// # Safety
/// Every bit pattern must be a valid value, all-zero included, every access from
/// several processes at once must be sound, and there must be nothing to drop.
pub unsafe trait Word {}
// SAFETY: atomics accept every bit pattern, any number of users, and need no drop.
unsafe impl Word for AtomicU8 {}
// SAFETY: as for AtomicU8.
unsafe impl Word for AtomicU32 {}
// SAFETY: as for AtomicU8.
unsafe impl Word for AtomicU64 {}

/// A zero-filled array that stays shared with processes forked later.
pub struct Shared<T: Word> {
    base: *mut libc::c_void,
    bytes: usize,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Word> Shared<T> {
    /// Maps `len` words and touches every page, so that no page fault falls into a
    /// measurement.
    pub fn new(len: usize) -> Result<Self> {
        let bytes = len.max(1).saturating_mul(std::mem::size_of::<T>());
        // SAFETY: a fresh anonymous mapping, placed by the kernel, touches no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            bail!(
                "mapping {bytes} bytes of shared memory for the results failed: {}: use fewer processes or free memory",
                os_error()
            );
        }
        Ok(Self {
            base,
            bytes,
            len,
            kind: PhantomData,
        })
    }
}

impl<T: Word> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the mapping holds `len` zero-initialised words of T, is page-aligned and
        // lives as long as `self`; T: Word allows it to be shared.
        unsafe { std::slice::from_raw_parts(self.base.cast::<T>(), self.len) }
    }
}

impl<T: Word> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: `base` and `bytes` are those of the mapping made in `new`; the borrow
        // checker knows that no slice of it is left.
        unsafe { libc::munmap(self.base, self.bytes) };
    }
}

/// The last system error of this thread.
pub fn os_error() -> std::io::Error {
    std::io::Error::last_os_error()
}

/// Sleeps while `word` holds `expected`, for `timeout` at most. It may return early:
/// the caller looks at the word again.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let ts = timeout.map(|t| libc::timespec {
        tv_sec: t.as_secs() as libc::time_t,
        tv_nsec: t.subsec_nanos() as libc::c_long,
    });
    let ts_ptr = ts.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `word` is a live, aligned 32-bit word and `ts_ptr` is null or points to `ts`,
    // which outlives the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            expected,
            ts_ptr,
        );
    }
}

/// Wakes up to `count` sleepers on `word` and returns how many were woken.
pub fn futex_wake(word: &AtomicU32, count: u32) -> u32 {
    // SAFETY: `word` is a live, aligned 32-bit word.
    let woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
    u32::try_from(woken).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn memory_starts_at_zero_and_keeps_values() {
        let words = Shared::<AtomicU64>::new(1000).unwrap();
        assert_eq!(words.len(), 1000);
        assert!(words.iter().all(|w| w.load(Relaxed) == 0));
        words[999].store(7, Relaxed);
        assert_eq!(words[999].load(Relaxed), 7);
    }

    #[test]
    fn an_absurd_size_is_an_error() {
        assert!(Shared::<AtomicU64>::new(usize::MAX / 16).is_err());
    }

    #[test]
    fn futex_does_not_sleep_on_a_changed_word() {
        let word = AtomicU32::new(1);
        futex_wait(&word, 0, None);
        futex_wait(&word, 1, Some(Duration::from_millis(1)));
        assert_eq!(futex_wake(&word, 1), 0);
    }
}
