//! Random damage to a sysfs tree.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use proptest::prelude::*;
use scx_sibling::topology::CpuSet;

/// One way to spoil a file or directory.
#[derive(Debug, Clone)]
pub enum Damage {
    Delete,
    Truncate(usize),
    Bytes(Vec<u8>),
    Text(String),
    /// The content of another file.
    Copy(prop::sample::Index),
    DanglingLink,
    Directory,
}

/// Any damage, with a weight on the kinds that still parse.
pub fn damage() -> impl Strategy<Value = Damage> {
    let text = prop_oneof![
        // Well-formed and wrong is the hardest kind.
        prop::collection::btree_set(0u32..20, 0..12)
            .prop_map(|cpus| cpus.into_iter().collect::<CpuSet>().to_string()),
        "[0-9,:/x-]{0,12}",
        Just("\0".to_string()),
        Just("0-3\0\0".to_string()),
        Just("(null)".to_string()),
        Just("18446744073709551616".to_string()),
        Just("0-8191".to_string()),
        Just("0-4294967295".to_string()),
        Just("-1".to_string()),
        Just("ffffffff,".repeat(300)),
        Just("0,".repeat(40_000)),
    ];
    prop_oneof![
        3 => Just(Damage::Delete),
        2 => (0usize..8).prop_map(Damage::Truncate),
        2 => prop::collection::vec(any::<u8>(), 0..64).prop_map(Damage::Bytes),
        6 => text.prop_map(Damage::Text),
        4 => any::<prop::sample::Index>().prop_map(Damage::Copy),
        1 => Just(Damage::DanglingLink),
        1 => Just(Damage::Directory),
    ]
}

/// Does the damage to one place; `files` are the places that [`Damage::Copy`] may copy from.
pub fn spoil(path: &Path, damage: &Damage, files: &[PathBuf]) {
    // An earlier damage may have taken the place away already; nothing here may fail for that.
    let remove = || match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
    let old = fs::read(path).unwrap_or_default();
    let new = match damage {
        Damage::Delete => return drop(remove()),
        Damage::DanglingLink => return drop(remove().and_then(|()| symlink("nowhere", path))),
        Damage::Directory => return drop(remove().and_then(|()| fs::create_dir(path))),
        Damage::Truncate(keep) => old.into_iter().take(*keep).collect(),
        Damage::Bytes(bytes) => bytes.clone(),
        Damage::Text(text) => text.clone().into_bytes(),
        Damage::Copy(other) => fs::read(other.get(files)).unwrap_or_default(),
    };
    let _ = remove();
    let _ = fs::write(path, new);
}

/// Every file, link and directory below, in a stable order.
pub fn all_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            found.extend(all_below(&path));
        }
        found.push(path);
    }
    found
}
