// SPDX-License-Identifier: GPL-2.0-only
//! Time: reading it, sleeping until it, and using it up.

use super::shared::os_error;
use anyhow::{bail, Result};
use std::hint::black_box;

/// Nanoseconds of CLOCK_MONOTONIC, read through the vDSO (no system call).
pub fn now_ns() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling process in nanoseconds.
pub fn own_cpu_ns() -> u64 {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of process `pid` in nanoseconds, exact even for a task that is running
/// on a CPU without ticks (where `/proc/PID/schedstat` would lag behind).
pub fn cpu_ns_of(pid: i32) -> Option<u64> {
    let mut id: libc::clockid_t = 0;
    // SAFETY: `id` is a valid place to write a clock id to.
    if unsafe { libc::clock_getcpuclockid(pid, &mut id) } != 0 {
        return None;
    }
    let mut ts = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `ts` is a valid timespec to write to.
    let rc = unsafe { libc::clock_gettime(id, &mut ts) };
    (rc == 0).then(|| to_ns(&ts))
}

fn read_clock(id: libc::clockid_t) -> u64 {
    let mut ts = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `ts` is a valid timespec to write to; both clocks used exist on every Linux.
    unsafe { libc::clock_gettime(id, &mut ts) };
    to_ns(&ts)
}

fn to_ns(ts: &libc::timespec) -> u64 {
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

/// `seconds` in nanoseconds.
pub fn secs_to_ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Sleeps until CLOCK_MONOTONIC shows `target_ns`; signals do not cut it short.
pub fn sleep_until(target_ns: u64) -> Result<()> {
    let ts = libc::timespec {
        tv_sec: (target_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (target_ns % 1_000_000_000) as libc::c_long,
    };
    loop {
        // SAFETY: `ts` is a valid timespec; no remaining time is asked for.
        let rc = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &ts,
                std::ptr::null_mut(),
            )
        };
        match rc {
            0 => return Ok(()),
            libc::EINTR => {}
            errno => bail!(
                "sleeping until {target_ns} ns with clock_nanosleep failed: {}: \
                 this needs a kernel with high-resolution timers",
                std::io::Error::from_raw_os_error(errno)
            ),
        }
    }
}

/// Takes the 50 us of timer slack away that the kernel grants itself for ordinary
/// processes: a sleeper would measure that slack instead of the scheduler.
pub fn no_timer_slack() -> Result<()> {
    // SAFETY: PR_SET_TIMERSLACK takes one number and touches only this thread.
    if unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) } != 0 {
        bail!(
            "setting the timer slack to 1 ns failed: {}: a seccomp filter may forbid prctl, run the load outside of it",
            os_error()
        );
    }
    Ok(())
}

/// Executes `turns` turns of a small loop without system calls or clock reads.
pub fn spin(turns: u64) {
    for i in 0..turns {
        black_box(i);
    }
}

/// A busy loop of known length.
///
/// The loop is calibrated once against the clock and then works off turns: it reads
/// no clock while it runs, and a task that loses its CPU half-way still does the
/// whole work afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Burner {
    turns_per_ms: u64,
}

impl Burner {
    /// Measures the loop, for some 2 ms. The fastest of five tries counts: all
    /// disturbances make it slower, none makes it faster.
    pub fn calibrate() -> Self {
        const TRY_NS: u64 = 200_000;
        let timed = |turns| {
            let start = now_ns();
            spin(turns);
            (now_ns() - start).max(1)
        };
        let mut turns = 1_000;
        while timed(turns) < TRY_NS && turns < 1 << 40 {
            turns *= 2;
        }
        let best = (0..5).map(|_| timed(turns)).min().unwrap_or(TRY_NS);
        Self::from_measurement(turns, best)
    }

    /// A loop that needed `ns` for `turns`.
    fn from_measurement(turns: u64, ns: u64) -> Self {
        let per_ms = u128::from(turns) * 1_000_000 / u128::from(ns.max(1));
        Self {
            turns_per_ms: u64::try_from(per_ms).unwrap_or(u64::MAX).max(1),
        }
    }

    /// Turns that take `ns` on an undisturbed CPU.
    fn turns(&self, ns: u64) -> u64 {
        let turns = u128::from(self.turns_per_ms) * u128::from(ns) / 1_000_000;
        u64::try_from(turns).unwrap_or(u64::MAX)
    }

    /// Uses up about `ns` nanoseconds of CPU time.
    pub fn burn_ns(&self, ns: u64) {
        spin(self.turns(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_goes_forward_and_sleep_is_not_short() {
        let start = now_ns();
        sleep_until(start + 2_000_000).unwrap();
        assert!(now_ns() >= start + 2_000_000);
    }

    #[test]
    fn burner_scales_turns() {
        let b = Burner::from_measurement(5_000, 1_000_000);
        assert_eq!(b.turns(1_000_000), 5_000);
        assert_eq!(b.turns(1_000), 5);
        assert_eq!(b.turns(0), 0);
        assert_eq!(Burner::from_measurement(1, u64::MAX).turns_per_ms, 1);
        assert_eq!(
            Burner::from_measurement(u64::MAX, 0).turns(u64::MAX),
            u64::MAX
        );
    }

    #[test]
    fn own_cpu_time_is_known() {
        let pid = std::process::id() as i32;
        let before = cpu_ns_of(pid).unwrap();
        spin(100_000);
        assert!(cpu_ns_of(pid).unwrap() > before);
        assert!(own_cpu_ns() > 0);
        // One more than the largest process number there can be.
        assert_eq!(cpu_ns_of((1 << 22) + 1), None);
    }

    #[test]
    fn seconds_become_nanoseconds() {
        assert_eq!(secs_to_ns(0.5), 500_000_000);
    }
}
