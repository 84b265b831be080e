// SPDX-License-Identifier: GPL-2.0-only
//! `tune watch`: changes as others make them.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::live::words::Words;
use crate::out;
use crate::run;
use crate::tunables::Settings;

/// Reading twenty words of mapped memory is nothing; a value changed twice in between shows once.
const POLL: Duration = Duration::from_millis(50);

/// Prints changes until asked to stop, nobody reads, or the scheduler has ended.
///
/// # Errors
/// The handler for Ctrl-C could not be installed.
pub fn run(words: &Words, json: bool) -> Result<()> {
    let asked = run::Requests::take(false)?;
    let mut lines = out::Stream::default();
    let mut before = words.read();
    while !asked.stop() && !lines.closed() {
        let alive = words.alive();
        let now = words.read();
        for line in changes(&before, &now, json) {
            lines.line(line);
        }
        before = now;
        if !alive {
            out::note("the scheduler has ended");
            break;
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn changes(before: &Settings, now: &Settings, json: bool) -> Vec<String> {
    let line = |name: &&str| {
        let [was, is] = [before, now].map(|s| s.text(name).unwrap_or_default());
        if json {
            json!({"name": name, "before": was, "value": is}).to_string()
        } else {
            format!("{name}={is}  (was {was})")
        }
    };
    now.differing(before).iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_per_change() {
        let mut now = Settings::default();
        assert!(changes(&Settings::default(), &now, false).is_empty());
        now.apply(&["wake.max_level=2", "NO_SYNC"]).unwrap();
        let lines = changes(&Settings::default(), &now, false);
        assert_eq!(lines, ["wake.max_level=2  (was 4)", "SYNC=off  (was on)"]);
    }
}
