// SPDX-License-Identifier: GPL-2.0-only
//! Boots a virtual machine through `./x vm` and runs one of the guest scripts in it.

use std::path::Path;
use std::process::Command;
use std::sync::Condvar;
use std::sync::Mutex;
use std::time::Instant;

use crate::output::Output;

/// Machines at the same time: each is a few CPUs' worth of emulation.
const MACHINES: usize = 2;
/// Real seconds a machine may take. Many times what the longest takes on an idle host.
const TIMEOUT: &str = "900";

/// A machine to boot.
pub struct Machine {
    options: Vec<String>,
    fine: bool,
}

impl Machine {
    /// The default machine: 2 LLCs of 2 cores of 2 threads, the newest kernel.
    pub fn new() -> Self {
        Self {
            options: vec![],
            fine: false,
        }
    }

    /// The default machine with time measured in instructions.
    pub fn counting() -> Self {
        Self::new().option("--icount", &[])
    }

    /// The same, with CPUs that take short turns where that can be had.
    ///
    /// One host thread runs all CPUs in turn. Before QEMU 8.1 a turn lasts until the next timer is
    /// due, 4 ms as a rule, and with 8 busy CPUs an interrupt may wait for 32: waits and placements
    /// are then the emulator's, of whatever scheduler. Later versions divide the 4 ms.
    pub fn fine_counting() -> Self {
        Self {
            fine: true,
            ..Self::counting()
        }
    }

    /// Adds an option of `./x vm` with its values.
    pub fn option(mut self, name: &str, values: &[&str]) -> Self {
        self.options.push(name.to_string());
        self.options
            .extend(values.iter().map(|value| value.to_string()));
        self
    }

    /// Gives the machine other CPUs, in QEMU's terms.
    pub fn smp(self, cpus: &str) -> Self {
        self.option("--smp", &[cpus])
    }

    /// 4 LLCs of 2 cores of 2 threads on 2 nodes.
    pub fn four_llcs(self) -> Self {
        self.smp("16,sockets=4,cores=2,threads=2")
            .option("--nodes", &["2"])
    }

    /// The path of an example's binary, which cargo builds along with the tests.
    pub fn example(name: &str) -> String {
        let test = std::env::current_exe().expect("own path");
        let profile = test
            .parent()
            .and_then(Path::parent)
            .expect("target directory");
        let path = profile.join("examples").join(name);
        assert!(
            path.exists(),
            "{} is not built: cargo build --examples",
            path.display()
        );
        path.display().to_string()
    }

    /// Boots, runs `guest/SCRIPT.sh ARGS` and returns what it printed.
    ///
    /// Panics with everything that is known when the script or the machine fails.
    #[track_caller]
    pub fn run(self, script: &str, args: &[&str]) -> Output {
        let _turn = Turn::take();
        let start = Instant::now();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let result = Command::new(root.join("x"))
            .args(["vm", "--timeout", TIMEOUT])
            .args([
                "--copy",
                &format!("{}:/vmtest", root.join("tests/vm/guest").display()),
            ])
            .args(&self.options)
            .args(["--", "sh", &format!("/vmtest/{script}.sh")])
            .args(args)
            .env(
                "PATH",
                if self.fine {
                    path_with_new_qemu(root)
                } else {
                    path()
                },
            )
            .output()
            .expect("starting ./x");
        let stdout = String::from_utf8_lossy(&result.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&result.stderr).into_owned();
        println!(
            "{script} {}: {:.0} s",
            self.options.join(" "),
            start.elapsed().as_secs_f64()
        );
        assert!(
            result.status.success(),
            "{script}.sh {args:?} on {:?}: {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}",
            self.options,
            result.status
        );
        Output::parse(&stdout)
    }
}

fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// PATH, with the QEMU in front that is good enough for CPUs in parallel.
fn path_with_new_qemu(root: &Path) -> String {
    let result = Command::new(root.join("scripts/qemu.sh"))
        .output()
        .expect("starting qemu.sh");
    let program = String::from_utf8_lossy(&result.stdout).trim().to_string();
    match Path::new(&program).parent() {
        Some(dir) if dir.is_absolute() => format!("{}:{}", dir.display(), path()),
        _ => path(),
    }
}

/// The right to boot a machine; given back when dropped.
struct Turn;

static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

impl Turn {
    fn take() -> Self {
        let running = RUNNING.lock().unwrap();
        let mut running = ENDED
            .wait_while(running, |running| *running >= MACHINES)
            .unwrap();
        *running += 1;
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap() -= 1;
        ENDED.notify_one();
    }
}
