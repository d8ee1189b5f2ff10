//! What a server is given to serve.

use crate::answer::Answer;
use crate::request::Request;

/// What answers requests that are allowed.
pub trait Site: Send + Sync + 'static {
    /// The page that was asked for, or why there is none.
    fn answer(&self, request: &Request) -> Answer;
}
