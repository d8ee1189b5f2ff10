//! What is compared: a run with its name and its summary.

use crate::{Run, Summary};

/// One of the runs with all that is compared.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) name: &'a str,
    pub(super) run: &'a Run,
    pub(super) summary: &'a Summary,
}
