//! A value as one JSON object. Each judged value is preceded by a sentence about it.

use serde::Serialize;
use serde_json::{Result, Value};

/// Sentences about the judged values at one place of a document, in the order of the document.
pub(crate) struct JudgedSentences {
    /// The keys that lead to a judged value, separated by dots; lists on the way have no key.
    at: &'static str,
    /// The key of the sentence.
    key: &'static str,
    sentences: std::vec::IntoIter<Value>,
}

impl JudgedSentences {
    /// Takes a sentence, or a list of sentences, for each value at `at`; null for null.
    pub(crate) fn new(at: &'static str, key: &'static str, sentences: impl Iterator<Item = Value>) -> Self {
        JudgedSentences { at, key, sentences: sentences.collect::<Vec<_>>().into_iter() }
    }

    /// Puts each sentence before its value.
    fn add_to(&mut self, json: &mut Value, at: &str) {
        match (json, at.split_once('.')) {
            (Value::Array(list), _) => list.iter_mut().for_each(|json| self.add_to(json, at)),
            (Value::Object(fields), Some((field, rest))) => {
                fields.get_mut(field).into_iter().for_each(|json| self.add_to(json, rest));
            }
            (Value::Object(fields), None) => {
                let Some(place) = fields.keys().position(|key| key == at) else { return };
                let sentence = self.sentences.next().expect("a sentence for each value");
                fields.shift_insert(place, self.key.to_owned(), sentence);
            }
            _ => {}
        }
    }
}

/// Returns `value` as JSON with a final line break, and with sentences about the judgements in it.
pub(crate) fn object(value: &impl Serialize, said: Vec<JudgedSentences>) -> String {
    // A second serialiser, which makes values, would be 0.2 MB of machine code: text is what the crates below write too.
    text(serde_json::to_vec(value).and_then(|json| serde_json::from_slice(&json)), said)
}

fn text(json: Result<Value>, said: Vec<JudgedSentences>) -> String {
    let text = json.and_then(|mut json| {
        for mut said in said {
            said.add_to(&mut json, said.at);
            debug_assert_eq!(said.sentences.len(), 0, "a value for each sentence at {}", said.at);
        }
        serde_json::to_string_pretty(&json)
    });
    text.expect("there are no maps with keys other than text") + "\n"
}

/// Panics unless `text` is JSON that has all fields of `value`, with finite figures.
#[cfg(test)]
#[track_caller]
pub(crate) fn assert_has_all(text: &str, value: &(impl Serialize + std::fmt::Debug)) {
    fn has(json: &Value, part: &Value) -> bool {
        match (json, part) {
            (Value::Array(json), Value::Array(part)) => {
                json.len() == part.len() && json.iter().zip(part).all(|(json, part)| has(json, part))
            }
            (Value::Object(json), Value::Object(part)) => {
                part.iter().all(|(key, part)| json.get(key).is_some_and(|json| has(json, part)))
            }
            _ => json == part,
        }
    }
    let json = serde_json::from_str(text).expect("JSON");
    assert!(has(&json, &serde_json::to_value(value).expect("JSON")), "{text}");
    // JSON has null for the others.
    let shown = format!("{value:?}");
    assert!(
        !shown.split(|c: char| !c.is_alphanumeric()).any(|word| ["NaN", "inf"].contains(&word)),
        "{shown}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sentence_precedes_its_value() {
        let value = json!({ "a": [{ "worth": [1, 2] }, { "else": 3 }, { "worth": null }], "worth": 4 });
        let sentences = [json!(["1 is it", "2 is it"]), Value::Null];
        let text = object(&value, vec![JudgedSentences::new("a.worth", "said", sentences.into_iter())]);
        let read: Value = serde_json::from_str(&text).unwrap();
        let a = json!([{ "said": ["1 is it", "2 is it"], "worth": [1, 2] }, { "else": 3 }, { "said": null, "worth": null }]);
        assert_eq!(read, json!({ "a": a, "worth": 4 }));
        assert!(text.find("said").unwrap() < text.find("worth").unwrap(), "{text}");
    }

    #[test]
    fn fields_keep_their_order_and_figures_their_digits() {
        #[derive(Serialize)]
        struct Figures {
            zebra: f64,
            apple: i64,
            most: u64,
            none: Option<bool>,
        }
        let text = object(&Figures { zebra: 1e-308, apple: -7, most: u64::MAX, none: None }, vec![]);
        assert_eq!(
            text,
            "{\n  \"zebra\": 1e-308,\n  \"apple\": -7,\n  \"most\": 18446744073709551615,\n  \"none\": null\n}\n"
        );
    }
}
