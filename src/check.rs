// SPDX-License-Identifier: GPL-2.0-only
//! What this machine lacks, in words, before anything is tried.
//!
//! The kernel answers a missing feature with a bare errno at load; the same
//! few causes account for most reports of schedulers that do not start. All
//! files are read below a root so that tests can present any machine.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Result;

use crate::exit::Failure;
use crate::out;

/// One requirement and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What is required.
    pub name: &'static str,
    /// `None`: fulfilled; otherwise what is wrong and what to do.
    pub problem: Option<Problem>,
}

/// An unfulfilled requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The machine lacks it.
    Machine(String),
    /// The user lacks it.
    Privileges(String),
    /// The named scheduler is loaded.
    OtherScheduler(String),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Machine(text) => Failure::Machine(text),
            Problem::Privileges(text) => Failure::Privileges(text),
            Problem::OtherScheduler(name) => Failure::OtherScheduler(name),
        }
    }
}

/// Where the checks look; `/` outside tests.
pub struct Machine {
    root: PathBuf,
}

/// Capabilities by bit in `CapEff`, see capabilities(7). CAP_SYS_ADMIN covers
/// the others on kernels of all ages.
const CAP_SYS_ADMIN: u64 = 1 << 21;
const CAP_PERFMON: u64 = 1 << 38;
const CAP_BPF: u64 = 1 << 39;

impl Machine {
    /// The running machine.
    pub fn host() -> Self {
        Machine::at(Path::new("/"))
    }

    /// A machine whose `/proc` and `/sys` are below `root`.
    pub fn at(root: &Path) -> Self {
        Machine {
            root: root.to_path_buf(),
        }
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path))
            .ok()
            .map(|text| text.trim().to_string())
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// All requirements, most basic first.
    pub fn items(&self) -> Vec<Item> {
        type Check = fn(&Machine) -> Option<Problem>;
        let checks: [(&'static str, Check); 7] = [
            ("kernel with sched_ext", Machine::sched_ext),
            ("kernel type information (BTF)", Machine::btf),
            ("BPF just-in-time compiler", Machine::jit),
            ("function tracer", Machine::ftrace),
            ("no isolcpus= domain isolation", Machine::isolcpus),
            ("privileges to load BPF programs", Machine::privileges),
            (
                "no other sched_ext scheduler loaded",
                Machine::other_scheduler,
            ),
        ];
        checks
            .iter()
            .map(|(name, check)| Item {
                name,
                problem: check(self),
            })
            .collect()
    }

    /// The first problem as a failure with its exit code.
    ///
    /// # Errors
    /// The first unfulfilled requirement.
    pub fn require(&self) -> Result<(), Failure> {
        match self.items().into_iter().find_map(|item| item.problem) {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }

    fn sched_ext(&self) -> Option<Problem> {
        if self.exists("sys/kernel/sched_ext/state") {
            return None;
        }
        let release = self
            .read("proc/sys/kernel/osrelease")
            .unwrap_or_else(|| "unknown".into());
        Some(Problem::Machine(format!(
            "the running kernel ({release}) has no sched_ext: /sys/kernel/sched_ext is missing; \
             boot a kernel from 6.12 on built with CONFIG_SCHED_CLASS_EXT=y"
        )))
    }

    fn btf(&self) -> Option<Problem> {
        if self.exists("sys/kernel/btf/vmlinux") {
            return None;
        }
        Some(Problem::Machine(
            "/sys/kernel/btf/vmlinux is missing: the kernel has no BTF; \
             boot one built with CONFIG_DEBUG_INFO_BTF=y"
                .into(),
        ))
    }

    fn jit(&self) -> Option<Problem> {
        // Absent where the kernel has no BPF JIT switch at all, CONFIG_BPF_JIT_ALWAYS_ON included.
        if self.read("proc/sys/net/core/bpf_jit_enable").as_deref() != Some("0") {
            return None;
        }
        Some(Problem::Machine(
            "the BPF JIT is off and sched_ext needs it; \
             turn it on with: sysctl net.core.bpf_jit_enable=1"
                .into(),
        ))
    }

    fn ftrace(&self) -> Option<Problem> {
        if self.exists("proc/sys/kernel/ftrace_enabled") {
            return None;
        }
        Some(Problem::Machine(
            "the kernel has no function tracer, which BPF schedulers attach through; \
             boot one built with CONFIG_FUNCTION_TRACER=y"
                .into(),
        ))
    }

    /// The kernel refuses every sched_ext scheduler then, with a bare EINVAL. CPUs isolated by
    /// cpuset partitions are fine.
    fn isolcpus(&self) -> Option<Problem> {
        let cmdline = self.read("proc/cmdline")?;
        let isolates = cmdline
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("isolcpus="))
            .any(|list| {
                let flags: Vec<&str> = list
                    .split(',')
                    .take_while(|item| !item.starts_with(|c: char| c.is_ascii_digit()))
                    .collect();
                flags.is_empty() || flags.contains(&"domain")
            });
        isolates.then(|| {
            Problem::Machine(
                "the kernel was booted with isolcpus=, which sched_ext does not work with; \
                 boot without it and isolate CPUs with cpuset partitions"
                    .into(),
            )
        })
    }

    fn privileges(&self) -> Option<Problem> {
        let status = self.read("proc/self/status").unwrap_or_default();
        let caps = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))
            .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
            .unwrap_or(0);
        if caps & CAP_SYS_ADMIN != 0 || caps & (CAP_BPF | CAP_PERFMON) == CAP_BPF | CAP_PERFMON {
            return self.lockdown();
        }
        Some(Problem::Privileges(
            "loading a scheduler needs root, or CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN); \
             run it with sudo"
                .into(),
        ))
    }

    fn lockdown(&self) -> Option<Problem> {
        let state = self.read("sys/kernel/security/lockdown")?;
        if !state.contains("[confidentiality]") {
            return None;
        }
        Some(Problem::Privileges(
            "the kernel is locked down (confidentiality), which forbids BPF programs that read \
             kernel memory; boot with lockdown=integrity or none"
                .into(),
        ))
    }

    fn other_scheduler(&self) -> Option<Problem> {
        if self.read("sys/kernel/sched_ext/state").as_deref() != Some("enabled") {
            return None;
        }
        let name = self
            .read("sys/kernel/sched_ext/root/ops")
            .unwrap_or_else(|| "unknown".into());
        Some(Problem::OtherScheduler(name))
    }
}

/// Prints every requirement and returns the first problem, for the exit code.
///
/// # Errors
/// The first unfulfilled requirement, after all have been printed; or standard
/// output cannot be written.
pub fn run(machine: &Machine) -> Result<()> {
    let items = machine.items();
    let mut missing = 0;
    for item in &items {
        let line = match &item.problem {
            None => format!("ok       {}\n", item.name),
            Some(problem) => {
                missing += 1;
                format!(
                    "missing  {}: {}\n",
                    item.name,
                    Failure::from(problem.clone())
                )
            }
        };
        out::print(line)?;
    }
    match items.into_iter().find_map(|item| item.problem) {
        Some(problem) => {
            let text = format!("{missing} missing, see above");
            Err(match Failure::from(problem) {
                Failure::Machine(_) => Failure::Machine(text),
                Failure::Privileges(_) => Failure::Privileges(text),
                other => other,
            }
            .into())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that has everything; `change` then breaks it.
    fn machine(change: impl Fn(&Path)) -> Result<(), Failure> {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("sys/kernel/sched_ext/state", "disabled\n");
        put("sys/kernel/btf/vmlinux", "");
        put("proc/sys/net/core/bpf_jit_enable", "1\n");
        put("proc/sys/kernel/ftrace_enabled", "1\n");
        put("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
        change(dir.path());
        Machine::at(dir.path()).require()
    }

    fn code(change: impl Fn(&Path)) -> (u8, String) {
        let failure = machine(change).unwrap_err();
        (failure.code(), failure.to_string())
    }

    #[test]
    fn a_complete_machine_passes() {
        assert!(machine(|_| ()).is_ok());
    }

    #[test]
    fn each_missing_thing_is_named() {
        let remove =
            |path: &'static str| move |root: &Path| fs::remove_file(root.join(path)).unwrap();
        for (path, word) in [
            ("sys/kernel/sched_ext/state", "CONFIG_SCHED_CLASS_EXT"),
            ("sys/kernel/btf/vmlinux", "BTF"),
            ("proc/sys/kernel/ftrace_enabled", "CONFIG_FUNCTION_TRACER"),
        ] {
            let (code, text) = code(remove(path));
            assert_eq!(code, 3, "{path}");
            assert!(text.contains(word), "{text}");
        }
    }

    #[test]
    fn jit_off() {
        let (code, text) =
            code(|root| fs::write(root.join("proc/sys/net/core/bpf_jit_enable"), "0\n").unwrap());
        assert_eq!(code, 3);
        assert!(text.contains("JIT"), "{text}");
    }

    #[test]
    fn no_capabilities() {
        let (code, text) =
            code(|root| fs::write(root.join("proc/self/status"), "CapEff:\t0\n").unwrap());
        assert_eq!(code, 4);
        assert!(text.contains("CAP_BPF"), "{text}");
    }

    #[test]
    fn another_scheduler_is_named() {
        let (code, text) = code(|root| {
            fs::write(root.join("sys/kernel/sched_ext/state"), "enabled\n").unwrap();
            fs::create_dir_all(root.join("sys/kernel/sched_ext/root")).unwrap();
            fs::write(root.join("sys/kernel/sched_ext/root/ops"), "other_1.0\n").unwrap();
        });
        assert_eq!(code, 5);
        assert!(text.contains("other_1.0"), "{text}");
    }

    #[test]
    fn isolcpus_is_refused_unless_it_leaves_the_domains_alone() {
        for (cmdline, good) in [
            ("quiet isolcpus=1-3", false),
            ("isolcpus=domain,managed_irq,1", false),
            ("isolcpus=nohz,1-3 nohz_full=1-3", true),
            ("nohz_full=1-3", true),
        ] {
            let result = machine(|root| fs::write(root.join("proc/cmdline"), cmdline).unwrap());
            assert_eq!(result.is_ok(), good, "{cmdline}: {result:?}");
        }
    }
}
