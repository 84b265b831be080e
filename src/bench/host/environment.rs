// SPDX-License-Identifier: GPL-2.0-only
//! What a result depends on besides the scheduler: kernel, machine, settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Kernel options that change what scheduling costs.
const OPTIONS: [&str; 16] = [
    "CONFIG_HZ",
    "CONFIG_NO_HZ_FULL",
    "CONFIG_NO_HZ_IDLE",
    "CONFIG_PREEMPT",
    "CONFIG_PREEMPT_DYNAMIC",
    "CONFIG_PREEMPT_LAZY",
    "CONFIG_PREEMPT_RT",
    "CONFIG_PREEMPT_VOLUNTARY",
    "CONFIG_SCHED_CLASS_EXT",
    "CONFIG_SCHED_CORE",
    "CONFIG_SCHED_AUTOGROUP",
    "CONFIG_FAIR_GROUP_SCHED",
    "CONFIG_CFS_BANDWIDTH",
    "CONFIG_SCHED_DEBUG",
    "CONFIG_LOCKDEP",
    "CONFIG_KASAN",
];

/// Everything that can be read below `root` (`/`), by name; what is not there is
/// left out.
pub fn read(root: &Path) -> BTreeMap<String, String> {
    let text = |name: &str| {
        let text = fs::read_to_string(root.join(name)).unwrap_or_default();
        text.trim().to_string()
    };
    let mut found = BTreeMap::new();
    let mut note = |name: &str, value: String| {
        if !value.is_empty() {
            found.insert(name.to_string(), value);
        }
    };
    let release = text("proc/sys/kernel/osrelease");
    note("kernel", release.clone());
    note("kernel build", text("proc/sys/kernel/version"));
    note("kernel command line", text("proc/cmdline"));
    note(
        "kernel options",
        options(&text(&format!("boot/config-{release}"))),
    );
    note(
        "preemption",
        bracketed(&text("sys/kernel/debug/sched/preempt")),
    );
    let cpuinfo = text("proc/cpuinfo");
    note("cpu", field(&cpuinfo, "model name"));
    note("microcode", field(&cpuinfo, "microcode"));
    let guest = field(&cpuinfo, "flags")
        .split(' ')
        .any(|flag| flag == "hypervisor");
    note("virtual machine", if guest { "yes" } else { "no" }.into());
    note("cpus online", text("sys/devices/system/cpu/online"));
    note("nodes online", text("sys/devices/system/node/online"));
    note("caches of cpu 0", caches(root));
    note("smt", text("sys/devices/system/cpu/smt/control"));
    let cpu0 = "sys/devices/system/cpu/cpu0/cpufreq";
    note("governor", text(&format!("{cpu0}/scaling_governor")));
    note("frequency driver", text(&format!("{cpu0}/scaling_driver")));
    note(
        "no turbo",
        text("sys/devices/system/cpu/intel_pstate/no_turbo"),
    );
    note("mitigations", mitigations(root));
    note(
        "clock source",
        text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
    );
    note("memory", field(&text("proc/meminfo"), "MemTotal"));
    note(
        "system",
        field_of(&text("etc/os-release"), "PRETTY_NAME", '=').replace('"', ""),
    );
    note("scx_sibling", env!("CARGO_PKG_VERSION").into());
    found
}

fn options(config: &str) -> String {
    let known = |line: &&str| {
        let name = line.split_once('=').map_or("", |(name, _)| name);
        OPTIONS.contains(&name)
    };
    config.lines().filter(known).collect::<Vec<_>>().join(" ")
}

/// The first value of "NAME : VALUE".
fn field(text: &str, name: &str) -> String {
    field_of(text, name, ':')
}

fn field_of(text: &str, name: &str, separator: char) -> String {
    let mut rows = text.lines().filter_map(|line| line.split_once(separator));
    let found = rows.find(|(key, _)| key.trim() == name);
    found.map_or(String::new(), |(_, value)| value.trim().to_string())
}

/// What stands in parentheses, as of "none (full) lazy".
fn bracketed(text: &str) -> String {
    let inside = text
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    inside.map_or(String::new(), |(word, _)| word.to_string())
}

fn caches(root: &Path) -> String {
    let dir = root.join("sys/devices/system/cpu/cpu0/cache");
    let one = |index: usize| {
        let file = |name: &str| {
            let text = fs::read_to_string(dir.join(format!("index{index}/{name}")));
            text.map(|text| text.trim().to_string()).ok()
        };
        Some(format!(
            "L{} {} {} (cpus {})",
            file("level")?,
            file("type")?,
            file("size")?,
            file("shared_cpu_list")?
        ))
    };
    (0..8).filter_map(one).collect::<Vec<_>>().join(", ")
}

fn mitigations(root: &Path) -> String {
    let dir = root.join("sys/devices/system/cpu/vulnerabilities");
    let mut rows: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let state = fs::read_to_string(entry.path()).ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let state = state.trim();
            (state != "Not affected").then(|| format!("{name}: {state}"))
        })
        .collect();
    rows.sort();
    rows.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read_and_nothing_else_is_claimed() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("proc/sys/kernel/osrelease", "7.3.4\n");
        put(
            "boot/config-7.3.4",
            "CONFIG_HZ=250\nCONFIG_HZ_250=y\n# CONFIG_KASAN is not set\n",
        );
        put(
            "proc/cpuinfo",
            "processor : 0\nmodel name\t: A CPU\nflags\t\t: fpu hypervisor\n",
        );
        put(
            "sys/kernel/debug/sched/preempt",
            "none voluntary (full) lazy\n",
        );
        put(
            "sys/devices/system/cpu/vulnerabilities/meltdown",
            "Mitigation: PTI\n",
        );
        put(
            "sys/devices/system/cpu/vulnerabilities/mds",
            "Not affected\n",
        );
        let found = read(dir.path());
        let want = [
            ("kernel", "7.3.4"),
            ("kernel options", "CONFIG_HZ=250"),
            ("cpu", "A CPU"),
            ("virtual machine", "yes"),
            ("preemption", "full"),
            ("mitigations", "meltdown: Mitigation: PTI"),
        ];
        for (name, value) in want {
            assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert!(!found.contains_key("governor"));
    }
}
