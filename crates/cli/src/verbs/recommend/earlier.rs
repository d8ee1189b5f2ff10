//! The last answers, kept beside the saved runs: whoever asks the same question again is told whether the answer is the same.

use crate::output;
use furlong_analysis::{Answer, Recommendation};
use furlong_console::{data_folder, writing};
use furlong_model::Placement;
use furlong_os::file_system::read_text;
use std::fs::{File, create_dir_all};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Answers that are kept, the newest first.
const KEPT: usize = 100;

/// The longest file of answers that is read, in bytes.
const LONGEST: u64 = 16 << 20;

fn file() -> Option<PathBuf> {
    Some(data_folder()?.join("answers.json"))
}

/// The folder of a file, locked, so that of two that write to it at once neither loses what the other wrote; `None` where it
/// cannot be, or somebody keeps it for a second.
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

/// The recommendation with what was answered to the same question before. It is kept for the next time if `keep` says so.
pub fn compared(recommendation: Recommendation, placement: Placement, keep: bool) -> Recommendation {
    let (Some(file), Some(answer)) = (file(), Answer::of(&recommendation, placement)) else {
        return recommendation;
    };
    let _held = keep.then(|| held(&file));
    // A file that cannot be read, or is of another version, is as good as none.
    let text = read_text(&file, LONGEST).unwrap_or_default();
    let kept: Vec<Answer> = serde_json::from_slice(text.as_bytes()).unwrap_or_default();
    let (same, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(|kept| kept.is_about_the_same(&answer));
    if keep {
        let kept: Vec<_> = [answer].into_iter().chain(others).take(KEPT).collect();
        let written = serde_json::to_vec(&kept)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| writing::replace_with_folder(&file, &bytes));
        if let Err(error) = written {
            output::tell(format_args!("furlong: the answer is not kept for the next time: {error:#}"));
        }
    }
    match same.first() {
        Some(earlier) => recommendation.after(earlier),
        None => recommendation,
    }
}
