// SPDX-License-Identifier: GPL-2.0-only
//! The commands of `scx_sibling bench`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use anyhow::Result;

use super::across;
use super::arm;
use super::arm::Arm;
use super::budget::Budget;
use super::case::Case;
use super::cli::BenchArgs;
use super::cli::BenchCommand;
use super::cli::Form;
use super::cli::RunArgs;
use super::cli::Suite;
use super::export;
use super::flow;
use super::flow::Clock;
use super::flow::Ending;
use super::flow::Parts;
use super::flow::Progress;
use super::host;
use super::html;
use super::loads;
use super::result::FileStore;
use super::result::Outcomes;
use super::result::Record;
use super::result::Start;
use super::result::Store;
use super::result::FORMAT;
use super::seeds;
use super::stats::Better;
use super::table;
use crate::check;
use crate::exit::Failure;
use crate::load;
use crate::out;
use crate::run::Requests;

/// Does what the command line asks.
///
/// # Errors
/// A [`Failure`] with its exit code, or the step that failed.
pub fn run(args: &BenchArgs) -> Result<()> {
    match &args.command {
        BenchCommand::List => out::print(list()).map(|_| ()),
        BenchCommand::Run(args) => start(args),
        BenchCommand::Resume { result, timeout } => resume(result, *timeout),
        BenchCommand::Report { result, form } => report(result, form),
        BenchCommand::Compare { a, b } => compare(a, b),
    }
}

fn list() -> String {
    let mut text = String::from("Loads (--load NAME or NAME:PARAMETER=VALUE/VALUE,…):\n");
    for load in &loads::LOADS {
        text += &format!("  {:<15} {}\n", load.name, load.what);
        let params = load.params.iter();
        let params: Vec<String> = params
            .map(|p| format!("{}={}", p.name, p.default))
            .collect();
        text += &format!("  {:<15}   {}\n", "", params.join(" "));
        let missing = |(tool, _): &&(&str, &str)| host::which(tool).is_none();
        if let Some((tool, package)) = load.tools.iter().find(missing) {
            text += &format!(
                "  {:<15}   not here: {tool} is missing, apt install {package}\n",
                ""
            );
        }
    }
    text += "  --cmd COMMAND   any command, with --figure REGEX for its figure\n";
    text += "Arms (--arm ARM, the first is the baseline):\n";
    text += arm::SPELLINGS;
    text + "\n"
}

/// This program, as its children are to call it.
fn program() -> Result<String> {
    let path = std::env::current_exe().context("finding the path of this program")?;
    Ok(path.display().to_string())
}

fn cases(args: &RunArgs) -> Result<Vec<Case>> {
    let program = program()?;
    let host = loads::Host {
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        program: &program,
        which: &host::which,
        place: &load::has_place,
    };
    let mut cases = vec![];
    for text in &args.loads {
        cases.extend(loads::cases(text, &host).map_err(Failure::Usage)?);
    }
    let better = if args.higher_is_better {
        Better::Higher
    } else {
        Better::Lower
    };
    for text in &args.cmd {
        let case = loads::command(text, args.figure.as_deref(), better);
        cases.push(case.map_err(Failure::Usage)?);
    }
    Ok(cases)
}

fn arms(texts: &[String]) -> Result<Vec<Arm>> {
    let arms = texts.iter().map(|text| Arm::parse(text));
    let arms: Vec<Arm> = arms.collect::<Result<_, _>>().map_err(Failure::Usage)?;
    for (at, arm) in arms.iter().enumerate() {
        if arms[..at].contains(arm) {
            // Allowed: an A/A comparison shows what the machine's noise does.
            out::note(format_args!(
                "arm {:?} stands twice: an A/A comparison",
                texts[at]
            ));
        }
    }
    Ok(arms)
}

fn start(args: &RunArgs) -> Result<()> {
    let texts = if args.arms.is_empty() {
        vec!["fair".to_string(), "sibling".to_string()]
    } else {
        args.arms.clone()
    };
    let arms = arms(&texts)?;
    let cases = cases(args)?;
    let mut environment = host::environment::read(Path::new("/"));
    for note in &args.note {
        let Some((name, text)) = note.split_once('=') else {
            return Err(Failure::Usage(format!("--note {note:?} is not NAME=TEXT")).into());
        };
        environment.insert(name.to_string(), text.to_string());
    }
    require(&arms)?;
    let clock = host::HostClock::default();
    let start = Start {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        at_s: clock.unix_s(),
        seed: args.seed,
        budget: Budget {
            max_rounds: args.rounds,
            precision_pct: args.precision,
        },
        arms: texts,
        cases,
        environment,
    };
    let mut store = FileStore::create(&args.out)?;
    let first = Record::Start(Box::new(start.clone()));
    store
        .append(&first)
        .with_context(|| format!("writing the result file {}", args.out.display()))?;
    let outcomes = Outcomes {
        start,
        blocks: vec![],
        complete: false,
        length: 0,
    };
    measure(outcomes, &arms, store, &args.out, args.timeout)
}

fn resume(path: &Path, timeout: u64) -> Result<()> {
    let outcomes = Outcomes::read(path)?;
    if outcomes.complete {
        out::note(format_args!("{} is complete", path.display()));
        out::print(table::text(&outcomes))?;
        return Ok(());
    }
    let arms = arms(&outcomes.start.arms)?;
    require(&arms)?;
    let here = host::environment::read(Path::new("/"));
    let changed = changed(&outcomes.start.environment, &here);
    if !changed.is_empty() {
        let text = format!(
            "{} was measured on another machine or kernel ({} differs); measure anew with `bench run --out OTHER`",
            path.display(),
            changed.join(", ")
        );
        return Err(Failure::Usage(text).into());
    }
    let store = FileStore::resume(path, outcomes.length)?;
    measure(outcomes, &arms, store, path, timeout)
}

/// What makes figures of before and after incomparable.
fn changed(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names = [
        "kernel",
        "kernel build",
        "cpu",
        "cpus online",
        "scx_sibling",
        "governor",
    ];
    let differs = |name: &&str| then.get(*name) != now.get(*name);
    names
        .into_iter()
        .filter(differs)
        .map(String::from)
        .collect()
}

/// Refuses what cannot work before anything is written.
fn require(arms: &[Arm]) -> Result<()> {
    if arms.iter().all(|arm| *arm == Arm::Fair) {
        return match crate::live::words::running_ops() {
            Some(ops) => Err(Failure::OtherScheduler(ops).into()),
            None => Ok(()),
        };
    }
    check::Machine::host().require()?;
    Ok(())
}

fn measure(
    mut outcomes: Outcomes,
    arms: &[Arm],
    mut store: FileStore,
    path: &Path,
    timeout: u64,
) -> Result<()> {
    let asked = Requests::take(false)?;
    let stop = || asked.stop();
    let mut executor = host::Programs {
        timeout: Duration::from_secs(timeout),
        stop: &stop,
    };
    let mut switch = host::Kernel::new(program()?, &stop);
    let mut watch = host::ProcWatch::default();
    let clock = host::HostClock::default();
    let mut parts = Parts {
        executor: &mut executor,
        clock: &clock,
        switch: &mut switch,
        watch: &mut watch,
        store: &mut store,
        stop: &stop,
        progress: &mut show,
    };
    let ending = flow::run(&outcomes.start, arms, &mut outcomes.blocks, &mut parts)?;
    out::print(table::text(&outcomes))?;
    let shown = path.display();
    match ending {
        Ending::Complete => out::note(format_args!("the result is in {shown}")),
        Ending::Interrupted => out::note(format_args!(
            "interrupted; `scx_sibling bench resume {shown}` goes on"
        )),
    }
    Ok(())
}

fn show(progress: &Progress) {
    let left = match progress.left_s {
        Some(seconds) if seconds >= 90.0 => format!(", at most {:.0} min left", seconds / 60.0),
        Some(seconds) => format!(", at most {seconds:.0} s left"),
        None => String::new(),
    };
    out::note(format_args!(
        "round {}, {} of at most {}: {} under {}{left}",
        progress.round + 1,
        progress.done + 1,
        progress.most,
        progress.case,
        progress.arm,
    ));
}

fn report(path: &Path, form: &Form) -> Result<()> {
    let outcomes = Outcomes::read(path)?;
    let text = if form.md {
        export::markdown(&outcomes)
    } else if form.csv {
        export::csv(&outcomes)
    } else if form.json {
        format!("{:#}\n", export::json(&outcomes))
    } else if form.html {
        html::page(&outcomes)
    } else if form.suite == Some(Suite::Seeds) {
        seeds::text(&outcomes)
    } else {
        table::text(&outcomes)
    };
    out::print(text)?;
    Ok(())
}

fn compare(a: &Path, b: &Path) -> Result<()> {
    let shown = [a, b].map(|path| path.display().to_string());
    let names = [shown[0].as_str(), shown[1].as_str()];
    let (a, b) = (Outcomes::read(a)?, Outcomes::read(b)?);
    out::print(across::text(names, &a, &b))?;
    Ok(())
}
