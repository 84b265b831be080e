// SPDX-License-Identifier: GPL-2.0-only
//! Where and how important the calling process is: CPU mask, nice value, FIFO.

use super::cpulist;
use super::shared::os_error;
use crate::exit::Failure;
use anyhow::{bail, Result};

/// Bits of one mask word.
const BITS: usize = 64;

/// Restricts the calling process to `cpus`.
pub fn pin_self(cpus: &[usize]) -> Result<()> {
    let mut mask = vec![0u64; cpus.iter().max().map_or(1, |m| m / BITS + 1)];
    for &cpu in cpus {
        mask[cpu / BITS] |= 1 << (cpu % BITS);
    }
    // SAFETY: the kernel reads `size_of_val(mask)` bytes from the mask, which lives
    // through the call; its length need not be that of cpu_set_t.
    let rc = unsafe {
        libc::sched_setaffinity(0, std::mem::size_of_val(&mask[..]), mask.as_ptr().cast())
    };
    if rc != 0 {
        bail!(
            "restricting a process to CPU {} failed: {}: name CPUs that are online and allowed here ({})",
            cpulist::format(cpus),
            os_error(),
            allowed().map_or("unknown".into(), |a| cpulist::format(&a)),
        );
    }
    Ok(())
}

/// The CPUs the calling process may use, in ascending order.
pub fn allowed() -> Result<Vec<usize>> {
    let mut mask = vec![0u64; 1024 / BITS];
    loop {
        // SAFETY: the kernel writes at most `size_of_val(mask)` bytes into the mask.
        let rc = unsafe {
            libc::sched_getaffinity(
                0,
                std::mem::size_of_val(&mask[..]),
                mask.as_mut_ptr().cast(),
            )
        };
        if rc == 0 {
            break;
        }
        let err = os_error();
        // EINVAL: the kernel's own mask is longer than ours.
        if err.raw_os_error() != Some(libc::EINVAL) || mask.len() > 65_536 / BITS {
            bail!("reading the own CPU mask failed: {err}: a seccomp filter may forbid sched_getaffinity");
        }
        mask.resize(mask.len() * 2, 0);
    }
    Ok(set_bits(&mask))
}

fn set_bits(mask: &[u64]) -> Vec<usize> {
    (0..mask.len() * BITS)
        .filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1)
        .collect()
}

/// Checks before anything is started that all `cpus` may be used.
pub fn require_allowed(option: &str, cpus: &[usize]) -> Result<()> {
    let allowed = allowed()?;
    match cpus.iter().find(|c| !allowed.contains(c)) {
        None => Ok(()),
        Some(cpu) => Err(Failure::Usage(format!(
            "{option} names CPU {cpu}, which is off-line, absent or forbidden to this process: choose among {}",
            cpulist::format(&allowed)
        ))
        .into()),
    }
}

/// The CPU this call was made on.
pub fn current_cpu() -> usize {
    // SAFETY: takes nothing, touches nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(usize::MAX)
}

/// Sets the nice value of the calling process.
pub fn set_nice(nice: i32) -> Result<()> {
    // SAFETY: takes numbers only; 0 is the calling process.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } != 0 {
        bail!(
            "setting the nice value {nice} failed: {}: negative values need root (CAP_SYS_NICE)",
            os_error()
        );
    }
    Ok(())
}

/// Makes the calling process SCHED_FIFO with priority `prio` (1-99).
pub fn set_fifo(prio: i32) -> Result<()> {
    let param = libc::sched_param {
        sched_priority: prio,
    };
    // SAFETY: `param` is a valid sched_param; 0 is the calling process.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &param) } != 0 {
        let err = os_error();
        let hint = match err.raw_os_error() {
            Some(libc::EPERM) => {
                "run it as root (CAP_SYS_NICE) or raise `ulimit -r`; in a cgroup with RT group \
                 scheduling, grant cpu.rt_runtime_us as well"
            }
            _ => "the kernel may lack real-time scheduling here",
        };
        bail!("changing to SCHED_FIFO priority {prio} failed: {err}: {hint}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_bits_become_cpu_numbers() {
        assert_eq!(set_bits(&[0b1011, 1]), [0, 1, 3, 64]);
        assert_eq!(set_bits(&[0]), [0usize; 0]);
    }

    #[test]
    fn own_cpu_is_allowed() {
        let allowed = allowed().unwrap();
        assert!(allowed.contains(&current_cpu()));
        assert!(require_allowed("--cpu", &allowed).is_ok());
        let text = require_allowed("--cpu", &[60_000]).unwrap_err().to_string();
        assert!(text.contains("--cpu names CPU 60000"), "{text}");
    }
}
