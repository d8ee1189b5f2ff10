//! Keys of records that had another name in an older schema.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One line per key: the schema with the old key, the old key, the new key.
const RENAMED: &str = include_str!("../renamed-keys.txt");

/// New keys by the old ones.
static NEW_KEYS: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let lines = RENAMED.lines().filter(|line| !line.starts_with('#'));
    let keys = |line: &'static str| {
        let mut words = line.split_whitespace().skip(1);
        Some((words.next()?, words.next()?))
    };
    lines.filter_map(keys).collect()
});

/// Renames the keys of an older schema in a record.
pub(crate) fn renamed(record: Value) -> Value {
    match record {
        Value::Object(fields) => {
            let rename = |(key, value): (String, Value)| match NEW_KEYS.get(key.as_str()) {
                Some(new) => ((*new).to_owned(), renamed(value)),
                None => (key, renamed(value)),
            };
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
