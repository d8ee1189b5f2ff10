//! What every verb of a command ends in: results on stdout, exit codes, and files that are replaced as a whole.
#![forbid(unsafe_code)]

pub mod exit;
mod folders;
mod format;
pub mod output;
pub mod writing;

pub use folders::{DATA_FOLDER_VARIABLES, data_folder};
pub use format::ListFormat;
