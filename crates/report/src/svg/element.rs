//! An element of SVG that is put together in one expression.

use svg::node::element::Element as Inner;
use svg::node::{Node, Text, Value};

/// An element with attributes and children. The package escapes all text.
#[derive(Debug, Clone)]
pub struct Element(Inner);

impl Element {
    /// An empty one of this name.
    pub fn new(name: &str) -> Element {
        Element(Inner::new(name))
    }

    /// The same with an attribute.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Element {
        self.0.assign(name, value);
        self
    }

    /// The same with one more child.
    pub fn add(mut self, child: Element) -> Element {
        self.0.append(child.0);
        self
    }

    /// The same with text in it.
    pub fn text(mut self, text: &str) -> Element {
        self.0.append(Text::new(text));
        self
    }

    /// The same with another colour where its group's would be.
    pub fn recoloured(self, colour: &str) -> Element {
        let attributes = self.0.get_attributes();
        let missing: Vec<_> =
            ["fill", "stroke"].into_iter().filter(|name| !attributes.contains_key(*name)).collect();
        missing.into_iter().fold(self, |element, name| element.set(name, colour))
    }

    /// How it is written.
    pub fn written(&self) -> String {
        self.0.to_string()
    }
}

/// A length without digits that nobody sees.
pub fn px(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

/// Text whose middle is at this height.
pub fn words(text: &str, (x, y): (f64, f64)) -> Element {
    // A third of a letter's height below: not every renderer knows baselines.
    Element::new("text").set("x", px(x)).set("y", px(y + 4.0)).text(text)
}
