//! The interface of a site that the server serves.

use crate::answer::Answer;
use crate::request::Request;

/// A site: the pages behind allowed requests.
pub trait Site: Send + Sync + 'static {
    /// Returns the requested page, or why it does not exist.
    fn answer(&self, request: &Request) -> Answer;
}
