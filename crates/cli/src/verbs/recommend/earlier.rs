//! Earlier answers, stored next to the saved runs. If the same question is asked again, furlong reports whether the
//! answer has changed.

use crate::output;
use furlong_analysis::{Answer, Recommendation};
use furlong_console::{data_folder, writing};
use furlong_model::Placement;
use furlong_os::file_system::read_text;
use std::fs::{File, create_dir_all};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// The maximum number of stored answers, newest first.
const KEPT: usize = 100;

/// The maximum size of the answers file in bytes.
const LONGEST: u64 = 16 << 20;

fn file() -> Option<PathBuf> {
    Some(data_folder()?.join("answers.json"))
}

/// Returns the locked directory of a file, so that two writers at the same time do not lose each other's answers.
/// `None` if it cannot be locked, or if another process holds the lock for one second.
fn held(file: &Path) -> Option<File> {
    let folder = file.parent()?;
    create_dir_all(folder).ok()?;
    let folder = File::open(folder).ok()?;
    for _ in 0..100 {
        if folder.try_lock().is_ok() {
            return Some(folder);
        }
        sleep(Duration::from_millis(10));
    }
    None
}

/// Adds the earlier answer to the same question to the recommendation. Stores the new answer if `keep`.
pub fn compared(recommendation: Recommendation, placement: Placement, keep: bool) -> Recommendation {
    let (Some(file), Some(answer)) = (file(), Answer::of(&recommendation, placement)) else {
        return recommendation;
    };
    let _held = keep.then(|| held(&file));
    // A file that is unreadable or has another version counts as empty.
    let text = read_text(&file, LONGEST).unwrap_or_default();
    let kept: Vec<Answer> = serde_json::from_slice(text.as_bytes()).unwrap_or_default();
    let (same, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(|kept| kept.is_about_the_same(&answer));
    if keep {
        let kept: Vec<_> = [answer].into_iter().chain(others).take(KEPT).collect();
        let written = serde_json::to_vec(&kept)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| writing::replace_with_folder(&file, &bytes));
        if let Err(error) = written {
            output::tell(format_args!(
                "furlong: the recommendation is not stored for later comparison: {error:#}"
            ));
        }
    }
    match same.first() {
        Some(earlier) => recommendation.after(earlier),
        None => recommendation,
    }
}
