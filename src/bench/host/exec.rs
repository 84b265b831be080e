// SPDX-License-Identifier: GPL-2.0-only
//! Runs loads as child processes.

use std::net::Ipv4Addr;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use super::process::Process;
use crate::bench::case::tail;
use crate::bench::case::Case;
use crate::bench::flow::Executor;
use crate::bench::flow::NoRun;
use crate::bench::flow::Ran;

/// How often a running load is looked at: seldom, as each look takes a CPU from it.
const POLL: Duration = Duration::from_millis(20);
/// Time a server gets to listen.
const SERVER_START: Duration = Duration::from_secs(20);

/// Runs a case's program.
pub struct Programs<'a> {
    /// A run that takes longer has failed.
    pub timeout: Duration,
    /// Does the user want to stop?
    pub stop: &'a dyn Fn() -> bool,
}

impl Executor for Programs<'_> {
    fn run(&mut self, case: &Case, warmup: bool) -> Result<Ran, NoRun> {
        // New for each run: a server that lives on keeps what another scheduler
        // made of it.
        let _server = match &case.server {
            Some((argv, port)) => Some(self.server(argv, *port)?),
            None => None,
        };
        let argv = if warmup {
            short(&case.argv)
        } else {
            case.argv.clone()
        };
        let start = Instant::now();
        let mut process = Process::start(&argv, libc::SIGKILL).map_err(NoRun::Failed)?;
        let ended = self.wait(&mut process, start)?;
        let wall_s = start.elapsed().as_secs_f64();
        let output = process.said();
        match ended {
            Ok(()) => Ok(Ran { output, wall_s }),
            Err(how) => Err(NoRun::Failed(format!("{how}: {}", tail(&output)))),
        }
    }
}

impl Programs<'_> {
    fn wait(&self, process: &mut Process, start: Instant) -> Result<Result<(), String>, NoRun> {
        loop {
            if let Some(ended) = process.ended() {
                return Ok(ended);
            }
            if (self.stop)() {
                return Err(NoRun::Interrupted);
            }
            if start.elapsed() > self.timeout {
                let seconds = self.timeout.as_secs();
                let said = tail(&process.said());
                return Err(NoRun::Failed(format!("no end after {seconds} s: {said}")));
            }
            thread::sleep(POLL);
        }
    }

    fn server(&self, argv: &[String], port: u16) -> Result<Process, NoRun> {
        let address = (Ipv4Addr::LOCALHOST, port);
        if TcpStream::connect(address).is_ok() {
            let text = format!("port {port}, which {} needs, is taken", argv[0]);
            return Err(NoRun::Failed(text));
        }
        let mut server = Process::start(argv, libc::SIGKILL).map_err(NoRun::Failed)?;
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if (self.stop)() {
                return Err(NoRun::Interrupted);
            }
            if server.ended().is_some() || start.elapsed() > SERVER_START {
                let said = tail(&server.said());
                let text = format!("{} does not listen on port {port}: {said}", argv[0]);
                return Err(NoRun::Failed(text));
            }
            thread::sleep(POLL);
        }
        Ok(server)
    }
}

/// The command with a tenth of its loops or a short time, where it has either; as it
/// is otherwise.
fn short(argv: &[String]) -> Vec<String> {
    let mut argv = argv.to_vec();
    for at in 1..argv.len() {
        let value: Option<f64> = argv[at].parse().ok();
        let (Some(value), flag) = (value, argv[at - 1].as_str()) else {
            continue;
        };
        argv[at] = match flag {
            "--loops" | "-l" => (value / 10.0).ceil().max(1.0).to_string(),
            "--seconds" => value.min(0.2).to_string(),
            // tbench takes whole seconds.
            "-t" => value.min(1.0).to_string(),
            _ => continue,
        };
    }
    argv
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::loads;
    use crate::bench::stats::Better;

    fn run(text: &str, timeout_s: f64, stop: bool) -> Result<Ran, NoRun> {
        let case = loads::command(text, None, Better::Lower).unwrap();
        Programs {
            timeout: Duration::from_secs_f64(timeout_s),
            stop: &|| stop,
        }
        .run(&case, false)
    }

    fn failure(text: &str) -> String {
        match run(text, 20.0, false) {
            Err(NoRun::Failed(why)) => why,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn both_streams_are_kept() {
        let ran = run("echo out; echo err >&2", 20.0, false).unwrap();
        assert!(ran.output.contains("out") && ran.output.contains("err"));
    }

    #[test]
    fn a_crash_is_no_figure() {
        let why = failure("echo half a result; exit 3");
        assert!(why.contains('3') && why.contains("half a result"), "{why}");
        assert!(failure("kill -SEGV $$").contains("signal"));
        assert!(failure("exec /nonexistent/tool").contains("not found"));
    }

    #[test]
    fn what_never_ends_is_ended_with_its_children() {
        let Err(NoRun::Failed(why)) = run("sleep 1000 & sleep 1000", 0.1, false) else {
            panic!("no failure")
        };
        assert!(why.contains("no end"), "{why}");
        let stopped = run("sleep 1000", 1000.0, true);
        assert_eq!(stopped, Err(NoRun::Interrupted));
    }

    #[test]
    fn a_warm_up_is_short() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let want = words("x load pipe --loops 2000 --place same");
        assert_eq!(
            short(&words("x load pipe --loops 20000 --place same")),
            want
        );
        assert_eq!(
            short(&words("x --seconds 2 -t 5")),
            words("x --seconds 0.2 -t 1")
        );
        assert_eq!(short(&words("/bin/sh -c 7")), words("/bin/sh -c 7"));
    }
}
