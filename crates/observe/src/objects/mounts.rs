//! Mounted file systems.

use std::fs;
use std::path::PathBuf;

/// Returns the directories at which file systems are mounted whose type satisfies `is_wanted`.
pub fn mount_points(is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let wanted = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, kind) = (fields.next()?, fields.next()?);
        is_wanted(kind).then(|| PathBuf::from(place.replace("\\040", " ")))
    });
    wanted.collect()
}
