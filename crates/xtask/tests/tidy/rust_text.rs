//! Rust as text, without its comments and strings.

/// Returns the code, with each comment and each string or character literal replaced by a space.
pub fn without_comments_and_strings(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_in_word = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = literal_or_comment(rest, is_in_word);
        match length {
            0 => code.push(first),
            _ => code.push(' '),
        }
        rest = &rest[length.max(first.len_utf8())..];
    }
    code
}

/// Returns the content of each string literal in a text as it is written, with the offset of the literal.
pub fn strings(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let is_in_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = literal_or_comment(&text[at..], is_in_word);
        let literal = &text[at..at + length];
        if !literal.starts_with(['/', '\'']) {
            let quoted = literal.trim_start_matches(char::is_alphabetic).trim_matches('#');
            found.extend(quoted.get(1..quoted.len().saturating_sub(1)).map(|content| (at, content)));
        }
        at += length.max(first.len_utf8());
    }
    found
}

/// Returns the length of the comment or literal at the beginning of the text; 0 if there is none.
fn literal_or_comment(text: &str, is_in_word: bool) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    if text.starts_with('"') {
        return quoted(text, '"');
    }
    if let Some(after) = text.strip_prefix('\'') {
        // A lifetime has no second quotation mark behind its first character.
        let is_character = after.starts_with('\\') || after.chars().nth(1) == Some('\'');
        return if is_character { quoted(text, '\'') } else { 0 };
    }
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| text.starts_with(prefix));
    let Some(raw) = prefix.filter(|_| !is_in_word).map(|prefix| &text[prefix.len()..]) else { return 0 };
    let quotation = raw.trim_start_matches('#');
    if !quotation.starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", &raw[..raw.len() - quotation.len()]);
    let length = quotation[1..].find(&end).map_or(quotation.len(), |at| 1 + at + end.len());
    text.len() - quotation.len() + length
}

/// Returns the length of a literal between two quotation marks.
fn quoted(text: &str, mark: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == mark && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Returns the length of a block comment, which may have others in it.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        match (text[at..].find("/*"), text[at..].find("*/")) {
            (Some(begin), Some(end)) if begin < end => (depth, at) = (depth + 1, at + begin + 2),
            (_, Some(end)) => (depth, at) = (depth - 1, at + end + 2),
            (_, None) => return text.len(),
        }
        if depth == 0 {
            return at;
        }
    }
}

/// Returns how often code says `unsafe`: before a block, a function, an implementation, `extern` or an attribute.
pub fn count_unsafe(text: &str) -> usize {
    let code = without_comments_and_strings(text);
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == "unsafe").count()
}

/// Returns whether the file forbids unsafe code entirely: the attribute precedes its first item.
pub fn forbids_unsafe(text: &str) -> bool {
    let code = without_comments_and_strings(text);
    code.split_once("#![forbid(unsafe_code)]").is_some_and(|(before, _)| !before.contains(['{', ';']))
}

#[test]
fn unsafe_is_forbidden_at_the_root_of_a_file() {
    assert!(forbids_unsafe("//! A {crate}; of text.\n#![no_std]\n#![forbid(unsafe_code)]\nmod a;"));
    for text in [
        "",
        "//! #![forbid(unsafe_code)]",
        "mod a { #![forbid(unsafe_code)] }",
        "use a;\n#![forbid(unsafe_code)]",
    ] {
        assert!(!forbids_unsafe(text), "{text}");
    }
}

#[test]
fn unsafe_counts_in_code_alone() {
    for code in [
        "unsafe {}",
        "unsafe fn f()",
        "unsafe impl T for S {}",
        "unsafe extern \"C\" {}",
        "#[unsafe(no_mangle)]",
    ] {
        assert_eq!(count_unsafe(&format!("fn g<'a>(c: &'a str) {{}} {code}")), 1, "{code}");
    }
    for text in [
        "#![forbid(unsafe_code)]",
        "// unsafe {}",
        "/* a /* b */ unsafe {} */",
        "\"\\\" unsafe {}\"",
        "r#\"\" unsafe {}\"#",
        "br\"\\\" unsafe_code",
    ] {
        assert_eq!(count_unsafe(text), 0, "{text}");
        assert_eq!(count_unsafe(&format!("['\"', '\\''] {text}\n unsafe {{}}")), 1, "{text}");
    }
}
