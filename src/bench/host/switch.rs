// SPDX-License-Identifier: GPL-2.0-only
//! Changes the kernel's scheduler by starting and stopping loaders.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use super::counted::Counted;
use super::process::Process;
use crate::bench::arm::Arm;
use crate::bench::case::tail;
use crate::bench::flow::Switch;
use crate::live::words::Words;
use crate::tunables::Settings;

const SCHED_EXT: &str = "/sys/kernel/sched_ext";
const POLL: Duration = Duration::from_millis(50);
/// Verifying a scheduler takes seconds, in an emulated machine many.
const START: Duration = Duration::from_secs(120);
/// Time a scheduler gets to leave before it is killed, and the kernel to let go of it.
const LEAVE: Duration = Duration::from_secs(30);
/// Time for what a change of scheduler moves about to come to rest.
const SETTLE: Duration = Duration::from_millis(300);

/// The kernel's scheduler, which is the fair class when a measurement begins.
pub struct Kernel<'a> {
    program: String,
    stop: &'a dyn Fn() -> bool,
    running: Option<Running>,
}

/// A sched_ext scheduler that this process has started.
struct Running {
    process: Process,
    arm: Arm,
    /// The kernel's count of schedulers enabled, which grows with each.
    seq: String,
    counted: Counted,
}

fn file(name: &str) -> String {
    let text = fs::read_to_string(Path::new(SCHED_EXT).join(name));
    text.unwrap_or_default().trim().to_string()
}

fn enabled() -> bool {
    file("state") == "enabled"
}

/// Neither there nor on its way in or out; a kernel without sched_ext has none.
fn disabled() -> bool {
    matches!(file("state").as_str(), "disabled" | "")
}

impl<'a> Kernel<'a> {
    /// Starts scx_sibling as `program`; `stop` says when to wait no more.
    pub fn new(program: String, stop: &'a dyn Fn() -> bool) -> Self {
        Kernel {
            program,
            stop,
            running: None,
        }
    }

    fn start(&mut self, arm: &Arm) -> Result<(), String> {
        let argv = match arm {
            Arm::Fair => return Ok(()),
            Arm::Sibling(_) => vec![self.program.clone()],
            Arm::Scx(command) => ["/bin/sh", "-c", &format!("exec {command}")]
                .map(String::from)
                .to_vec(),
        };
        // SIGTERM: a loader that is asked to go takes its scheduler along in order.
        let mut process = Process::start(&argv, libc::SIGTERM)?;
        let begin = Instant::now();
        while !enabled() {
            if let Some(ended) = process.ended() {
                let how = ended.err().unwrap_or_else(|| "it ended".into());
                return Err(format!("{how}: {}", tail(&process.said())));
            }
            if (self.stop)() {
                leave(&mut process)?;
                return Err("stopped".into());
            }
            if begin.elapsed() > START {
                let said = tail(&process.said());
                leave(&mut process)?;
                let seconds = START.as_secs();
                return Err(format!("not enabled after {seconds} s: {said}"));
            }
            thread::sleep(POLL);
        }
        self.running = Some(Running {
            process,
            arm: arm.clone(),
            seq: file("enable_seq"),
            counted: Counted::default(),
        });
        Ok(())
    }

    fn leave(&mut self) -> Result<(), String> {
        match self.running.take() {
            Some(mut running) => leave(&mut running.process),
            None => Ok(()),
        }
    }
}

/// Brings a scheduler's settings into force, without a reload.
fn set(settings: &[String]) -> Result<(), String> {
    let mut wanted = Settings::default();
    wanted.apply(settings).map_err(|error| error.to_string())?;
    let begin = Instant::now();
    loop {
        let changed = Words::running().and_then(|words| {
            words.update(|live| {
                *live = wanted.clone();
                Ok(())
            })
        });
        match changed {
            Ok(()) => return Ok(()),
            // The pin appears a moment after the kernel says "enabled".
            Err(_) if begin.elapsed() < Duration::from_secs(10) => thread::sleep(POLL),
            Err(error) => return Err(format!("setting its tunables: {error:#}")),
        }
    }
}

fn leave(process: &mut Process) -> Result<(), String> {
    process.signal(libc::SIGINT);
    let begin = Instant::now();
    while process.ended().is_none() && begin.elapsed() < LEAVE {
        thread::sleep(POLL);
    }
    // The kernel takes a scheduler out when its loader is gone, however that went.
    process.end();
    let begin = Instant::now();
    while !disabled() {
        if begin.elapsed() > LEAVE {
            let ops = file("root/ops");
            return Err(format!(
                "the sched_ext scheduler {ops} is still loaded; SysRq-S removes it: echo S > /proc/sysrq-trigger"
            ));
        }
        thread::sleep(POLL);
    }
    Ok(())
}

impl Switch for Kernel<'_> {
    fn to(&mut self, arm: &Arm) -> Result<(), String> {
        let stays = match (&self.running, arm) {
            (
                Some(Running {
                    arm: Arm::Sibling(_),
                    ..
                }),
                Arm::Sibling(_),
            ) => {
                let on = self.running.as_ref().map(|r| r.arm.clone());
                on.is_some_and(|on| self.holds(&on).is_ok())
            }
            _ => false,
        };
        if !stays {
            self.leave()?;
            if !disabled() {
                return Err(format!("{} was loaded meanwhile", file("root/ops")));
            }
            self.start(arm)?;
        }
        if let Arm::Sibling(settings) = arm {
            set(settings)?;
            if let Some(running) = &mut self.running {
                running.arm = arm.clone();
            }
        }
        thread::sleep(SETTLE);
        self.holds(arm)
    }

    fn holds(&mut self, arm: &Arm) -> Result<(), String> {
        let Some(running) = &mut self.running else {
            return match arm {
                Arm::Fair if disabled() => Ok(()),
                _ => Err(format!(
                    "sched_ext is {}: {}",
                    file("state"),
                    file("root/ops")
                )),
            };
        };
        if running.process.ended().is_some() || !enabled() {
            let said = tail(&running.process.said());
            return Err(format!("the scheduler left or was thrown out: {said}"));
        }
        let seq = file("enable_seq");
        if seq != running.seq {
            running.seq = seq;
            return Err("the scheduler was loaded anew meanwhile".into());
        }
        Ok(())
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        match &mut self.running {
            Some(running) if matches!(running.arm, Arm::Sibling(_)) => running.counted.read(),
            _ => BTreeMap::new(),
        }
    }

    fn restore(&mut self) -> Result<(), String> {
        self.leave()
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        let _ = self.leave();
    }
}
