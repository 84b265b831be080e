//! The few ways in which a tree gives no topology at all.

use std::path::PathBuf;

use thiserror::Error;

/// Why no topology could be read. Everything less grave is a line in `Topology::warnings`.
#[derive(Debug, Error)]
pub enum TopologyError {
    /// Neither place below the root has the CPU directory.
    #[error(
        "no CPU directory below {root:?}: looked for devices/system/cpu and sys/devices/system/cpu; \
         mount sysfs there, or give the directory that stands for /sys"
    )]
    NoTree {
        /// The root that was given.
        root: PathBuf,
    },
    /// The CPU directory exists and cannot be listed.
    #[error(
        "cannot list {path:?}: {source}; check that it is a readable directory of a sysfs tree"
    )]
    Unreadable {
        /// The directory that was listed.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The CPU directory has no `cpuN` in it.
    #[error(
        "{path:?} has no directory named cpu0, cpu1, ...; it is no sysfs CPU directory or was \
         copied incompletely, copy the tree again"
    )]
    NoCpus {
        /// The directory that was searched.
        path: PathBuf,
    },
    /// There are `cpuN` directories, and every source calls all of them offline.
    #[error(
        "none of the CPUs {dirs} below {path:?} is online according to cpu/online and cpuN/online; \
         at least one has to be"
    )]
    NoneOnline {
        /// The directory that was searched.
        path: PathBuf,
        /// The CPUs that have a directory, as a list string.
        dirs: String,
    },
}
