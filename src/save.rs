// SPDX-License-Identifier: GPL-2.0-only
//! Writing a file so that it is the old one or the new one, never half of one.

use std::fs;
use std::fs::OpenOptions;
use std::io;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Replaces `file` by one that holds `bytes`, readable by everybody. A crash or a
/// full disk leaves the old one; a symbolic link is replaced, not followed.
///
/// # Errors
/// The file is as it was.
pub fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = file
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    // A device would be replaced, too: /dev/null by a file.
    if fs::metadata(file).is_ok_and(|meta| !meta.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "there is something that is no regular file",
        ));
    }
    let mut fresh = name.to_os_string();
    fresh.push(format!(".{}.new", std::process::id()));
    let fresh = file.with_file_name(fresh);
    let written = write_new(&fresh, bytes).and_then(|()| fs::rename(&fresh, file));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)?;
    out.write_all(bytes)?;
    // Some file systems notice only here that there is no room.
    out.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        replace(&file, b"old").unwrap();
        replace(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(replace(dir.path(), b"x").is_err());
        assert!(replace(Path::new("/dev/full"), b"x").is_err());
        assert!(replace(&dir.path().join("none/f"), b"x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
