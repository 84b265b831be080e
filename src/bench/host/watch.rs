// SPDX-License-Identifier: GPL-2.0-only
//! Sees what disturbs a block: other load, a hypervisor, limits of frequency and heat.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::bench::flow::Watch;

/// Shares of all CPUs' time from which a block counts as disturbed.
const STEAL: f64 = 0.01;
const OTHERS: f64 = 0.05;
/// Below this much time, in clock ticks of all CPUs, shares say nothing.
const LEAST_TICKS: u64 = 50;

/// What the machine says at one moment; times in clock ticks (1/100 s).
#[derive(Debug, Clone, Default, PartialEq)]
struct Moment {
    total: u64,
    /// User and system time of everybody.
    busy: u64,
    steal: u64,
    /// User and system time of ended children and of this process.
    own: u64,
    throttled: u64,
    /// Governor and upper limit of each CPU.
    limits: Vec<String>,
}

/// Watches through /proc and /sys.
#[derive(Debug)]
pub struct ProcWatch {
    root: PathBuf,
    before: Moment,
}

impl Default for ProcWatch {
    fn default() -> Self {
        ProcWatch::below("/".into())
    }
}

impl ProcWatch {
    /// One that reads below another root than `/`.
    pub fn below(root: PathBuf) -> Self {
        ProcWatch {
            root,
            before: Moment::default(),
        }
    }
}

impl Watch for ProcWatch {
    fn begin(&mut self) {
        self.before = Moment::read(&self.root);
    }

    fn end(&mut self) -> Vec<String> {
        disturbances(&self.before, &Moment::read(&self.root))
    }
}

impl Moment {
    fn read(root: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
        let (stat, own) = (text("proc/stat"), text("proc/self/stat"));
        // user nice system idle iowait irq softirq steal; guest time is part of user.
        let cpu = numbers(stat.lines().next().unwrap_or_default(), 1);
        let at = |i: usize| cpu.get(i).copied().unwrap_or(0);
        // After the name in parentheses: utime stime cutime cstime are fields 14 to 17.
        let own = numbers(own.rsplit_once(')').map_or("", |(_, rest)| rest), 12);
        let cpus = root.join("sys/devices/system/cpu");
        let per_cpu: Vec<PathBuf> = fs::read_dir(&cpus)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.strip_prefix("cpu")
                    .is_some_and(|n| n.parse::<u32>().is_ok())
            })
            .collect();
        let mut moment = Moment {
            total: cpu.iter().take(8).sum(),
            busy: at(0) + at(1) + at(2),
            steal: at(7),
            own: own.iter().take(4).sum(),
            throttled: 0,
            limits: vec![],
        };
        for path in per_cpu {
            let file = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
            let count: u64 = file("thermal_throttle/core_throttle_count")
                .trim()
                .parse()
                .unwrap_or(0);
            moment.throttled += count;
            let limit = file("cpufreq/scaling_governor") + &file("cpufreq/scaling_max_freq");
            if !limit.is_empty() {
                moment.limits.push(format!("{}{limit}", path.display()));
            }
        }
        moment.limits.sort();
        moment
    }
}

fn numbers(line: &str, skip: usize) -> Vec<u64> {
    let words = line.split_whitespace().skip(skip);
    words.map_while(|word| word.parse().ok()).collect()
}

fn disturbances(before: &Moment, after: &Moment) -> Vec<String> {
    let mut found = vec![];
    let total = after.total.saturating_sub(before.total);
    let share = |ticks: u64| ticks as f64 / total.max(1) as f64;
    if total >= LEAST_TICKS {
        let steal = share(after.steal.saturating_sub(before.steal));
        if steal > STEAL {
            found.push(format!(
                "the hypervisor took {:.0} % of the CPUs",
                steal * 100.0
            ));
        }
        let busy = after.busy.saturating_sub(before.busy);
        let others = share(busy.saturating_sub(after.own.saturating_sub(before.own)));
        if others > OTHERS {
            found.push(format!(
                "other load took {:.0} % of the CPUs",
                others * 100.0
            ));
        }
    }
    let throttled = after.throttled.saturating_sub(before.throttled);
    if throttled > 0 {
        found.push(format!("CPUs were slowed down for heat {throttled} times"));
    }
    if before.limits != after.limits {
        found.push("governor or frequency limits were changed".into());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(dir: &Path, stat: &str, own: &str, throttled: &str, max: &str) {
        let put = |name: &str, text: &str| {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("proc/stat", &format!("cpu  {stat}\ncpu0 {stat}\n"));
        put(
            "proc/self/stat",
            &format!("7 (a ) b) S 1 1 1 0 -1 0 0 0 0 0 {own} 20 0\n"),
        );
        let cpu = "sys/devices/system/cpu/cpu0";
        put(
            &format!("{cpu}/thermal_throttle/core_throttle_count"),
            throttled,
        );
        put(&format!("{cpu}/cpufreq/scaling_max_freq"), max);
    }

    fn seen(stat: &str, own: &str, throttled: &str, max: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = ProcWatch::below(dir.path().into());
        machine(
            dir.path(),
            "1000 0 1000 5000 0 0 0 10 0 0",
            "5 5 100 100",
            "3",
            "2000",
        );
        watch.begin();
        machine(dir.path(), stat, own, throttled, max);
        watch.end()
    }

    #[test]
    fn our_own_load_disturbs_nobody() {
        let calm = seen("1300 0 1100 5600 0 0 0 10 0 0", "5 5 390 200", "3", "2000");
        assert_eq!(calm, Vec::<String>::new());
    }

    #[test]
    fn each_disturbance_is_named() {
        let steal = seen("1300 0 1100 5500 0 0 0 110 0 0", "5 5 390 200", "3", "2000");
        assert_eq!(steal, ["the hypervisor took 10 % of the CPUs"]);
        let other = seen("1300 0 1100 5600 0 0 0 10 0 0", "5 5 200 100", "3", "2000");
        assert_eq!(other, ["other load took 30 % of the CPUs"]);
        let heat = seen("1300 0 1100 5600 0 0 0 10 0 0", "5 5 390 200", "5", "1500");
        assert_eq!(heat.len(), 2, "{heat:?}");
        assert!(heat[0].contains("heat 2 times") && heat[1].contains("limits"));
    }

    #[test]
    fn a_machine_that_says_nothing_is_not_disturbed() {
        let mut watch = ProcWatch::below("/nonexistent".into());
        watch.begin();
        assert!(watch.end().is_empty());
    }
}
