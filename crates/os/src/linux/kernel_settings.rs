//! Settings of the kernel: files below `/proc/sys` and `/sys` with one value each.

use crate::error::Context;
use std::fs;
use std::io;

/// Returns the paths of all settings that match `pattern`, in which one `*` means any text without a slash.
///
/// # Errors
/// Returns `NotFound` if there are none.
pub fn paths(pattern: &str) -> io::Result<Vec<String>> {
    let Some((before, after)) = pattern.split_once('*') else {
        return Ok(vec![pattern.to_owned()]);
    };
    let (directory, start) = before.rsplit_once('/').unwrap_or(("", before));
    let (end, rest) = after.find('/').map_or((after, ""), |slash| after.split_at(slash));
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).context(|| format!("open {directory}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_match = name
            .strip_prefix(start)
            .and_then(|name| name.strip_suffix(end))
            .is_some_and(|any| !any.is_empty());
        let path = format!("{directory}/{name}{rest}");
        if is_match && fs::exists(&path)? {
            found.push(path);
        }
    }
    found.sort_unstable();
    if found.is_empty() {
        Err(io::Error::new(io::ErrorKind::NotFound, "no file has this name"))
    } else {
        Ok(found)
    }
}

/// Returns the value of a setting, with one space between words. If the file lists all values, as in `always [madvise] never`,
/// returns the chosen one.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read(path: &str) -> io::Result<String> {
    let text = fs::read_to_string(path).context(|| format!("read {path}"))?;
    let chosen = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    Ok(chosen.unwrap_or(&text).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Sets a setting, and checks that the kernel keeps the value. Otherwise restores the value before.
///
/// # Errors
/// Returns an error if the file cannot be written, and `Unsupported` if the kernel keeps another value.
pub fn write(path: &str, value: &str) -> io::Result<()> {
    let before = read(path)?;
    fs::write(path, value).context(|| format!("write '{value}' to {path}"))?;
    let kept = read(path)?;
    if kept == value {
        return Ok(());
    }
    fs::write(path, &before).context(|| format!("write '{before}' to {path}"))?;
    let reason = format!("{path} has the value '{kept}' after '{value}' was written");
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_the_files_of_all_devices() {
        let paths = paths("/sys/devices/system/cpu/cpu*/topology/core_id").unwrap();
        assert!(paths.contains(&"/sys/devices/system/cpu/cpu0/topology/core_id".to_owned()), "{paths:?}");
        assert!(paths.iter().all(|path| !path.contains("cpufreq")), "{paths:?}");
        let missing = super::paths("/sys/devices/system/cpu/cpu*/no_such_file").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_chosen_of_several_words_is_the_value() {
        let path = "/sys/kernel/mm/transparent_hugepage/enabled";
        let Ok(text) = fs::read_to_string(path) else { furlong_testing::skip!("needs {path}") };
        let value = read(path).unwrap();
        assert!(text.contains(&format!("[{value}]")), "{text}");
    }
}
