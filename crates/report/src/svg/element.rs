//! An element of SVG that is put together in one expression.

use std::collections::BTreeMap;
use std::fmt::Display;

/// An element with attributes and children. Text and values of attributes are escaped.
#[derive(Debug, Clone)]
pub struct Element {
    name: &'static str,
    attributes: BTreeMap<String, String>,
    /// Children as they are written, if there are any.
    content: Option<String>,
}

impl Element {
    /// Creates an empty element.
    pub fn new(name: &'static str) -> Element {
        Element { name, attributes: BTreeMap::new(), content: None }
    }

    /// Sets an attribute.
    pub fn set(mut self, name: &str, value: impl Display) -> Element {
        let value = escape(&value.to_string()).replace('"', "&quot;").replace('\'', "&apos;");
        self.attributes.insert(name.to_owned(), value);
        self
    }

    /// Adds a child.
    pub fn add(mut self, child: Element) -> Element {
        *self.content.get_or_insert_default() += &format!("\n{}", child.written());
        self
    }

    /// Adds text.
    pub fn text(mut self, text: &str) -> Element {
        *self.content.get_or_insert_default() += &escape(text);
        self
    }

    /// Sets the colours that the element would inherit from its group.
    pub fn recoloured(self, colour: &str) -> Element {
        let is_missing = |name: &&str| !self.attributes.contains_key(*name);
        let missing: Vec<_> = ["fill", "stroke"].into_iter().filter(is_missing).collect();
        missing.into_iter().fold(self, |element, name| element.set(name, colour))
    }

    /// Returns the element as text, with its attributes sorted and each child element on a new line.
    pub fn written(&self) -> String {
        let name = self.name;
        let attributes = self.attributes.iter().map(|(name, value)| format!(" {name}=\"{value}\""));
        let opening = format!("<{name}{}", attributes.collect::<String>());
        match &self.content {
            None => format!("{opening}/>"),
            // The `>` of text is escaped.
            Some(content) if content.ends_with('>') => format!("{opening}>{content}\n</{name}>"),
            Some(content) => format!("{opening}>{content}</{name}>"),
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Rounds a length to a tenth of a pixel.
pub fn px(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

/// Creates text whose middle is at the height `y`.
pub fn words(text: &str, (x, y): (f64, f64)) -> Element {
    // A third of a letter's height below: not every renderer knows baselines.
    Element::new("text").set("x", px(x)).set("y", px(y + 4.0)).text(text)
}
