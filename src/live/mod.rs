// SPDX-License-Identifier: GPL-2.0-only
//! The running scheduler as other processes reach it: pinned maps, mapped memory.
//!
//! The values live in the kernel. Tools map the pinned section and store words
//! there; the loader takes no part and may be stopped while they do.

pub mod pins;
pub mod settings;
pub mod words;
