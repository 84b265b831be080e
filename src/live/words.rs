// SPDX-License-Identifier: GPL-2.0-only
//! The live tunables: `struct tunables` of `src/bpf/intf.h`, mapped.
//!
//! A store to a word is in force with the next callback that reads it, on any
//! CPU. Several words are several stores: a callback in between sees some of
//! them, each one whole.

use std::fs;
use std::mem::offset_of;
use std::mem::size_of;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use anyhow::Context;
use anyhow::Result;
use libbpf_rs::MapHandle;
use libbpf_rs::MapInfo;
use memmap2::MmapOptions;
use memmap2::MmapRaw;

use super::pins;
use crate::exit::Failure;
use crate::skel::types;
use crate::tunables;
use crate::tunables::Settings;

const ROOT_OPS: &str = "/sys/kernel/sched_ext/root/ops";
/// What the kernel's name for the loaded scheduler begins with while it is this one.
pub const OPS_NAME: &str = "sibling";
const HEADER: usize = offset_of!(types::tunables, v);

/// The tunables of a loaded scheduler.
#[derive(Debug)]
pub struct Words {
    map: MmapRaw,
}

impl Words {
    /// Maps the section that the loaded BPF object has its tunables in.
    ///
    /// # Errors
    /// The map cannot be mapped.
    pub fn map(fd: BorrowedFd<'_>) -> Result<Self> {
        let map = MmapOptions::new()
            .len(size_of::<types::tunables>())
            .map_raw(fd.as_raw_fd())
            .context("mapping the tunables")?;
        Ok(Words { map })
    }

    /// Those of the running scheduler, from their pin.
    ///
    /// # Errors
    /// [`Failure::Privileges`], [`Failure::NotRunning`], or
    /// [`Failure::Version`] where the words are of another table.
    pub fn running() -> Result<Self> {
        let pin = pins::path(pins::TUNABLES);
        let map = MapHandle::from_pinned_path(&pin).map_err(|error| unreachable_pin(&error))?;
        let info = MapInfo::new(map.as_fd()).context("asking for the tunables' size")?;
        if (info.info.value_size as usize) < HEADER {
            return Err(other_version(0).into());
        }
        // A section is mapped in whole pages, so this is safe to look at whatever its length.
        let words = Words::map(map.as_fd())?;
        if words.table() != tunables::table_id() {
            return Err(other_version(words.pid()).into());
        }
        if !words.scheduling() && !is_loader(words.pid()) {
            let text =
                "scx_sibling is not running (its loader died without a word); start it first";
            return Err(Failure::NotRunning(text.into()).into());
        }
        Ok(words)
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: within the mapping, whose length is that of the struct; aligned, as the mapping is
        // to a page and all members are words. Others write it too, so only as an atomic.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(offset).cast()) }
    }

    fn table(&self) -> u64 {
        self.word(offset_of!(types::tunables, table))
            .load(Ordering::Relaxed)
    }

    /// The process that loaded the scheduler.
    pub fn pid(&self) -> u64 {
        self.word(offset_of!(types::tunables, pid))
            .load(Ordering::Relaxed)
    }

    /// Does its scheduler schedule? Not between the two loads around a hotplug.
    pub fn scheduling(&self) -> bool {
        let state = self.word(offset_of!(types::tunables, state));
        state.load(Ordering::Relaxed) == u64::from(types::run_state::RUN_SCHEDULING.0)
    }

    /// Does it schedule, or will it again after a hotplug?
    pub fn alive(&self) -> bool {
        self.scheduling() || is_loader(self.pid())
    }

    /// The values as they are.
    pub fn read(&self) -> Settings {
        let words = (0..types::tun_id::TUN_NR.0 as usize)
            .map(|id| self.word(HEADER + id * 8).load(Ordering::Relaxed))
            .collect();
        Settings { words }
    }

    /// Applies `change` to the values as they are: what it refuses changes nothing.
    /// Other writers wait meanwhile.
    ///
    /// # Errors
    /// `change` failed; or the lock cannot be had.
    pub fn update(&self, change: impl FnOnce(&mut Settings) -> Result<()>) -> Result<()> {
        let _turn = pins::lock()?;
        let before = self.read();
        let mut after = before.clone();
        change(&mut after)?;
        for (id, (old, new)) in before.words.iter().zip(&after.words).enumerate() {
            if old != new {
                self.word(HEADER + id * 8).store(*new, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// Is the process `pid` a loader of this scheduler?
pub fn is_loader(pid: u64) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == "scx_sibling")
}

fn other_version(pid: u64) -> Failure {
    let whose = if pid != 0 && is_loader(pid) {
        format!("use the running one's own: /proc/{pid}/exe")
    } else {
        "restart it with this version".into()
    };
    Failure::Version(format!(
        "the running scx_sibling has other tunables than this one ({}); {whose}",
        env!("CARGO_PKG_VERSION")
    ))
}

fn unreachable_pin(error: &libbpf_rs::Error) -> anyhow::Error {
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => {
            let text = "the live tunables are for root only; use sudo";
            return Failure::Privileges(text.into()).into();
        }
        libbpf_rs::ErrorKind::NotFound => {}
        _ => {
            let path = pins::path(pins::TUNABLES);
            return anyhow::anyhow!("opening the pinned map {}: {error}", path.display());
        }
    }
    Failure::NotRunning(match running_ops() {
        None => "scx_sibling is not running; start it first".into(),
        Some(name) if name.starts_with(OPS_NAME) => format!(
            "scx_sibling runs, but without its tunables pinned in {}; it has said why at its start",
            pins::DIR
        ),
        Some(name) => format!("scx_sibling is not running, another scheduler is: {name}"),
    })
    .into()
}

/// The loaded sched_ext scheduler's name, if there is one.
pub fn running_ops() -> Option<String> {
    let name = fs::read_to_string(ROOT_OPS).ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_string())
}
