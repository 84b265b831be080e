// SPDX-License-Identifier: GPL-2.0-only
//! What outlives a run until the next boot: who loads, and how loads ended.
//!
//! Written by the loader below /run, read by `status` and by whoever else asks;
//! root's own, readable by everybody. A missing or damaged record is no reason
//! not to schedule.

use std::fs;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use serde::Deserialize;
use serde::Serialize;

use crate::save;

/// Where the records are.
pub const DIR: &str = "/run/scx_sibling";
/// As many past exits are kept.
const EXITS: usize = 50;

/// A run: from the start of the loader to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The loader.
    pub pid: u32,
    /// Of scx_sibling.
    pub version: String,
    /// Command line.
    pub args: Vec<String>,
    /// Real user who started it, by number.
    pub uid: u32,
    /// Seconds since the epoch, of the first attach.
    pub since_s: u64,
    /// Loads after the first, each after a CPU came or went.
    pub restarts: u32,
    /// The kernel's count of enabled schedulers since boot, as of the last attach.
    pub enable_seq: u64,
}

/// Why a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Ctrl-C or SIGTERM.
    Asked,
    /// A CPU came or went; loaded again.
    Hotplug,
    /// The kernel ejected it.
    Ejected,
    /// Somebody else removed it.
    Removed,
    /// The loader failed at a load.
    Failed,
    /// The loader was killed, or crashed, without a word.
    Killed,
}

/// The end of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Seconds since the epoch; of a killed loader, when that was noticed.
    pub at_s: u64,
    /// The loader.
    pub pid: u32,
    /// Of scx_sibling.
    pub version: String,
    /// The kind of end.
    pub why: Why,
    /// The kernel's words or the error; may be empty.
    pub text: String,
}

/// The records in a directory.
#[derive(Debug, Clone)]
pub struct Records {
    dir: PathBuf,
}

impl Records {
    /// Those of this machine.
    pub fn host() -> Self {
        Records::at(Path::new(DIR))
    }

    /// Those below `dir`.
    pub fn at(dir: &Path) -> Self {
        Records {
            dir: dir.to_path_buf(),
        }
    }

    fn run_file(&self) -> PathBuf {
        self.dir.join("run.json")
    }

    fn exits_file(&self) -> PathBuf {
        self.dir.join("exits.json")
    }

    /// The run on record; of a loader that was killed too.
    pub fn run(&self) -> Option<Run> {
        serde_json::from_slice(&fs::read(self.run_file()).ok()?).ok()
    }

    /// Past exits, oldest first.
    pub fn exits(&self) -> Vec<Exit> {
        let read = fs::read(self.exits_file()).ok();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Records that `run` is on. A run found on record did not end as it should have.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn begin(&self, run: &Run) -> io::Result<()> {
        self.make_dir()?;
        if let Some(dead) = self.run().filter(|before| before.pid != run.pid) {
            self.end(&dead, Why::Killed, "")?;
        }
        save::replace(&self.run_file(), &serde_json::to_vec(run)?)
    }

    /// Records that a load of `run` ended; the run goes on after a hotplug only.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn end(&self, run: &Run, why: Why, text: &str) -> io::Result<()> {
        let mut exits = self.exits();
        exits.push(Exit {
            at_s: now_s(),
            pid: run.pid,
            version: run.version.clone(),
            why,
            text: text.into(),
        });
        let from = exits.len().saturating_sub(EXITS);
        save::replace(&self.exits_file(), &serde_json::to_vec(&exits[from..])?)?;
        if why != Why::Hotplug {
            fs::remove_file(self.run_file())?;
        }
        Ok(())
    }

    /// Root's own, or others could have put the records there.
    fn make_dir(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o755).create(&self.dir) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
        let meta = fs::symlink_metadata(&self.dir)?;
        // SAFETY: always succeeds.
        let own = meta.uid() == unsafe { libc::geteuid() };
        if !meta.is_dir() || !own || meta.mode() & 0o022 != 0 {
            return Err(io::Error::other("not a directory that only root can write"));
        }
        Ok(())
    }
}

/// Seconds since the epoch.
pub fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pid: u32) -> Run {
        Run {
            pid,
            version: "1".into(),
            ..Run::default()
        }
    }

    fn whys(records: &Records) -> Vec<Why> {
        records.exits().iter().map(|exit| exit.why).collect()
    }

    #[test]
    fn a_run_that_never_ended_was_killed() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::at(&dir.path().join("r"));
        records.begin(&run(1)).unwrap();
        records.end(&run(1), Why::Hotplug, "").unwrap();
        assert_eq!(records.run(), Some(run(1)));
        records.begin(&run(1)).unwrap();
        assert_eq!(whys(&records), [Why::Hotplug]);
        records.begin(&run(2)).unwrap();
        assert_eq!(whys(&records), [Why::Hotplug, Why::Killed]);
        records.end(&run(2), Why::Asked, "").unwrap();
        assert_eq!(records.run(), None);
        assert_eq!(whys(&records).last(), Some(&Why::Asked));
    }

    #[test]
    fn the_list_of_exits_does_not_grow_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::at(dir.path());
        for i in 0..2 * EXITS {
            records.begin(&run(1)).unwrap();
            records.end(&run(1), Why::Asked, &i.to_string()).unwrap();
        }
        let exits = records.exits();
        assert_eq!(exits.len(), EXITS);
        assert_eq!(exits[0].text, EXITS.to_string());
    }

    #[test]
    fn damaged_records_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::at(dir.path());
        for bytes in [&b""[..], b"{", b"\xff\xfe", b"[]", b"{\"pid\":\"x\"}"] {
            fs::write(dir.path().join("run.json"), bytes).unwrap();
            fs::write(dir.path().join("exits.json"), bytes).unwrap();
            assert_eq!(records.run(), None);
            assert!(records.exits().is_empty());
            records.begin(&run(7)).unwrap();
            assert_eq!(records.run(), Some(run(7)));
        }
    }
}
