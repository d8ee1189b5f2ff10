//! Published comparisons that are part of furlong, as the files of `crates/analysis/experiments/`.

/// Name and text of each comparison, in the order of the list.
const PUBLISHED: [(&str, &str); 5] = [
    ("ka2yan-2008", include_str!("../../experiments/ka2yan-2008.toml")),
    ("itmedia-mmap-100mb", include_str!("../../experiments/itmedia-mmap-100mb.toml")),
    ("qiita-windows-blocks", include_str!("../../experiments/qiita-windows-blocks.toml")),
    ("csdn-ipc-ranking", include_str!("../../experiments/csdn-ipc-ranking.toml")),
    ("racehorse", include_str!("../../experiments/racehorse.toml")),
];

/// Returns the name and text of each published comparison. [`read_experiment`](crate::read_experiment) reads the text.
pub fn published() -> &'static [(&'static str, &'static str)] {
    &PUBLISHED
}
