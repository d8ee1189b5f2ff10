//! Impossible figures and empty names. A reader rejects a record with one of them, so furlong writes no such record.

use crate::{ByteSize, is_unseen};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, Serialize};
use std::{borrow::Cow, fmt};

/// The largest time of a record, in nanoseconds: three years.
const MOST_NS: f64 = 1e17;

/// The largest of all other figures of a record.
const MOST: f64 = 1e15;

/// Keys whose strings are names that tables print.
const NAMES: [&str; 4] = ["mechanism", "name", "by", "label"];

/// Returns the first impossible figure or empty name of a value, with its key; `None` if there is none.
pub fn impossible_figure(value: &impl Serialize) -> Option<String> {
    impossible_in_text(&serde_json::to_vec(value).ok()?)
}

/// Returns the first impossible figure or empty name in JSON, with its key; `None` if there is none.
pub fn impossible_in_text(text: &[u8]) -> Option<String> {
    let mut found = None;
    let mut line = serde_json::Deserializer::from_slice(text);
    // The text has been parsed before, so an error here means that a figure or name was found.
    let _ = Figures { key: "", found: &mut found }.deserialize(&mut line);
    found
}

/// Returns the beginning of a key, without control characters, because the key is untrusted input.
fn shown(key: &str) -> String {
    key.chars().take(60).map(|c| if is_unseen(c) { ' ' } else { c }).collect()
}

/// Checks every figure and name below a key.
struct Figures<'a> {
    key: &'a str,
    found: &'a mut Option<String>,
}

impl Figures<'_> {
    fn look(&mut self, figure: f64) {
        let most = match self.key {
            "seed" => return,
            "size_bytes" => ByteSize::MAX.0 as f64,
            key if key.ends_with("_ns") => MOST_NS,
            _ => MOST,
        };
        if !(-most..=most).contains(&figure) {
            self.found.get_or_insert_with(|| format!("{} is {figure:e}", shown(self.key)));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Figures<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Figures<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(mut self, figure: u64) -> Result<(), E> {
        self.look(figure as f64);
        Ok(())
    }

    fn visit_i64<E>(mut self, figure: i64) -> Result<(), E> {
        self.look(figure as f64);
        Ok(())
    }

    fn visit_f64<E>(mut self, figure: f64) -> Result<(), E> {
        self.look(figure);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if NAMES.contains(&self.key) && text.trim().is_empty() {
            self.found.get_or_insert_with(|| format!("{} is empty", self.key));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(Figures { key: self.key, found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<Cow<'_, str>>()? {
            fields.next_value_seed(Figures { key: &key, found: &mut *self.found })?;
        }
        Ok(())
    }
}
