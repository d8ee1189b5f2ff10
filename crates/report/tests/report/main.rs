//! Tests of the report of saved runs: its content, and its display in a browser.
#![forbid(unsafe_code)]

mod common;

mod browser;
mod fleet;
mod page;
mod run_list;
