// SPDX-License-Identifier: GPL-2.0-only
//! Processes that end with us and whose words are kept.

use std::io;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

/// Most that is kept of what a program prints: its figures stand at the end.
const KEEP: usize = 256 * 1024;

/// The path of an installed program.
pub fn which(name: &str) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    // Where servers live, which users' PATHs lack.
    let mut dirs = path.split(':').chain(["/usr/sbin", "/sbin"]);
    dirs.find_map(|dir| {
        let file = Path::new(dir).join(name);
        let meta = file.metadata().ok()?;
        let runs = meta.is_file() && meta.permissions().mode() & 0o111 != 0;
        runs.then(|| file.display().to_string())
    })
}

/// A child in a process group of its own, so that a Ctrl-C at the terminal reaches
/// us alone and we decide in which order things end.
#[derive(Debug)]
pub struct Process {
    child: Child,
    said: Arc<Mutex<Vec<u8>>>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts `argv`; `at_our_death` is the signal it gets if we are killed.
    ///
    /// # Errors
    /// It is not installed or cannot be started; in words.
    pub fn start(argv: &[String], at_our_death: i32) -> Result<Self, String> {
        let [program, args @ ..] = argv else {
            return Err("no command".into());
        };
        let mut command = Command::new(program);
        command
            .args(args)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // SAFETY: prctl is async-signal-safe and touches no memory of ours.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, at_our_death) != 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{program} is not installed"),
            _ => format!("starting {program}: {error}"),
        })?;
        let said = Arc::new(Mutex::new(vec![]));
        let mut readers = vec![];
        if let Some(stream) = child.stdout.take() {
            readers.push(collect(stream, said.clone()));
        }
        if let Some(stream) = child.stderr.take() {
            readers.push(collect(stream, said.clone()));
        }
        Ok(Process {
            child,
            said,
            readers,
        })
    }

    /// Has it ended, and how? `Ok` for exit status 0.
    pub fn ended(&mut self) -> Option<Result<(), String>> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) if status.success() => Some(Ok(())),
            Ok(Some(status)) => Some(Err(format!("{status}"))),
            Err(error) => Some(Err(format!("waiting for it: {error}"))),
        }
    }

    /// What it has printed; all of it once it has ended.
    pub fn said(&mut self) -> String {
        if self.ended().is_some() {
            // A grandchild may hold the pipe open for ever: no endless join.
            let deadline = Instant::now() + Duration::from_secs(1);
            while !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(5));
            }
        }
        let said = self.said.lock().map(|said| said.clone());
        String::from_utf8_lossy(&said.unwrap_or_default()).into_owned()
    }

    /// Sends a signal to the process alone.
    pub fn signal(&self, signal: i32) {
        self.kill(self.child.id() as i32, signal);
    }

    fn kill(&self, target: i32, signal: i32) {
        // SAFETY: a system call on numbers; the child is not reaped before `ended`.
        unsafe { libc::kill(target, signal) };
    }

    /// Ends it and all its group at once.
    pub fn end(&mut self) {
        // The leader may be gone and reaped while others of its group run on.
        self.kill(-(self.child.id() as i32), libc::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn collect(mut stream: impl Read + Send + 'static, said: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut piece) {
            let Ok(mut said) = said.lock() else { return };
            said.extend_from_slice(&piece[..n]);
            if said.len() > 2 * KEEP {
                let cut = said.len() - KEEP;
                said.drain(..cut);
            }
        }
    })
}
