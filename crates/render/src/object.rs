//! A value as one JSON object. What was judged is in it twice: as data under a key of its own, and before that as the
//! sentence that everybody else is told.

use super::fields::Json;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Something judged, wherever it stands in an object.
pub(crate) struct Judged {
    /// The key of the data.
    pub data: &'static str,
    /// The key of what is said of it.
    pub said: &'static str,
    /// What is said of it: a sentence, or one of each of a list.
    pub say: fn(&Value) -> Value,
}

/// What is computed, for programs, with a line break at its end; with sentences for what is `judged` in it.
pub(crate) fn object(value: &impl Serialize, judged: &[Judged]) -> String {
    let text = serde_json::to_string(value);
    let json = text.and_then(|text| serde_json::from_str(&text)).map(|json| with_sentences(json, judged));
    let text = json.and_then(|json| serde_json::to_string_pretty(&json));
    text.expect("there are no maps with keys other than text") + "\n"
}

fn with_sentences(json: Json, judged: &[Judged]) -> Json {
    match json {
        Json::List(list) => Json::List(list.into_iter().map(|json| with_sentences(json, judged)).collect()),
        Json::Object(fields) => {
            let fields = fields.into_iter().flat_map(|(key, json)| {
                let of_key = judged.iter().find(|judged| judged.data == key);
                let said = of_key.zip(serde_json::to_value(&json).ok());
                let said = said.map(|(judged, data)| (judged.said.to_owned(), Json::of((judged.say)(&data))));
                said.into_iter().chain([(key, with_sentences(json, judged))])
            });
            Json::Object(fields.collect())
        }
        single => single,
    }
}

/// The sentence of a value of this type, or those of a list of them; null for null.
pub(crate) fn sentences<T: DeserializeOwned>(value: &Value, say: fn(&T) -> String) -> Value {
    match value {
        Value::Array(list) => list.iter().map(|value| sentences(value, say)).collect(),
        value => T::deserialize(value).map_or(Value::Null, |value| say(&value).into()),
    }
}
