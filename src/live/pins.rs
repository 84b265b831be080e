// SPDX-License-Identifier: GPL-2.0-only
//! Names below /sys/fs/bpf for the maps of the running scheduler.
//!
//! The directory belongs to root and only root can write it, so that nothing
//! in it was put there by anybody else. A pin outlives its loader; the words in
//! the map say whether its scheduler does (see [`super::words`]).

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::Permissions;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use anyhow::bail;
use anyhow::Context;
use anyhow::Result;
use libbpf_rs::MapHandle;
use libbpf_rs::MapInfo;

/// Where BPF file systems are mounted.
const BPFFS: &str = "/sys/fs/bpf";
/// Where this scheduler's maps are pinned.
pub const DIR: &str = "/sys/fs/bpf/scx_sibling";
/// The pin of the tunables.
pub const TUNABLES: &str = "tunables";

/// `f_type` of a BPF file system.
const BPF_FS_MAGIC: i64 = 0xcafe_4a11;

/// The path of the pin `name`.
pub fn path(name: &str) -> PathBuf {
    Path::new(DIR).join(name)
}

/// A pin that is taken back when dropped, unless another run has replaced it.
#[derive(Debug)]
pub struct Pin {
    path: PathBuf,
    map_id: u32,
}

impl Pin {
    /// Pins the map `fd` as `name` with the permissions `mode`, in place of a
    /// leftover of that name. At no time is there no pin or half of one.
    ///
    /// # Errors
    /// There is no BPF file system, or the directory is not root's own.
    pub fn new(fd: BorrowedFd<'_>, name: &str, mode: u32) -> Result<Self> {
        make_dir()?;
        let _turn = lock()?;
        let map_id = MapInfo::new(fd).context("asking for the map's id")?.info.id;
        let target = path(name);
        // The file system takes no dot in a name.
        let fresh = path(&format!("{name}_new"));
        let _ = fs::remove_file(&fresh);
        pin(fd, &fresh)
            .and_then(|()| fs::set_permissions(&fresh, Permissions::from_mode(mode)))
            .and_then(|()| fs::rename(&fresh, &target))
            .with_context(|| format!("pinning a map as {}", target.display()))?;
        Ok(Pin {
            path: target,
            map_id,
        })
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let _turn = lock();
        let ours = MapHandle::from_pinned_path(&self.path)
            .and_then(|map| MapInfo::new(map.as_fd()))
            .is_ok_and(|info| info.info.id == self.map_id);
        if ours {
            // Nobody is left to act on a failure; a leftover says of itself that it is one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn pin(fd: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: a live descriptor and a string that ends in zero.
    let ret = unsafe { libbpf_rs::libbpf_sys::bpf_obj_pin(fd.as_raw_fd(), path.as_ptr()) };
    if ret < 0 {
        return Err(io::Error::from_raw_os_error(-ret));
    }
    Ok(())
}

/// The pins' directory, made if need be: root's own and closed to others.
fn make_dir() -> Result<()> {
    if !is_bpffs(Path::new(BPFFS))? {
        bail!("{BPFFS} is no BPF file system; mount it with: mount -t bpf bpf {BPFFS}");
    }
    match DirBuilder::new().mode(0o700).create(DIR) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
            return Err(e).with_context(|| format!("making {DIR}"))
        }
        _ => {}
    }
    let meta = fs::symlink_metadata(DIR).with_context(|| format!("looking at {DIR}"))?;
    if !meta.is_dir() || meta.uid() != 0 || meta.mode() & 0o022 != 0 {
        bail!("{DIR} is not a directory that only root can write; remove it and start again");
    }
    Ok(())
}

fn is_bpffs(dir: &Path) -> Result<bool> {
    let path = std::ffi::CString::new(dir.as_os_str().as_encoded_bytes())?;
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: a string that ends in zero, and memory for one statfs.
    if unsafe { libc::statfs(path.as_ptr(), stat.as_mut_ptr()) } != 0 {
        return Ok(false);
    }
    // SAFETY: the call has filled it in.
    let kind = unsafe { stat.assume_init() }.f_type;
    #[allow(clippy::unnecessary_cast)]
    Ok(kind as i64 == BPF_FS_MAGIC)
}

/// The right to change pins or tunables; given back when dropped.
#[derive(Debug)]
pub struct Turn(#[allow(dead_code)] File);

/// Waits for the turn of whoever changes something: two writers would each
/// validate against values that the other is about to change.
///
/// # Errors
/// There is no directory of pins, or it may not be opened.
pub fn lock() -> Result<Turn> {
    let dir = File::open(DIR).with_context(|| format!("opening {DIR}"))?;
    loop {
        // SAFETY: a live descriptor.
        if unsafe { libc::flock(dir.as_raw_fd(), libc::LOCK_EX) } == 0 {
            return Ok(Turn(dir));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(anyhow!(error)).with_context(|| format!("locking {DIR}"));
        }
    }
}
