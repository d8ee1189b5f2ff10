//! A value as one JSON object.

use serde::Serialize;

/// What is computed, for programs, with a line break at its end.
pub(crate) fn object(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("there are no maps with keys other than text") + "\n"
}
