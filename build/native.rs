// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the policy headers for this machine, over the synthetic port of
//! tests/native, into an archive that integration tests alone are linked with.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const DIR: &str = "tests/native";
const FLAGS: [&str; 9] = [
    "-std=gnu11",
    "-O2",
    "-g",
    "-fPIC",
    "-Wall",
    "-Wextra",
    // Traps on what C leaves undefined and BPF defines, without a run-time library.
    "-fsanitize=undefined",
    "-fsanitize-undefined-trap-on-error",
    "-c",
];

/// Builds the archive in `out`; without the sources, as in a packaged crate,
/// there are no tests to link and nothing to do.
pub fn archive(out: &Path) -> Result<(), Box<dyn Error>> {
    let source = Path::new(DIR).join("host.c");
    if !source.exists() {
        println!(
            "cargo:warning=no {}: the policy tests cannot be linked",
            source.display()
        );
        return Ok(());
    }
    println!("cargo:rerun-if-changed={}", source.display());
    println!("cargo:rerun-if-changed={DIR}/port.h");
    println!("cargo:rerun-if-env-changed=CC");
    println!("cargo:rerun-if-env-changed=AR");

    let object = out.join("policy_host.o");
    let archive = out.join("libpolicy_host.a");
    // "cc -m64" and the like are usual in CC.
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = compiler.split_whitespace();
    let mut compile = Command::new(words.next().unwrap_or("cc"));
    compile
        .args(words)
        .args(FLAGS)
        .arg(&source)
        .arg("-o")
        .arg(&object);
    run(compile)?;

    // An archive left from another build may hold members of other names.
    let _ = std::fs::remove_file(&archive);
    let mut pack = Command::new(env::var_os("AR").unwrap_or_else(|| OsString::from("ar")));
    pack.arg("crs").arg(&archive).arg(&object);
    run(pack)?;
    println!("cargo:rustc-link-arg-tests={}", archive.display());
    Ok(())
}

/// Runs a tool; what it has to say becomes a warning of cargo's.
fn run(mut command: Command) -> Result<(), Box<dyn Error>> {
    let output = command
        .output()
        .map_err(|e| format!("running {command:?}: {e}"))?;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        println!("cargo:warning={line}");
    }
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", output.status).into())
}
