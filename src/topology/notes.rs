//! Collects what was odd about a tree, one line per kind of oddity instead of one per CPU.

use super::cpuset::CpuSet;

/// More kinds than this help nobody; the rest is counted.
const MAX_LINES: usize = 40;

/// Folded remarks: the same remark about many CPUs becomes one line naming them all.
#[derive(Debug, Default)]
pub(super) struct Notes {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    what: String,
    /// The detail of the first CPU, as an example for all.
    detail: String,
    cpus: CpuSet,
}

impl Notes {
    /// A remark about one CPU. `what` decides what is folded; of the `detail`s the first is kept.
    pub(super) fn cpu(&mut self, cpu: u32, what: &str, detail: &str) {
        self.cpus(&CpuSet::single(cpu), what, detail);
    }

    /// A remark about several CPUs at once; nothing when there are none.
    pub(super) fn cpus(&mut self, cpus: &CpuSet, what: &str, detail: &str) {
        if cpus.is_empty() {
            return;
        }
        match self
            .entries
            .iter_mut()
            .find(|e| e.what == what && !e.cpus.is_empty())
        {
            Some(entry) => entry.cpus = entry.cpus.union(cpus),
            None => self.push(what, detail, cpus.clone()),
        }
    }

    /// A remark about the machine as a whole.
    pub(super) fn machine(&mut self, what: &str) {
        if !self.entries.iter().any(|e| e.what == what) {
            self.push(what, "", CpuSet::new());
        }
    }

    fn push(&mut self, what: &str, detail: &str, cpus: CpuSet) {
        self.entries.push(Entry {
            what: what.to_string(),
            detail: detail.to_string(),
            cpus,
        });
    }

    /// The lines, in the order in which each kind came up first.
    pub(super) fn into_lines(self) -> Vec<String> {
        let more = self.entries.len().saturating_sub(MAX_LINES);
        let mut lines: Vec<String> = self
            .entries
            .iter()
            .take(MAX_LINES)
            .map(Entry::line)
            .collect();
        if more > 0 {
            lines.push(format!(
                "{more} more kinds of oddity; this tree is badly damaged"
            ));
        }
        lines
    }
}

impl Entry {
    fn line(&self) -> String {
        let mut line = match self.cpus.len() {
            0 => String::new(),
            1 => format!("CPU {}: ", self.cpus),
            _ => format!("CPUs {}: ", self.cpus),
        };
        line.push_str(&self.what);
        if !self.detail.is_empty() {
            let example = if self.cpus.len() > 1 { "e.g. " } else { "" };
            line.push_str(&format!(" ({example}{})", self.detail));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_remark_about_many_cpus_is_one_line() {
        let mut notes = Notes::default();
        for cpu in 0..64 {
            notes.cpu(cpu, "no cache", &format!("detail {cpu}"));
        }
        notes.machine("no nodes");
        notes.machine("no nodes");
        notes.cpus(&CpuSet::new(), "nobody", "");
        assert_eq!(
            notes.into_lines(),
            ["CPUs 0-63: no cache (e.g. detail 0)", "no nodes"]
        );
    }

    #[test]
    fn a_flood_of_kinds_is_cut() {
        let mut notes = Notes::default();
        (0..100).for_each(|n| notes.machine(&format!("kind {n}")));
        assert_eq!(notes.into_lines().len(), MAX_LINES + 1);
    }
}
