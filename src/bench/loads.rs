// SPDX-License-Identifier: GPL-2.0-only
//! The loads by name: one table, from names and parameters to cases.

use regex::Regex;

use super::case::Case;
use super::case::Figure;
use super::case::Find;
use super::nearest;
use super::stats::Better;

/// A parameter of a load. Several values, with "/" between, make a case of each.
#[derive(Debug)]
pub struct Param {
    /// As typed: NAME=VALUE.
    pub name: &'static str,
    /// Where nothing is given; `CPUS` and multiples of it stand for this machine's.
    pub default: &'static str,
}

/// A load.
#[derive(Debug)]
pub struct Load {
    /// As typed.
    pub name: &'static str,
    /// One line for people.
    pub what: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The programs it needs beside this one, with the Debian package of each.
    pub tools: &'static [(&'static str, &'static str)],
}

const fn param(name: &'static str, default: &'static str) -> Param {
    Param { name, default }
}

/// All loads but `cmd`, whose text is free.
pub const LOADS: [Load; 7] = [
    Load {
        name: "pipe",
        what: "two processes hand one byte to and fro: next to pure wake-up cost",
        params: &[
            param("place", "same/smt/core/llc/node/unbound"),
            param("loops", "20000"),
        ],
        tools: &[],
    },
    Load {
        name: "rr",
        what: "TCP request/response on loopback, one byte each way, unbound or on one CPU",
        params: &[
            param("bind", "no/0"),
            param("pairs", "1"),
            param("seconds", "2"),
        ],
        tools: &[],
    },
    Load {
        name: "tbench",
        what: "file-server traffic on loopback, throughput by number of clients",
        params: &[param("clients", "1/2/CPUS/2*CPUS"), param("seconds", "5")],
        tools: &[("tbench", "dbench"), ("tbench_srv", "dbench")],
    },
    Load {
        name: "hackbench",
        what: "groups of senders and receivers, every sender to every receiver",
        params: &[
            param("groups", "1/4"),
            param("fds", "20"),
            param("loops", "1000"),
        ],
        tools: &[("hackbench", "rt-tests")],
    },
    Load {
        name: "schbench",
        what: "message threads wake workers: requests per second, wake-up latency",
        params: &[
            param("messages", "2"),
            param("workers", "4"),
            param("work_us", "30"),
            param("seconds", "2"),
        ],
        tools: &[],
    },
    Load {
        name: "newidle-loves",
        what: "many short blockers, twice as many as CPUs: gains from pulling",
        params: &[
            param("sleepers", "2*CPUS"),
            param("run_us", "200"),
            param("sleep_us", "300"),
            param("seconds", "2"),
        ],
        tools: &[],
    },
    Load {
        name: "newidle-hates",
        what: "32 workers woken without work to do: loses by pulling",
        params: &[
            param("messages", "2"),
            param("workers", "16"),
            param("seconds", "2"),
        ],
        tools: &[],
    },
];

/// What [`cases`] needs to know of the machine.
pub struct Host<'a> {
    /// Online CPUs.
    pub cpus: usize,
    /// This program.
    pub program: &'a str,
    /// The path of a program, where it is installed.
    pub which: &'a dyn Fn(&str) -> Option<String>,
    /// Has the machine a pair of CPUs for this place of `pipe`?
    pub place: &'a dyn Fn(&str) -> bool,
}

/// The cases of `LOAD` or `LOAD:NAME=VALUE/VALUE,…`.
///
/// # Errors
/// No such load or parameter, with the nearest; a tool that is missing, with its package.
pub fn cases(text: &str, host: &Host) -> Result<Vec<Case>, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let Some(load) = LOADS.iter().find(|load| load.name == name) else {
        let names = LOADS.iter().map(|load| load.name).chain(["cmd"]);
        return Err(format!("no load {name:?}; {}", nearest::hint(name, names)));
    };
    for (tool, package) in load.tools {
        if (host.which)(tool).is_none() {
            return Err(format!(
                "load {name} needs the program {tool}, which is not installed: apt install {package}"
            ));
        }
    }
    let mut sets = vec![vec![]];
    for (param, values, given) in values(load, rest, host.cpus)? {
        let usable = |value: &&String| given || param != "place" || (host.place)(value);
        let values: Vec<&String> = values.iter().filter(usable).collect();
        let mut longer: Vec<Vec<(String, String)>> = vec![];
        for set in &sets {
            for value in &values {
                let mut set = set.clone();
                set.push((param.clone(), value.to_string()));
                longer.push(set);
            }
        }
        sets = longer;
    }
    sets.into_iter().map(|set| case(load, set, host)).collect()
}

/// A parameter, its values, and whether the user gave them.
type Values = (String, Vec<String>, bool);

fn values(load: &Load, text: &str, cpus: usize) -> Result<Vec<Values>, String> {
    let mut all: Vec<Values> = load
        .params
        .iter()
        .map(|p| (p.name.to_string(), split(p.default, cpus), false))
        .collect();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, value) = part
            .split_once('=')
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| format!("load {}: {part:?} is not NAME=VALUE", load.name))?;
        let Some(row) = all.iter_mut().find(|(n, ..)| n == name) else {
            let names = load.params.iter().map(|p| p.name);
            let hint = nearest::hint(name, names);
            return Err(format!(
                "load {} has no parameter {name:?}; {hint}",
                load.name
            ));
        };
        row.1 = split(value, cpus);
        row.2 = true;
    }
    Ok(all)
}

/// The values of "1/CPUS/2*CPUS", each once.
fn split(text: &str, cpus: usize) -> Vec<String> {
    let mut values: Vec<String> = vec![];
    for value in text.split('/') {
        let value = match value.strip_suffix("CPUS") {
            Some("") => cpus.to_string(),
            Some(factor) => match factor.trim_end_matches('*').parse::<usize>() {
                Ok(factor) => (factor * cpus).to_string(),
                Err(_) => value.to_string(),
            },
            None => value.to_string(),
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

fn case(load: &Load, params: Vec<(String, String)>, host: &Host) -> Result<Case, String> {
    let of = |name: &str| {
        let found = params.iter().find(|(n, _)| n == name);
        found.map_or(String::new(), |(_, value)| value.clone())
    };
    for (name, value) in &params {
        let number = value.parse::<f64>().is_ok_and(|v| v >= 0.0);
        if name != "place" && !number && !(name == "bind" && value == "no") {
            return Err(format!("load {}: {name}={value} is no number", load.name));
        }
    }
    let mut server = None;
    let own = |words: &[&str]| {
        let mut argv = vec![host.program.to_string(), "load".into(), "--json".into()];
        argv.extend(words.iter().map(|word| word.to_string()));
        argv
    };
    let tool = |name: &str| (host.which)(name).unwrap_or_else(|| name.to_string());
    let (seconds, workers, messages) = (of("seconds"), of("workers"), of("messages"));
    let argv = match load.name {
        "pipe" => own(&["pipe", "--place", &of("place"), "--loops", &of("loops")]),
        "rr" if of("bind") == "no" => own(&["rr", "--seconds", &seconds, "--pairs", &of("pairs")]),
        "rr" => own(&[
            "rr",
            "--seconds",
            &seconds,
            "--pairs",
            &of("pairs"),
            "--bind",
            &of("bind"),
        ]),
        "tbench" => {
            server = Some((vec![tool("tbench_srv")], 7003));
            let client = "/usr/share/dbench/client.txt";
            [
                &tool("tbench"),
                "-t",
                &seconds,
                "-c",
                client,
                &of("clients"),
                "127.0.0.1",
            ]
            .map(str::to_string)
            .to_vec()
        }
        "hackbench" => [
            &tool("hackbench"),
            "-l",
            &of("loops"),
            "-g",
            &of("groups"),
            "-f",
            &of("fds"),
        ]
        .map(str::to_string)
        .to_vec(),
        "newidle-loves" => own(&[
            "sleepers",
            "-n",
            &of("sleepers"),
            "--run-us",
            &of("run_us"),
            "--sleep-us",
            &of("sleep_us"),
            "--seconds",
            &seconds,
        ]),
        _ => {
            let work = if load.name == "schbench" {
                of("work_us")
            } else {
                "0".into()
            };
            own(&[
                "messages",
                "--groups",
                &messages,
                "--workers",
                &workers,
                "--work-us",
                &work,
                "--seconds",
                &seconds,
            ])
        }
    };
    let sized: Vec<String> = load
        .params
        .iter()
        .zip(&params)
        .filter(|(def, (name, value))| {
            name != "seconds"
                && name != "loops"
                && (def.default.contains('/') || def.default != value)
        })
        .map(|(_, (name, value))| format!("{name}={value}"))
        .collect();
    Ok(Case {
        name: [load.name.to_string(), sized.join(",")]
            .join(" ")
            .trim_end()
            .to_string(),
        load: load.name.into(),
        argv,
        server,
        figures: figures(load.name),
        params,
    })
}

fn figures(load: &str) -> Vec<Figure> {
    let figure = |name: &str, unit: &str, better, find| Figure {
        name: name.into(),
        unit: unit.into(),
        better,
        find,
    };
    let json = |name: &str, unit: &str, better| figure(name, unit, better, Find::Json(name.into()));
    match load {
        "pipe" => vec![
            json("us_per_loop", "us", Better::Lower),
            json("khz", "KHz", Better::Higher),
        ],
        "rr" => vec![json("transactions_per_s", "1/s", Better::Higher)],
        "tbench" => {
            let pattern = r"Throughput ([0-9.]+) MB/sec".to_string();
            let latency = r"max_latency=([0-9.]+) ms".to_string();
            vec![
                figure("throughput", "MB/s", Better::Higher, Find::Pattern(pattern)),
                figure("max_latency", "ms", Better::Lower, Find::Pattern(latency)),
            ]
        }
        "hackbench" => {
            let pattern = r"(?m)^Time: ([0-9.]+)".to_string();
            vec![figure("time", "s", Better::Lower, Find::Pattern(pattern))]
        }
        "newidle-loves" => vec![json("iterations_per_s", "1/s", Better::Higher)],
        _ => vec![
            json("requests_per_s", "1/s", Better::Higher),
            json("p50_us", "us", Better::Lower),
            json("p99_us", "us", Better::Lower),
            json("p999_us", "us", Better::Lower),
        ],
    }
}

/// The case of a user's own command, run by the shell.
///
/// # Errors
/// The regular expression is none.
pub fn command(text: &str, figure: Option<&str>, better: Better) -> Result<Case, String> {
    if let Some(pattern) = figure {
        Regex::new(pattern).map_err(|error| format!("--figure {pattern:?}: {error}"))?;
    }
    Ok(Case {
        name: format!("cmd {text}"),
        load: "cmd".into(),
        params: vec![],
        argv: vec!["/bin/sh".into(), "-c".into(), text.into()],
        server: None,
        figures: vec![Figure {
            name: if figure.is_some() { "figure" } else { "time" }.into(),
            unit: if figure.is_some() { "" } else { "s" }.into(),
            better,
            find: figure.map_or(Find::Wall, |pattern| Find::Pattern(pattern.into())),
        }],
    })
}

#[cfg(test)]
#[path = "loads_tests.rs"]
mod tests;
