//! The pages that people read: each is in the book, and each link between them leads somewhere.

use super::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns every page of a directory and of its subdirectories.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

/// Returns every page of the repository, except for texts from which programs make pages.
pub fn all_pages() -> Vec<PathBuf> {
    let alone = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let alone = alone.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let folders = ["adapters", "crates/channel", "crates/channel-c", "docs", "driver", "python-module"];
    folders.iter().flat_map(|folder| pages(&root().join(folder))).chain(alone).collect()
}

/// Returns the files that a page links to, without the part after `#`.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(page).unwrap();
    let folder = page.parent().unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let is_file = |target: &&str| !target.contains("://") && !target.starts_with('#');
    let target = |target: &str| folder.join(target.split('#').next().unwrap());
    targets.filter(is_file).map(target).collect()
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    let mut count = 0;
    for page in all_pages() {
        for target in links(&page) {
            assert!(target.exists(), "{} links to {}", page.display(), target.display());
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn every_page_is_in_the_book_once() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let chapters = links(&summary);
    let named: BTreeSet<PathBuf> = chapters.iter().cloned().collect();
    assert_eq!(named.len(), chapters.len(), "a chapter is listed twice: {chapters:?}");
    let pages: BTreeSet<PathBuf> = pages(&docs).into_iter().filter(|page| *page != summary).collect();
    assert_eq!(named, pages);
}
