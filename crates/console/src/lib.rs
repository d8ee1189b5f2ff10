//! Output of every verb: results on stdout, exit codes, and atomic replacement of files.
#![forbid(unsafe_code)]

pub mod exit;
mod folders;
mod format;
pub mod output;
pub mod writing;

pub use folders::{DATA_FOLDER_VARIABLES, data_folder};
pub use format::ListFormat;
