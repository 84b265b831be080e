// SPDX-License-Identifier: GPL-2.0-only
//! Builds the BPF objects into one skeleton and expands the `.def` lists.

#[path = "build/defs.rs"]
mod defs;
#[path = "build/native.rs"]
mod native;

use std::error::Error;
use std::path::Path;
use std::path::PathBuf;

const BPF_DIR: &str = "src/bpf";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    // The builder itself only watches the headers beside main.bpf.c.
    println!("cargo:rerun-if-changed={BPF_DIR}");
    println!("cargo:rerun-if-changed=build");

    let mut builder = scx_cargo::BpfBuilder::new()?;
    builder.enable_skel(&format!("{BPF_DIR}/main.bpf.c"), "bpf");
    for concern in ["state", "select", "enqueue", "dispatch", "events", "sample"] {
        builder.add_source(&format!("{BPF_DIR}/{concern}.bpf.c"));
    }
    // Each object includes the whole policy and uses its part.
    builder.add_cflag("-Wno-unused-function");
    builder.compile_link_gen()?;

    defs::stats(
        &Path::new(BPF_DIR).join("stats.def"),
        &out.join("stats_table.rs"),
    )?;
    defs::tunables(
        &Path::new(BPF_DIR).join("tunables.def"),
        &out.join("tunables_table.rs"),
    )?;
    native::archive(&out)?;
    Ok(())
}
