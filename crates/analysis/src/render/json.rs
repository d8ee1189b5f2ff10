//! A summary for programs.

use crate::Summary;

/// One JSON object: [`Summary`] and the types in it say what each field means, and read it back.
pub fn json(summary: &Summary) -> String {
    let text = serde_json::to_string_pretty(summary);
    text.expect("a summary has no maps with keys other than text") + "\n"
}
