// SPDX-License-Identifier: GPL-2.0-only
//! The HTML report in a browser: nothing wider than a phone, dark where the reader's is.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Loads the report in a frame as wide as a phone and writes down what it looks like.
const PROBE: &str = r#"<body><iframe id="f" src="r.html" style="width:390px;height:800px;border:0"></iframe>
<script>
onload = () => {
  const page = document.getElementById("f").contentDocument;
  const wide = page.documentElement.scrollWidth;
  const small = [...page.querySelectorAll("svg text")]
    .filter(text => text.getBoundingClientRect().height < 10).length;
  const back = f.contentWindow.getComputedStyle(page.body).backgroundColor;
  document.body.textContent = `plots=${page.querySelectorAll("svg").length} wide=${wide} small=${small} back=${back};`;
};
</script>"#;

fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|out| out.status.success())
    })
}

fn sibling(dir: &Path, args: &[&str]) -> Vec<u8> {
    let out = Command::new(env!("CARGO_BIN_EXE_scx_sibling"))
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(out.status.success(), "{args:?}: {out:?}");
    out.stdout
}

fn probe(browser: &str, dir: &Path, scheme: &str) -> String {
    let out = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--dump-dom",
        ])
        .args([
            "--allow-file-access-from-files",
            "--virtual-time-budget=5000",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", dir.join("probe.html").display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&out.stdout).into_owned();
    let said = dom.split("<body>").nth(1).unwrap_or_default();
    said.split(';').next().unwrap_or_default().to_string()
}

#[test]
fn the_page_fits_a_phone_and_follows_the_dark() {
    let Some(browser) = browser() else {
        println!("SKIP no Chromium on this machine (package chromium)");
        return;
    };
    if scx_sibling::live::words::running_ops().is_some() {
        println!("SKIP another sched_ext scheduler is loaded");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let run = [
        "bench",
        "run",
        "--arm",
        "fair",
        "--arm",
        "cfs",
        "--rounds",
        "4",
        "--load",
        "pipe:place=same/unbound,loops=50",
        "--load",
        "schbench:workers=1/2,seconds=0.01",
        "--out",
        "r.jsonl",
        "--note",
        "mode=a note of some length, so that a line may have to be broken",
    ];
    sibling(dir.path(), &run);
    let page = sibling(dir.path(), &["bench", "report", "r.jsonl", "--html"]);
    fs::write(dir.path().join("r.html"), page).unwrap();
    fs::write(dir.path().join("probe.html"), PROBE).unwrap();
    // Two loads' gains, four figures of schbench against its workers, four cases' runs.
    let light = probe(browser, dir.path(), "1");
    assert_eq!(light, "plots=10 wide=390 small=0 back=rgb(253, 253, 251)");
    let dark = probe(browser, dir.path(), "0");
    assert_eq!(dark, "plots=10 wide=390 small=0 back=rgb(21, 23, 26)");
}
