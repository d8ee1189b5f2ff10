//! Phrases that are not the English of the field. The number of them in each kind of text may fall and never rise.

use super::pages::all_pages;
use super::rust_text::strings;
use super::{root, sources};
use std::collections::BTreeMap;
use std::fs;

/// Phrases, with the words to write instead. `|` separates alternatives of a word, `*` is any word, `¶` the beginning of a paragraph, and
/// `.` the end of a sentence. A phrase does not count if one of the words after `!` follows in the same sentence.
const PHRASES: [(&str, &str); 43] = [
    ("so many|much|few|often !that as", "N, or that number of"),
    ("for|to|of|by|with|from|than who", "the actor: client, peer, caller, process"),
    (".|¶ who", "the actor: client, peer, caller, process"),
    (
        "what lends|carries|goes|lies|stands|asks|serves|comes|tells|is|was|were|are|has|had|there|one",
        "a noun",
    ),
    ("at the same moment", "in parallel, at the same time"),
    ("again and again", "repeatedly"),
    ("anew", "again"),
    ("in vain", "unsuccessfully"),
    ("to and fro", "back and forth"),
    ("for want of", "because there is no"),
    ("tell|tells|telling of", "report"),
    ("tell|tells|told apart", "distinguish, significantly different"),
    ("tell|tells|told * apart", "distinguish, significantly different"),
    ("told from", "distinguished from, tied with"),
    ("cannot be told", "tied, not significantly different"),
    (",|;|and|or else", "otherwise"),
    ("all else", "everything else"),
    ("all of it", "the whole run"),
    (
        "is no number|size|time|name|file|folder|record|percentage|row|run|text",
        "is not a valid …: expected …",
    ),
    ("beside", "next to, in addition to"),
    ("nobody|somebody|anybody|everybody", "no process, a process, any user"),
    ("lies|lay|stands|stood", "is stored, is located, is shown"),
    ("come|comes on top", "is added"),
    ("that|what|than there is|are|was|were", "existing, available"),
    ("is|are there already", "already exists"),
    ("has|have come", "has arrived"),
    ("is|are gone", "has exited, no longer exists"),
    ("under way", "in flight, in progress"),
    ("if not given", "[default: …]"),
    ("the usual one|wait|way", "default"),
    ("is|are|was|were said of|to|that|before|below", "report, state"),
    ("and say|says so", "report, state"),
    (
        "by one|a|the|another|all|several|its|whatever link|links|pipe|port|path|socket|shell|network",
        "over, through",
    ),
    ("of whom|which each|one|the", "two sentences"),
    ("of|for its|their|your|one's|a own", "its own …, separate …"),
    ("by itself|themselves", "automatically, alone"),
    ("¶ the same .", "the noun"),
    ("¶ which|what|why|where|when|who .", "the noun"),
    ("time-out|time-outs|mended|seldom|meanwhile", "timeout, fixed, rarely, while …"),
    ("folder|folders", "directory"),
    (
        "calls|messages|times|lines|switches|exchanges|bytes|trips a|an second|message|round|exchange|row|run",
        "per second, per message",
    ),
    ("lend|lends|lent|lending", "loan, zero-copy access"),
    ("¶ of|from|by *", "the subject first"),
];

/// The number of phrases that each kind of text of a crate, and each page, may have. If a number has fallen, the test prints the new line.
const BUDGET: &str = include_str!("words.txt");

/// A phrase as alternatives of words, and the words that excuse it.
struct Phrase {
    words: Vec<Vec<&'static str>>,
    excuses: Vec<&'static str>,
    instead: &'static str,
}

impl Phrase {
    fn all() -> Vec<Phrase> {
        let phrase = |(text, instead): (&'static str, &'static str)| {
            let (words, excuses) = text.split_once(" !").unwrap_or((text, ""));
            Phrase {
                words: words.split(' ').map(|word| word.split('|').collect()).collect(),
                excuses: excuses.split_whitespace().collect(),
                instead,
            }
        };
        PHRASES.map(phrase).into()
    }

    fn begins(&self, words: &[String]) -> bool {
        let fits = |(word, wanted): (&String, &Vec<&str>)| match wanted[..] {
            ["*"] => word.chars().all(char::is_alphanumeric),
            _ => wanted.contains(&word.as_str()),
        };
        let sentence = || words.iter().skip(1).take_while(|word| !is_end(word));
        words.len() >= self.words.len()
            && words.iter().zip(&self.words).all(fits)
            && !sentence().any(|word| self.excuses.contains(&word.as_str()))
    }
}

fn is_end(word: &str) -> bool {
    matches!(word, "." | "?" | "!" | ";")
}

/// Returns the words of a paragraph in small letters, with its punctuation. Questions are left out, because "what" is a question word.
fn words(paragraph: &str) -> Vec<String> {
    let (mut words, mut sentence, mut word) = (vec!["¶".to_owned()], Vec::new(), String::new());
    for letter in paragraph.chars().chain(['\n']) {
        if letter.is_alphanumeric() || "-_'`".contains(letter) {
            word.extend(letter.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            sentence.push(std::mem::take(&mut word));
        }
        match letter {
            '?' => sentence.clear(),
            '.' | ';' | '!' | '\n' => {
                words.append(&mut sentence);
                words.push(if letter == '\n' { '.' } else { letter }.to_string());
            }
            ',' | ':' => sentence.push(letter.to_string()),
            _ => {}
        }
    }
    words
}

/// Returns the paragraphs of comments in a source, with the lines on which they begin.
fn comments(source: &str) -> Vec<(usize, String)> {
    let text = source.lines().map(|line| {
        let line = line.trim();
        let comment = ["//!", "///", "//"].into_iter().find_map(|mark| line.strip_prefix(mark));
        comment.map_or("", str::trim)
    });
    paragraphs(text)
}

/// Joins lines to paragraphs, which empty lines separate. Blocks of code are left out.
fn paragraphs<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(usize, String)> {
    let (mut found, mut is_code, mut is_new): (Vec<(usize, String)>, _, _) = (Vec::new(), false, true);
    for (number, line) in (1..).zip(lines) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let begins = line.starts_with(['|', '#', '-', '*']);
        match found.last_mut() {
            _ if is_fence || is_code || line.is_empty() => is_new = true,
            Some((_, paragraph)) if !is_new && !begins => *paragraph = format!("{paragraph} {line}"),
            _ => {
                found.push((number, line.to_owned()));
                is_new = false;
            }
        }
    }
    found
}

/// Returns the string literals of a source that have several words, with the lines on which they begin.
fn messages(source: &str) -> Vec<(usize, String)> {
    let texts = strings(source).into_iter().filter(|(_, text)| text.contains(' '));
    // The end of a line is no end of a message that continues on the next.
    let continued = |text: &str| text.split("\\\n").map(str::trim_start).collect::<String>();
    texts.map(|(at, text)| (1 + source[..at].matches('\n').count(), continued(text))).collect()
}

/// Returns the phrases in some text, each with its line.
fn phrases(phrases: &[Phrase], text: &[(usize, String)]) -> Vec<String> {
    let in_paragraph = |(number, paragraph): &(usize, String)| {
        let words = words(paragraph);
        let found = (0..words.len()).flat_map(|at| phrases.iter().map(move |phrase| (at, phrase)));
        let found = found.filter(|(at, phrase)| phrase.begins(&words[*at..]));
        let line = |(at, phrase): (usize, &Phrase)| {
            let said = words[at..at + phrase.words.len()].join(" ");
            format!("{number}: '{said}': write {}", phrase.instead)
        };
        found.map(line).collect::<Vec<_>>()
    };
    text.iter().flat_map(in_paragraph).collect()
}

#[test]
fn phrases_become_fewer() {
    let rules = Phrase::all();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut note = |key: String, path: &str, text: &[(usize, String)]| {
        let lines = phrases(&rules, text).into_iter().map(|line| format!("{path}:{line}"));
        found.entry(key).or_default().extend(lines);
    };
    for (path, text) in ["crates", "driver", "adapters", "fuzz/src"].into_iter().flat_map(sources) {
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let of = path.split('/').take(2).collect::<Vec<_>>().join("/");
        if path.ends_with("tidy/words.rs") {
            continue;
        }
        let kind = if path.starts_with("crates/cli/src/arguments") { "help" } else { "comments" };
        note(format!("{kind} {of}"), path, &comments(&text));
        note(format!("messages {of}"), path, &messages(&text));
    }
    for page in all_pages() {
        let path = page.strip_prefix(root()).unwrap().to_str().unwrap();
        let text = paragraphs(fs::read_to_string(&page).unwrap().lines().map(str::trim));
        note(format!("page {path}"), path, &text);
    }
    let budget = |key: &str| {
        let line = BUDGET.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        line.map_or(0, |number| number.parse::<usize>().unwrap())
    };
    let mut wrong = Vec::new();
    for (key, lines) in &found {
        let (budget, is) = (budget(key), lines.len());
        if is > budget {
            wrong.push(format!("{}\n{key} has {is} phrases, at most {budget} are allowed", lines.join("\n")));
        } else if is < budget {
            wrong.push(format!("fewer phrases; write into tests/tidy/words.txt: {key} {is}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn phrase_is_found_in_its_kind_of_text() {
    let found = |text: &str| phrases(&Phrase::all(), &[(1, text.to_owned())]).len();
    for (text, count) in [
        ("Waits so often.", 1),
        ("It is so often here that it counts.", 0),
        ("The ring is what lends. Who asks, waits.", 3),
        ("What is asked?", 0),
        ("They cannot be told apart.", 2),
        ("It has a folder of its own.", 2),
        ("Which.", 1),
        ("Of the sender.", 1),
        ("A row of the sender.", 0),
    ] {
        assert_eq!(found(text), count, "{text}");
    }
    let source = "/// One\n/// two.\n///\n/// Three.\nfn f() { say(\"a b\", \"c\"); } // no\n// four";
    let long = "say(\"one \\\n    two\", '\"', r#\"a \"b\"#); // \"no text\"";
    assert_eq!(messages(long), [(1, "one two".to_owned()), (2, "a \"b".to_owned())]);
    let texts = |found: Vec<(usize, String)>| found.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts(comments(source)), ["One two.", "Three.", "four"]);
    assert_eq!(texts(messages(source)), ["a b"]);
    assert_eq!(texts(paragraphs("# A\nb\n```\nc\n```\nd".lines())), ["# A b", "d"]);
}
