//! Keys of records that an older schema called otherwise.

use serde_json::Value;

/// A line each: the schema that had the old key, the old key, the new key.
const RENAMED: &str = include_str!("../../../docs/format/renamed-keys.txt");

/// The new key for `key`, if it was renamed.
fn new_key(key: &str) -> Option<&'static str> {
    let lines = RENAMED.lines().filter(|line| !line.starts_with('#'));
    let mut words = lines.map(|line| line.split_whitespace().skip(1));
    words.find_map(|mut words| words.next().filter(|old| *old == key).and_then(|_| words.next()))
}

/// A record of an older schema with the keys of today.
pub(crate) fn renamed(record: Value) -> Value {
    match record {
        Value::Object(fields) => {
            let rename =
                |(key, value): (String, Value)| (new_key(&key).map_or(key, str::to_owned), renamed(value));
            Value::Object(fields.into_iter().map(rename).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(renamed).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_renamed_at_any_depth_and_nothing_else_is() {
        let old = json!({"record": "trial", "case": {"pace": {"every": 1000}, "ask": {"size_bytes": 1}}});
        let new =
            json!({"record": "trial", "case": {"arrival": {"interval": 1000}, "request": {"size_bytes": 1}}});
        assert_eq!(renamed(old), new);
        assert_eq!(renamed(new.clone()), new);
    }
}
