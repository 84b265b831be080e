// SPDX-License-Identifier: GPL-2.0-only
//! Counters as text: one line per interval, a few lines at the end.

use super::Counters;
use super::LEVELS;

fn get(counters: &Counters, name: &str) -> u64 {
    counters.get(name).copied().unwrap_or(0)
}

fn by_level(counters: &Counters, group: &str) -> String {
    let parts: Vec<String> = LEVELS
        .iter()
        .filter_map(|level| match get(counters, &format!("{group}.{level}")) {
            0 => None,
            n => Some(format!("{level} {n}")),
        })
        .collect();
    if parts.is_empty() {
        "none".into()
    } else {
        parts.join(", ")
    }
}

fn total(counters: &Counters, prefix: &str) -> u64 {
    counters
        .iter()
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(_, n)| n)
        .sum()
}

/// One line for one interval; the figures in brackets sum to what was placed.
pub fn line(counters: &Counters) -> String {
    let shown = ["core", "prev", "target", "sync", "fork"];
    let parts: Vec<String> = shown
        .iter()
        .map(|reason| format!("{reason} {}", get(counters, &format!("place.{reason}"))))
        .collect();
    let queued = get(counters, "place.queue") + get(counters, "place.fork_queue");
    let placed = total(counters, "place.") - queued;
    let others = placed
        - shown
            .iter()
            .map(|reason| get(counters, &format!("place.{reason}")))
            .sum::<u64>();
    format!(
        "placed {placed:>7} ({} other {others}) queued {:>6} preempt {:>4} | pulled {} | balanced {}",
        parts.join(" "),
        get(counters, "queue.insert"),
        get(counters, "queue.preempt"),
        by_level(counters, "newidle.pulled"),
        by_level(counters, "balance.pulled"),
    )
}

/// A few lines on everything counted since the start.
pub fn summary(counters: &Counters) -> String {
    let placements = total(counters, "place.");
    let mut reasons: Vec<(&str, u64)> = counters
        .iter()
        .filter_map(|(name, n)| name.strip_prefix("place.").map(|reason| (reason, *n)))
        .filter(|(_, n)| *n > 0)
        .collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let reasons: Vec<String> = reasons
        .iter()
        .map(|(reason, n)| {
            format!(
                "{reason} {n} ({:.1} %)",
                *n as f64 * 100.0 / placements as f64
            )
        })
        .collect();
    let tries = total(counters, "newidle.try.");
    format!(
        "placements: {placements}: {}\nsingle-CPU wake-ups: on idle CPU {}, behind the running task {}\n\
         new-idle: {tries} searches, pulled {}, stopped by the gate {}, by the dice {}\n\
         busy balance: pulled {}; to idle cores {}\n",
        reasons.join(", "),
        get(counters, "pinned.idle"),
        get(counters, "pinned.lone"),
        by_level(counters, "newidle.pulled"),
        by_level(counters, "newidle.gated"),
        by_level(counters, "newidle.diced"),
        by_level(counters, "balance.pulled"),
        get(counters, "balance.spread"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_orders_reasons_by_frequency() {
        let c = Counters::from([
            ("place.core".to_string(), 1),
            ("place.prev".to_string(), 3),
            ("newidle.pulled.llc".to_string(), 2),
        ]);
        let text = summary(&c);
        assert!(text.contains("prev 3 (75.0 %), core 1 (25.0 %)"), "{text}");
        assert!(text.contains("pulled llc 2"), "{text}");
    }

    #[test]
    fn the_line_s_brackets_sum_to_what_was_placed() {
        let c = Counters::from([
            ("place.core".to_string(), 1),
            ("place.node".to_string(), 2),
            ("place.smt".to_string(), 4),
            ("place.queue".to_string(), 8),
        ]);
        let text = line(&c);
        assert!(text.contains("placed       7 (core 1"), "{text}");
        assert!(text.contains("other 6)"), "{text}");
    }

    #[test]
    fn no_counters_no_division() {
        assert!(summary(&Counters::new()).contains("placements: 0"));
        assert!(line(&Counters::new()).contains("pulled none"));
    }
}
