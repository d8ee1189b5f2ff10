//! The name that a mistyped name was probably meant to be.

/// The number of typed characters per mistake in a name that is still recognized. At least one mistake is.
const PER_MISTAKE: usize = 3;

/// Returns the one of `names` from which `typed` differs by the fewest inserted, missing, replaced and swapped characters, if they are
/// few. Of several, it is the shortest, and then the first.
pub fn nearest(typed: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let most = (typed.chars().count() / PER_MISTAKE).max(1);
    let mistakes = names.map(|name| (strsim::damerau_levenshtein(typed, &name), name));
    let near = mistakes.filter(|(mistakes, _)| *mistakes <= most);
    near.min_by_key(|(mistakes, name)| (*mistakes, name.len())).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_near_and_another_name_is_not() {
        let names = || ["pipe", "pipe/block", "posix-mq", "unix-stream", "runs", "run"];
        let nearest = |typed| nearest(typed, names().map(str::to_owned).into_iter());
        for (typed, meant) in [
            ("pip", "pipe"),
            ("pipe/blok", "pipe/block"),
            ("posix_mq", "posix-mq"),
            ("rnu", "run"),
            ("rnus", "runs"),
            ("ru", "run"),
        ] {
            assert_eq!(nearest(typed).as_deref(), Some(meant), "{typed}");
        }
        for typed in ["kafka", "unix", "posix", "", "go"] {
            assert_eq!(nearest(typed), None, "{typed}");
        }
    }
}
