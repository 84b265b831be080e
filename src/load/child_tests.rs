// SPDX-License-Identifier: GPL-2.0-only
//! Forking, waiting and cleaning up, with real processes.

use super::*;

fn children(n: usize) -> Children {
    Children::new(n, Duration::ZERO, Duration::from_secs(20)).unwrap()
}

#[test]
fn children_share_memory_and_finish() {
    let words = Shared::<AtomicU64>::new(3).unwrap();
    let mut set = children(3);
    for i in 0..3 {
        let word = &words[i];
        set.spawn("t", &Setup::default(), |_| {
            word.store(i as u64 + 1, Relaxed);
            Ok(())
        })
        .unwrap();
    }
    set.start().unwrap();
    set.finish().unwrap();
    assert_eq!(
        words.iter().map(|w| w.load(Relaxed)).collect::<Vec<_>>(),
        [1, 2, 3]
    );
}

#[test]
fn a_childs_error_reaches_the_parent() {
    let mut set = children(1);
    set.spawn("t", &Setup::default(), |_| bail!("tried, wrong, do"))
        .unwrap();
    set.start().unwrap();
    let text = set.finish().unwrap_err().to_string();
    assert_eq!(text, "process t: tried, wrong, do");
    assert!(set.spawn("u", &Setup::default(), |_| Ok(())).is_err());
}

#[test]
fn a_bad_mask_fails_before_the_start() {
    let mut set = children(1);
    set.spawn("t", &Setup::on(&[60_000]), |_| Ok(())).unwrap();
    let text = set
        .start()
        .and_then(|_| set.finish())
        .unwrap_err()
        .to_string();
    assert!(text.contains("CPU 60000"), "{text}");
}

#[test]
fn dropping_kills_what_still_runs() {
    let mut set = children(1);
    let pid = set
        .spawn("t", &Setup::default(), |_| loop {
            super::super::clock::spin(1 << 30);
        })
        .unwrap();
    drop(set);
    // SAFETY: signal 0 only asks whether the process exists.
    assert_eq!(unsafe { libc::kill(pid, 0) }, -1);
}
