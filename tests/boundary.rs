// SPDX-License-Identifier: GPL-2.0-only
//! The policy is plain C over the port: it names nothing of the kernel or of BPF, so that the same
//! text compiles for both. Comments may name what they like.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;

const POLICY: &str = "src/bpf/policy";

/// Beginnings of identifiers that only glue and port may use.
const FORBIDDEN: [&str; 12] = [
    "task_struct",
    "cpumask",
    "bpf_",
    "scx_bpf_",
    "SCX_",
    "cpu_rq",
    "task_ctx",
    "nr_cpu_ids",
    "vmlinux",
    "BPF_",
    "can_loop",
    "SEC",
];

/// The text with every comment turned into blanks, line by line.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        let (comment, after) = comment.split_once("*/").expect("an unfinished comment");
        code.extend(comment.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    code + rest
}

/// Identifiers of one line, its macros and includes too.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

fn headers() -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(POLICY);
    let mut found: Vec<(String, String)> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn the_policy_names_nothing_of_the_kernel_or_of_bpf() {
    let headers = headers();
    assert!(headers.len() >= 6, "the policy has moved");
    for (name, text) in headers {
        for (number, line) in (1..).zip(without_comments(&text).lines()) {
            let bad = words(line).find(|w| {
                let w = w.trim_start_matches('_');
                FORBIDDEN.iter().any(|f| w.starts_with(f)) && w != "SECOND"
            });
            assert_eq!(bad, None, "{name}:{number}: {line}");
        }
    }
}

#[test]
fn the_policy_includes_only_itself() {
    for (name, text) in headers() {
        for line in without_comments(&text)
            .lines()
            .filter(|l| l.contains("#include"))
        {
            let file = line.split('"').nth(1).unwrap_or_default();
            let own = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(POLICY)
                .join(file);
            assert!(
                !file.is_empty() && !file.contains('/') && own.exists(),
                "{name}: {line}"
            );
        }
    }
}

#[test]
fn the_policy_is_not_compiled_differently_for_tests() {
    for (name, text) in headers() {
        let guard = |l: &&str| l.starts_with("#if") && !l.starts_with("#ifndef __SIBLING_POLICY_");
        assert_eq!(without_comments(&text).lines().find(guard), None, "{name}");
    }
}

#[test]
fn comments_are_seen_as_comments() {
    let code = without_comments("a /* bpf_\n task_struct */ b\n/**/c");
    assert_eq!(code, "a \n b\nc");
}
