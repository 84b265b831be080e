// SPDX-License-Identifier: GPL-2.0-only
//! libbpf's messages: silent unless asked for. It warns of every ops member
//! that an older or newer kernel does not have, which is no news to the user.

use libbpf_rs::PrintLevel;

/// Shows libbpf's messages, the verifier's log included, when `verbose`.
pub fn init(verbose: bool) {
    if verbose {
        libbpf_rs::set_print(Some((PrintLevel::Info, |_, text| eprint!("{text}"))));
    } else {
        libbpf_rs::set_print(None);
    }
}
