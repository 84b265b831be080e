// SPDX-License-Identifier: GPL-2.0-only
//! A result file: one JSON object a line, each on disk before the next begins.

use std::collections::BTreeMap;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use anyhow::Result;
use serde::Deserialize;
use serde::Serialize;

use super::budget::Budget;
use super::case::Case;
use crate::exit::Failure;

/// Grows when a reader of an older file would misread a newer one.
pub const FORMAT: u32 = 1;

/// What was decided before the first block, and where it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of this program.
    pub version: String,
    /// Seconds since 1970.
    pub at_s: u64,
    /// Decides the order of the arms and the bootstrap's draws.
    pub seed: u64,
    /// When to stop.
    pub budget: Budget,
    /// The arms as typed; the first is the baseline.
    pub arms: Vec<String>,
    /// The loads in their sizes.
    pub cases: Vec<Case>,
    /// Kernel, machine and programs, by name.
    pub environment: BTreeMap<String, String>,
}

/// What a block came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A value for each figure of the case.
    Values(Vec<f64>),
    /// Why there is none.
    Failed(String),
}

/// One run of one case under one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Which round it belongs to.
    pub round: usize,
    /// Its arm, by position.
    pub arm: usize,
    /// Its case, by position.
    pub case: usize,
    /// When it ended, in seconds since 1970.
    pub at_s: u64,
    /// How long the measured run took, in seconds.
    pub wall_s: f64,
    /// Its values or why there are none.
    pub outcome: Outcome,
    /// What else happened on the machine meanwhile, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// What the scheduler counted meanwhile, where it counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Record {
    /// The first line.
    Start(Box<Start>),
    /// A block that has ended.
    Block(Block),
    /// Nothing is left to measure.
    End {
        /// Seconds since 1970.
        at_s: u64,
    },
}

/// A whole result.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcomes {
    /// The first line.
    pub start: Start,
    /// All blocks, in the order they ran.
    pub blocks: Vec<Block>,
    /// Was it measured to its end?
    pub complete: bool,
    /// Bytes of whole lines; beyond them stands what a crash left of a line.
    pub length: u64,
}

impl Outcomes {
    /// Reads what stands in a file. What a crash left of the last line does not count.
    ///
    /// # Errors
    /// A line that is none of ours, by its number; a file of a newer format.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut start = None;
        let mut blocks = vec![];
        let mut complete = false;
        let mut length = 0;
        for (at, line) in text.split_inclusive('\n').enumerate() {
            if !line.ends_with('\n') {
                break;
            }
            let record: Record =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
            length += line.len() as u64;
            match record {
                Record::Start(first) => start = Some(*first),
                Record::Block(block) => blocks.push(block),
                Record::End { .. } => complete = true,
            }
        }
        let start: Start = start.ok_or("it has no first line")?;
        if start.format > FORMAT {
            return Err(format!(
                "it was written by scx_sibling {}, which is newer than this one",
                start.version
            ));
        }
        let known = |b: &Block| b.arm < start.arms.len() && b.case < start.cases.len();
        if !blocks.iter().all(known) {
            return Err("a block is of an arm or load that the first line does not name".into());
        }
        Ok(Outcomes {
            start,
            blocks,
            complete,
            length,
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Failure::Usage`] with what is wrong with it.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Usage(format!("reading {shown}: {error}")))?;
        Outcomes::parse(&text).map_err(|why| {
            let text = format!("{shown} is no result of `scx_sibling bench run`: {why}");
            Failure::Usage(text).into()
        })
    }
}

/// Where records go.
pub trait Store {
    /// Keeps a record; it is safe once this returns.
    ///
    /// # Errors
    /// It is not safe: the disk is full, for one.
    fn append(&mut self, record: &Record) -> io::Result<()>;
}

/// A result file being written.
#[derive(Debug)]
pub struct FileStore {
    file: File,
}

impl FileStore {
    /// A new file, which must not exist yet.
    ///
    /// # Errors
    /// It exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .with_context(|| {
                format!(
                    "making the result file {} (name another with --out)",
                    path.display()
                )
            })?;
        Ok(FileStore { file })
    }

    /// The file of a run to go on with, cut to its whole lines.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn resume(path: &Path, length: u64) -> Result<Self> {
        let open = || {
            let file = OpenOptions::new().append(true).open(path)?;
            file.set_len(length)?;
            Ok::<_, io::Error>(file)
        };
        let file = open().with_context(|| format!("opening {} to go on", path.display()))?;
        Ok(FileStore { file })
    }
}

impl Store for FileStore {
    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Record {
        Record::Start(Box::new(Start {
            format: FORMAT,
            version: "0".into(),
            at_s: 1,
            seed: 2,
            budget: Budget::default(),
            arms: vec!["fair".into()],
            cases: vec![],
            environment: BTreeMap::new(),
        }))
    }

    #[test]
    fn half_a_line_is_lost_and_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r");
        let mut store = FileStore::create(&path).unwrap();
        store.append(&start()).unwrap();
        assert!(FileStore::create(&path).is_err(), "it exists");
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"record\":\"blo")).unwrap();
        let read = Outcomes::read(&path).unwrap();
        assert!(read.blocks.is_empty() && !read.complete);
        let mut store = FileStore::resume(&path, read.length).unwrap();
        store.append(&Record::End { at_s: 5 }).unwrap();
        assert!(Outcomes::read(&path).unwrap().complete);
    }

    #[test]
    fn other_files_are_refused_by_line() {
        let wrong = Outcomes::parse("hello\n").unwrap_err();
        assert!(wrong.starts_with("line 1"), "{wrong}");
        assert!(Outcomes::parse("").unwrap_err().contains("no first line"));
        let newer = serde_json::to_string(&start()).unwrap() + "\n";
        let newer = newer.replace("\"format\":1", "\"format\":99");
        assert!(Outcomes::parse(&newer).unwrap_err().contains("newer"));
    }
}
