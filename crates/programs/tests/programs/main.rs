//! Tests of the programs that furlong prints: their text, and builds and runs in all languages.
#![forbid(unsafe_code)]

mod support;

mod boundaries;
mod exchanges;
mod failures;
mod printed;
