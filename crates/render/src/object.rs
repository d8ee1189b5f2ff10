//! A value as one JSON object. What was judged is in it twice: as data under a key of its own, and before that as the
//! sentence that everybody else is told.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Something judged, wherever it stands.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    /// The key of the data.
    pub data: &'static str,
    /// The key of what is said of it.
    pub said: &'static str,
    /// What is said of it, from the object that has it: a sentence, or one of each of a list. `None` of an object of
    /// another kind.
    pub say: fn(&Value) -> Option<Value>,
}

/// What is computed, for programs, with a line break at its end; with sentences for what is `judged` in it.
pub(crate) fn object(value: &impl Serialize, judged: &[Judged]) -> String {
    let text = serde_json::to_value(value).and_then(|mut json| {
        add_sentences(&mut json, judged);
        serde_json::to_string_pretty(&json)
    });
    text.expect("there are no maps with keys other than text") + "\n"
}

fn add_sentences(json: &mut Value, judged: &[Judged]) {
    match json {
        Value::Array(list) => list.iter_mut().for_each(|json| add_sentences(json, judged)),
        Value::Object(fields) => {
            for judged in judged {
                let Some(at) = fields.keys().position(|key| key == judged.data) else { continue };
                if let Some(said) = (judged.say)(&Value::Object(fields.clone())) {
                    fields.shift_insert(at, judged.said.to_owned(), said);
                }
            }
            fields.values_mut().for_each(|json| add_sentences(json, judged));
        }
        _ => {}
    }
}

/// The sentence of data of this type, or those of a list of them; null for null, `None` for what is of another type.
pub(crate) fn sentence<T: DeserializeOwned>(data: &Value, say: fn(&T) -> String) -> Option<Value> {
    match data {
        Value::Null => Some(Value::Null),
        Value::Array(list) => list.iter().map(|data| sentence(data, say)).collect(),
        data => T::deserialize(data).ok().map(|data| say(&data).into()),
    }
}

/// Fails unless `text` is JSON that has all that is in `value`, where every figure is finite.
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
    fn a_sentence_stands_before_the_data_that_it_is_of() {
        const WORTH: Judged = Judged {
            data: "worth",
            said: "said",
            say: |of| sentence(&of["worth"], |n: &u64| format!("{n} is it")),
        };
        let value = json!({ "a": [{ "worth": [1, 2] }, { "worth": null }, { "worth": "of another kind" }] });
        let text = object(&value, &[WORTH]);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["a"][0], json!({ "said": ["1 is it", "2 is it"], "worth": [1, 2] }));
        assert_eq!(read["a"][1], json!({ "said": null, "worth": null }));
        assert_eq!(read["a"][2], json!({ "worth": "of another kind" }));
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
        let text = object(&Figures { zebra: 1e-308, apple: -7, most: u64::MAX, none: None }, &[]);
        assert_eq!(
            text,
            "{\n  \"zebra\": 1e-308,\n  \"apple\": -7,\n  \"most\": 18446744073709551615,\n  \"none\": null\n}\n"
        );
    }
}
