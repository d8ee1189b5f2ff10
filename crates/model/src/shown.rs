//! The characters of untrusted text that may be printed.

/// Returns whether a character controls a terminal, is invisible, or changes the direction of text.
pub fn is_unseen(c: char) -> bool {
    let unseen =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || unseen
}
