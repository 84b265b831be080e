// SPDX-License-Identifier: GPL-2.0-only
//! What a placement costs as the machine grows, in instructions of the policy compiled for this
//! machine. The LLCs are alike on all of them, and so is their load.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod native_common;

use std::process::Command;

use native_common::ffi::Global;
use native_common::shape::Shape;
use native_common::Machine;
use native_common::Wake;
use scx_sibling::skel::types;

/// Nodes and LLCs per node; an LLC is 8 cores of 2 threads, siblings numbered as firmware does.
const MACHINES: [(u32, u32); 5] = [(1, 1), (1, 9), (2, 8), (4, 8), (8, 8)];
const WAKES: u32 = 20_000;
/// Between two wake-ups of one CPU: 50 000 a second, as message loads have it.
const WAKE_NS: u64 = 20_000;
/// Cost on the largest machine as a multiple of that on the smallest.
const LIMIT: f64 = 1.10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Idle,
    /// One thread of each core is busy.
    Half,
    Full,
}

fn machine(nodes: u32, llcs: u32) -> Machine {
    Machine::new(&Shape::new(nodes, llcs, 8, 2).far_siblings())
}

/// Wake-ups of tasks of the first LLC by others of it; what was claimed idles again afterwards.
fn wakes(nodes: u32, llcs: u32, load: Load) {
    let m = machine(nodes, llcs);
    let half = nodes * llcs * 8;
    for cpu in m.online.iter() {
        match load {
            Load::Idle => m.idle(cpu),
            Load::Half if cpu >= half => m.idle(cpu),
            _ => m.running(cpu, 1),
        }
    }
    let mut memory = [types::place_res::default(); 8];
    for i in 0..WAKES {
        let (prev, waker) = (i % 8, (i / 8 + i) % 8);
        m.running(waker, 1);
        m.global_set(Global::Clock, 1_000_000_000 + u64::from(i) * WAKE_NS / 8);
        let memory = &mut memory[waker as usize];
        let placed = m.wake_after(memory, Wake::new(prev as i32, waker as i32));
        if placed.claimed {
            m.idle(placed.cpu as u32);
        }
        if load == Load::Idle {
            m.idle(waker);
        }
    }
}

/// Instructions per placement. This test runs itself under callgrind, which counts inside
/// host_place_wake() only.
fn cost(nodes: u32, llcs: u32, load: Load) -> f64 {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=host_place_wake")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_placement_costs_the_same_on_a_large_machine"])
        .env("SIBLING_SCALE", format!("{nodes} {llcs} {load:?}"))
        .output()
        .expect("starting valgrind");
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "the counted run failed:\n{text}");
    let count = text
        .lines()
        .find_map(|line| line.split("Collected :").nth(1))
        .unwrap_or_else(|| panic!("no count in\n{text}"));
    let cost = count.trim().parse::<f64>().unwrap() / f64::from(WAKES);
    assert!(cost > 1.0, "nothing was counted:\n{text}");
    cost
}

#[test]
fn a_placement_costs_the_same_on_a_large_machine() {
    if let Ok(what) = std::env::var("SIBLING_SCALE") {
        let words: Vec<&str> = what.split(' ').collect();
        let load = match words[2] {
            "Idle" => Load::Idle,
            "Half" => Load::Half,
            _ => Load::Full,
        };
        return wakes(words[0].parse().unwrap(), words[1].parse().unwrap(), load);
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIP no valgrind to count instructions with");
        return;
    }
    println!("instructions per placement");
    print!("{:<6}", "CPUs");
    MACHINES
        .iter()
        .for_each(|(nodes, llcs)| print!(" {:>6}", nodes * llcs * 16));
    println!();
    let mut over = vec![];
    for load in [Load::Idle, Load::Half, Load::Full] {
        let costs = MACHINES.map(|(nodes, llcs)| cost(nodes, llcs, load));
        print!("{load:<6?}");
        costs.iter().for_each(|cost| print!(" {cost:>6.0}"));
        let ratio = costs[MACHINES.len() - 1] / costs[0];
        println!("  {ratio:.3}");
        if ratio > LIMIT {
            over.push(format!("{load:?}: {ratio:.3}"));
        }
    }
    assert!(over.is_empty(), "more than {LIMIT}: {over:?}");
}
