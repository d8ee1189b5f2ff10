//! The programs that furlong prints, looked at, built and run in all their languages.
#![forbid(unsafe_code)]

mod support;

mod boundaries;
mod exchanges;
mod failures;
mod printed;
