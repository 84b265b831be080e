// SPDX-License-Identifier: GPL-2.0-only
//! Where the settings of a run come from: defaults, then the file, then `--set`.

use std::fs;
use std::io;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use crate::exit::Failure;
use crate::tunables::config::Config;
use crate::tunables::config::Mistake;
use crate::tunables::Settings;

/// The file that is read where none is named, if it exists.
pub const DEFAULT: &str = "/etc/scx_sibling.toml";

/// A file of settings is a page; more is the wrong file.
const MAX_BYTES: u64 = 1 << 20;

/// The file and the command line's settings.
#[derive(Debug, Clone)]
pub struct Sources {
    file: PathBuf,
    /// It need not exist.
    optional: bool,
    set: Vec<String>,
}

impl Sources {
    /// `file` as named by the user, or the default one; `set` as given to `--set`.
    pub fn new(file: Option<&Path>, set: &[String]) -> Self {
        Sources {
            file: file.unwrap_or(Path::new(DEFAULT)).to_path_buf(),
            optional: file.is_none(),
            set: set.to_vec(),
        }
    }

    /// The settings to start with, and what the file sets of them.
    ///
    /// # Errors
    /// [`Failure::Usage`] with all that is wrong in the file, or the first wrong `--set`.
    pub fn at_start(&self) -> Result<(Settings, Config), Failure> {
        let config = self.read()?;
        let mut settings = Settings::default();
        // Judged together with --set, which may set what a value in the file asks for.
        config.put(&mut settings);
        settings.apply(&self.set).map_err(|error| {
            let whence = if self.set.is_empty() {
                format!("{}: ", self.file.display())
            } else {
                String::new()
            };
            Failure::Usage(format!("{whence}{error}"))
        })?;
        Ok((settings, config))
    }

    /// The file read again for a running scheduler: what it sets is set, what it
    /// set `before` and no longer does goes back to default. What neither names
    /// keeps its live value. Returns what the file sets now.
    ///
    /// # Errors
    /// As [`Self::at_start`]; `live` is as it was.
    pub fn again(&self, before: &Config, live: &mut Settings) -> Result<Config, Failure> {
        let config = self.read()?;
        let mut changed = live.clone();
        changed.copy_all(&before.names(), &Settings::default());
        config.put(&mut changed);
        changed
            .check()
            .map_err(|error| Failure::Usage(format!("{}: {error}", self.file.display())))?;
        *live = changed;
        Ok(config)
    }

    /// The file's path.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn read(&self) -> Result<Config, Failure> {
        match read(&self.file) {
            Err(Problem::Io(e)) if self.optional && e.kind() == io::ErrorKind::NotFound => {
                Ok(Config::default())
            }
            read => read.map_err(|problem| problem.failure(&self.file)),
        }
    }
}

/// Reads and validates a file of settings.
///
/// # Errors
/// [`Failure::Usage`] with all that is wrong in it.
pub fn load(file: &Path) -> Result<Config, Failure> {
    read(file).map_err(|problem| problem.failure(file))
}

enum Problem {
    Io(io::Error),
    NoFile,
    Mistakes(Vec<Mistake>),
}

impl Problem {
    fn failure(self, file: &Path) -> Failure {
        let file = file.display();
        Failure::Usage(match self {
            Problem::Io(error) => format!("reading the settings in {file}: {error}"),
            Problem::NoFile => format!(
                "{file} is no file of settings: not a regular file of at most {MAX_BYTES} bytes"
            ),
            Problem::Mistakes(mistakes) => {
                let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
                format!(
                    "{file}, {}; nothing was set",
                    lines.join(&format!("\n{file}, "))
                )
            }
        })
    }
}

fn read(file: &Path) -> Result<Config, Problem> {
    let handle = fs::File::open(file).map_err(Problem::Io)?;
    let meta = handle.metadata().map_err(Problem::Io)?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err(Problem::NoFile);
    }
    let mut bytes = Vec::new();
    handle
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(Problem::Io)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..good];
        Problem::Mistakes(vec![Mistake {
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            text: "not UTF-8 text".into(),
        }])
    })?;
    Config::parse(&text).map_err(Problem::Mistakes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    fn sources(path: &Path, set: &[&str]) -> Sources {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        Sources::new(Some(path), &set)
    }

    #[test]
    fn the_command_line_goes_before_the_file() {
        let (_dir, path) = file(b"slice_ns = \"1ms\"\nIDLE_CORE = false\n");
        // Together only: the file's slice alone is below slice_min_ns.
        let set = ["slice_min_ns=1ms", "IDLE_CORE"];
        let (settings, _) = sources(&path, &set).at_start().unwrap();
        assert_eq!(settings.text("slice_ns").as_deref(), Some("1000000"));
        assert_eq!(settings.feature("IDLE_CORE"), Some(true));
        let error = sources(&path, &[]).at_start().unwrap_err().to_string();
        assert!(error.contains("settings.toml: slice_min_ns"), "{error}");
    }

    #[test]
    fn a_named_file_must_exist_and_be_one() {
        let (dir, path) = file(b"\xff");
        let error = |path: &Path| sources(path, &[]).at_start().unwrap_err().to_string();
        assert!(error(&dir.path().join("none")).contains("No such file"));
        assert!(error(dir.path()).contains("regular file"));
        assert!(error(&path).contains("line 1: not UTF-8"));
    }

    #[test]
    fn read_again_it_leaves_alone_what_it_never_named() {
        let (_dir, path) = file(b"slice_ns = \"5ms\"\nSYNC = false\n");
        let sources = sources(&path, &[]);
        let (mut live, before) = sources.at_start().unwrap();
        live.apply(&["NO_AVG_CPU", "wake.max_level=2"]).unwrap();
        fs::write(&path, "slice_ns = \"6ms\"\n").unwrap();
        let after = sources.again(&before, &mut live).unwrap();
        assert_eq!(after.names(), ["slice_ns"]);
        let mut expected = Settings::default();
        expected
            .apply(&["slice_ns=6ms", "wake.max_level=2"])
            .unwrap();
        assert_eq!(live, expected);

        fs::write(&path, "slice_ns = \"1us\"\n").unwrap();
        let error = sources.again(&after, &mut live).unwrap_err().to_string();
        assert!(error.contains("line 1: slice_ns=1us"), "{error}");
        assert_eq!(live, expected);
    }
}
