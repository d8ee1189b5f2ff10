//! The name that a mistyped name was probably meant to be.

/// The minimum Jaro-Winkler similarity, from 0 to 1, of a name to a mistyped one.
const ALIKE: f64 = 0.8;

/// Returns the one of `names` that is most similar to `typed`, if it is similar enough.
pub fn nearest(typed: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let near = names.map(|name| (strsim::jaro_winkler(typed, &name), name)).filter(|(near, _)| *near > ALIKE);
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_near_and_another_name_is_not() {
        let names = || ["pipe", "pipe/block", "posix-mq", "unix-stream"].map(str::to_owned).into_iter();
        assert_eq!(nearest("pip", names()).as_deref(), Some("pipe"));
        assert_eq!(nearest("pipe/blok", names()).as_deref(), Some("pipe/block"));
        assert_eq!(nearest("posix_mq", names()).as_deref(), Some("posix-mq"));
        assert_eq!(nearest("kafka", names()), None);
    }
}
