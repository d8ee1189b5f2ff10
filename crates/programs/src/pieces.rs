//! The parts that complete a rendered program: the helpers, declarations and imports that its text uses, and no others.
//!
//! A piece follows a line `//= TRIGGER`, and is added to a program that contains the trigger as a whole word.

/// Returns whether `text` contains `trigger` as a whole word.
pub(crate) fn mentions(text: &str, trigger: &str) -> bool {
    let in_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let open_ended = !in_word(trigger.chars().next_back());
    let open_before = !in_word(trigger.chars().next());
    text.match_indices(trigger).any(|(at, _)| {
        let after = &text[at + trigger.len()..];
        (open_before || !in_word(text[..at].chars().next_back()))
            && (open_ended || !in_word(after.chars().next()))
    })
}

/// Returns the pieces of `catalogue` that `text` uses, directly or through other pieces, in the order of the catalogue.
pub(crate) fn used(catalogue: &str, text: &str) -> Vec<String> {
    let pieces: Vec<(&str, &str)> = catalogue
        .split("//= ")
        .skip(1)
        .filter_map(|piece| piece.split_once('\n'))
        .map(|(trigger, body)| (trigger.trim(), body.trim_matches('\n')))
        .collect();
    let mut taken = vec![false; pieces.len()];
    let mut all = text.to_owned();
    while let Some(next) = (0..pieces.len()).find(|&index| !taken[index] && mentions(&all, pieces[index].0)) {
        taken[next] = true;
        all.push_str(pieces[next].1);
    }
    let chosen = pieces.iter().zip(taken).filter(|(_, taken)| *taken);
    chosen.map(|((_, body), _)| (*body).to_owned()).collect()
}

/// Returns the names before the colon of the lines of which `text` contains a word.
pub(crate) fn named<'a>(lines: &'a str, text: &str) -> Vec<&'a str> {
    let lines = lines.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(_, words)| words.split_whitespace().any(|word| mentions(text, word)))
        .map(|(name, _)| name)
        .collect()
}

/// Removes blanks at the ends of lines, more than `blank_lines` empty lines in a row, and empty lines after an opening
/// or before a closing brace.
pub(crate) fn tidied(text: &str, blank_lines: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut result: Vec<&str> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if line.is_empty() {
            let empty_before = result.iter().rev().take_while(|line| line.is_empty()).count();
            let closes = lines[index..].iter().find(|line| !line.is_empty()).is_none_or(|line| {
                line.trim_start().starts_with('}') || line.trim_start().starts_with("} else")
            });
            let opens = result.last().is_none_or(|line| line.ends_with('{'));
            if empty_before >= blank_lines || closes || opens {
                continue;
            }
        }
        result.push(line);
    }
    result.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_a_word_of_its_own() {
        assert!(mentions("x = nap(1)", "nap("));
        assert!(!mentions("snap(1)", "nap("));
        assert!(mentions("close(peer)", "peer"));
        assert!(!mentions("peer_process", "peer"));
    }

    #[test]
    fn pieces_bring_what_they_use() {
        let catalogue = "//= a(\nA\n//= b(\na()\n//= c(\nC\n";
        assert_eq!(used(catalogue, "b()"), ["A", "a()"]);
    }
}
