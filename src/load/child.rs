// SPDX-License-Identifier: GPL-2.0-only
//! The processes of a load: forked, pinned, started together, awaited, killed.

use super::affinity;
use super::clock::now_ns;
use super::shared::{futex_wait, futex_wake, os_error, Shared};
use anyhow::{anyhow, bail, Context, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8};
use std::time::Duration;

/// Bytes kept of a child's error text.
const ERROR_BYTES: usize = 512;
/// Seconds after which a child ends itself should the parent be unable to.
const LAST_RESORT_S: u64 = 30;
/// How often the parent looks for dead children while it waits for the others.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How a child is set up before its work starts.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Allowed CPUs; empty leaves the mask alone.
    pub cpus: Vec<usize>,
    pub nice: Option<i32>,
}

impl Setup {
    /// Allowed on `cpus` only.
    pub fn on(cpus: &[usize]) -> Self {
        Self {
            cpus: cpus.to_vec(),
            nice: None,
        }
    }

    fn apply(&self) -> Result<()> {
        if !self.cpus.is_empty() {
            affinity::pin_self(&self.cpus)?;
        }
        self.nice.map_or(Ok(()), affinity::set_nice)
    }
}

/// Holds all children back until the last one is set up.
pub struct Gate {
    ready: Shared<AtomicU32>,
    open: Shared<AtomicU32>,
    end_ns: Shared<AtomicU64>,
}

impl Gate {
    fn new() -> Result<Self> {
        Ok(Self {
            ready: Shared::new(1)?,
            open: Shared::new(1)?,
            end_ns: Shared::new(1)?,
        })
    }

    /// In a child: waits for the start; returns the time at which to stop.
    fn pass(&self) -> u64 {
        self.ready[0].fetch_add(1, SeqCst);
        futex_wake(&self.ready[0], 1);
        while self.open[0].load(Acquire) == 0 {
            futex_wait(&self.open[0], 0, None);
        }
        self.end_ns[0].load(Relaxed)
    }
}

struct Child {
    pid: i32,
    name: &'static str,
    /// Readable as soon as the process has ended.
    pidfd: OwnedFd,
    reaped: bool,
}

/// The children of one load. Dropping the set kills and reaps what is left of it.
pub struct Children {
    list: Vec<Child>,
    errors: Shared<AtomicU8>,
    gate: Gate,
    run: Duration,
    grace: Duration,
}

impl Children {
    /// Room for `max` children that run for `run` (zero where rounds are counted
    /// instead) and are given up `grace` later.
    pub fn new(max: usize, run: Duration, grace: Duration) -> Result<Self> {
        let errors = Shared::new(max * ERROR_BYTES)?;
        Ok(Self {
            list: Vec::with_capacity(max),
            errors,
            gate: Gate::new()?,
            run,
            grace,
        })
    }

    /// Forks a child that sets itself up, waits for [`Children::start`] and runs
    /// `body` with the time (CLOCK_MONOTONIC, ns) at which to stop.
    pub fn spawn<F>(&mut self, name: &'static str, setup: &Setup, body: F) -> Result<i32>
    where
        F: FnOnce(u64) -> Result<()>,
    {
        let slot = self.list.len() * ERROR_BYTES;
        if slot + ERROR_BYTES > self.errors.len() {
            bail!("process {name} is one more than the load made room for: report this as a bug");
        }
        let parent = std::process::id();
        // SAFETY: the child runs `child_main` on its own copy of memory and leaves it by
        // _exit only, so it never returns into the parent's frames.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let failed = self.child_main(name, parent, setup, body, slot);
            // SAFETY: ends this process at once, without the parent's exit handlers.
            unsafe { libc::_exit(failed) };
        }
        if pid < 0 {
            bail!(
                "forking process {name} failed: {}: ask for fewer processes, or raise `ulimit -u` or the cgroup's pids.max",
                os_error()
            );
        }
        match pidfd_open(pid) {
            Ok(pidfd) => self.list.push(Child {
                pid,
                name,
                pidfd,
                reaped: false,
            }),
            Err(err) => {
                kill_and_reap(pid);
                return Err(err);
            }
        }
        Ok(pid)
    }

    /// Everything a child does; returns its exit status.
    fn child_main<F>(&self, name: &str, parent: u32, setup: &Setup, body: F, slot: usize) -> i32
    where
        F: FnOnce(u64) -> Result<()>,
    {
        let work = || {
            let limit = (self.run + self.grace).as_secs() + LAST_RESORT_S;
            become_child(name, parent, limit)?;
            setup.apply()?;
            body(self.gate.pass())
        };
        let err = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => return 0,
            Ok(Err(err)) => format!("{err:#}"),
            Err(_) => "it panicked: report this as a bug".into(),
        };
        let room = &self.errors[slot..slot + ERROR_BYTES - 1];
        for (to, from) in room.iter().zip(err.bytes()) {
            to.store(from, Relaxed);
        }
        1
    }

    /// Waits until all children are set up, then lets them go. Returns the start time.
    pub fn start(&mut self) -> Result<u64> {
        let give_up = now_ns() + self.grace.as_nanos() as u64;
        loop {
            let ready = self.gate.ready[0].load(SeqCst);
            if ready as usize >= self.list.len() {
                break;
            }
            futex_wait(&self.gate.ready[0], ready, Some(LOOK_AGAIN));
            self.reap_ended(Duration::ZERO)?;
            if now_ns() > give_up {
                bail!(
                    "only {ready} of {} processes got a CPU within {:?}: the machine is starved, \
                     ask for fewer processes or a longer --timeout",
                    self.list.len(),
                    self.grace
                );
            }
        }
        let start = now_ns();
        self.gate.end_ns[0].store(start + self.run.as_nanos() as u64, Relaxed);
        self.gate.open[0].store(1, Release);
        futex_wake(&self.gate.open[0], i32::MAX as u32);
        Ok(start)
    }

    /// Sleeps until all children have ended well.
    pub fn finish(&mut self) -> Result<()> {
        let end = now_ns() + (self.run + self.grace).as_nanos() as u64;
        while let Some(name) = self.list.iter().find(|c| !c.reaped).map(|c| c.name) {
            let left = end.saturating_sub(now_ns());
            if left == 0 {
                bail!(
                    "process {name} did not finish within {:?}: it is starved or its partner is; \
                     look at what else runs on its CPU, or give a longer --timeout",
                    self.run + self.grace
                );
            }
            self.reap_ended(Duration::from_nanos(left))?;
        }
        Ok(())
    }

    /// Waits up to `timeout` for a child to end and reaps those that have.
    pub fn reap_ended(&mut self, timeout: Duration) -> Result<()> {
        let live: Vec<usize> = (0..self.list.len())
            .filter(|&i| !self.list[i].reaped)
            .collect();
        let mut fds: Vec<libc::pollfd> = live
            .iter()
            .map(|&i| libc::pollfd {
                fd: self.list[i].pidfd.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        let ms = timeout.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32;
        // SAFETY: `fds` is an array of that many valid pollfd structures.
        let rc = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, ms) };
        if rc < 0 && os_error().kind() != std::io::ErrorKind::Interrupted {
            bail!(
                "waiting for the load's processes failed: {}: raise `ulimit -n`",
                os_error()
            );
        }
        for (&i, fd) in live.iter().zip(&fds) {
            if rc > 0 && fd.revents != 0 {
                self.list[i].reaped = true;
                check_exit(&self.list[i], &self.error_text(i))?;
            }
        }
        Ok(())
    }

    fn error_text(&self, child: usize) -> String {
        let bytes = &self.errors[child * ERROR_BYTES..(child + 1) * ERROR_BYTES];
        let text: Vec<u8> = bytes
            .iter()
            .map(|b| b.load(Relaxed))
            .take_while(|&b| b != 0)
            .collect();
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in self.list.iter().filter(|c| !c.reaped) {
            kill_and_reap(child.pid);
        }
    }
}

/// Ties the calling child to its parent: it dies when the parent does, or after
/// `limit_s` seconds, and ends on SIGINT and SIGTERM whatever the parent does on them.
fn become_child(name: &str, parent: u32, limit_s: u64) -> Result<()> {
    // SAFETY: prctl, signal, getppid and alarm with plain numbers and default actions touch
    // nothing but the state of this process.
    let orphan = unsafe {
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGALRM,
            libc::SIGCHLD,
            libc::SIGPIPE,
        ] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let rc = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        libc::alarm(u32::try_from(limit_s).unwrap_or(u32::MAX));
        rc != 0 || libc::getppid() as u32 != parent
    };
    if orphan {
        bail!(
            "tying a process to its parent failed: {}: the parent has ended already",
            os_error()
        );
    }
    let name = std::ffi::CString::new(name).context("a process name holds a zero byte")?;
    // SAFETY: PR_SET_NAME reads a zero-terminated string that lives through the call.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    Ok(())
}

fn pidfd_open(pid: i32) -> Result<OwnedFd> {
    // SAFETY: takes two numbers and returns a new descriptor or -1.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        bail!(
            "opening a handle for process {pid} failed: {}: this needs Linux 5.3 or later and enough `ulimit -n`",
            os_error()
        );
    }
    // SAFETY: `fd` is a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Waits for `pid` and returns its wait status.
pub fn wait_for(pid: i32) -> Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a valid place to write to.
        if unsafe { libc::waitpid(pid, &mut status, 0) } == pid {
            return Ok(status);
        }
        let err = os_error();
        if err.kind() != std::io::ErrorKind::Interrupted {
            return Err(anyhow!(
                "waiting for process {pid} failed: {err}: start the load from a shell that does not ignore SIGCHLD"
            ));
        }
    }
}

fn check_exit(child: &Child, error: &str) -> Result<()> {
    let status = wait_for(child.pid)?;
    if libc::WIFSIGNALED(status) {
        bail!(
            "process {} was killed by signal {}: something outside the load did that, \
             look at the kernel log for the out-of-memory killer",
            child.name,
            libc::WTERMSIG(status)
        );
    }
    match libc::WEXITSTATUS(status) {
        0 => Ok(()),
        _ if !error.is_empty() => bail!("process {}: {error}", child.name),
        code => bail!(
            "process {} ended with status {code}: report this as a bug",
            child.name
        ),
    }
}

fn kill_and_reap(pid: i32) {
    // SAFETY: `pid` is our own child and not reaped yet, so the number is still its own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    let _ = wait_for(pid);
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
