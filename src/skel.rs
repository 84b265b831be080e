// SPDX-License-Identifier: GPL-2.0-only
//! The generated BPF skeleton and the types both sides share.
#![allow(clippy::all, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::undocumented_unsafe_blocks, missing_docs)]

include!(concat!(env!("OUT_DIR"), "/bpf_skel.rs"));
