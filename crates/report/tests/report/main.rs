//! The report of saved runs: what is in it, and how a browser shows it.
#![forbid(unsafe_code)]

mod common;

mod browser;
mod fleet;
mod page;
mod run_list;
