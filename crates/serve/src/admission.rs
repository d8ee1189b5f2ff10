//! Admission of connections. Every user and every web page reaches the loopback. So a connection without the secret
//! must not take the place of one that has shown it. If there are too many connections without it, the oldest is
//! closed.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of requests with the secret that are answered at the same time, and of open connections without
/// it.
pub(crate) const AT_ONCE: usize = 64;

/// All connections of a server.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    /// Connections that have not shown the secret, oldest first.
    strangers: Mutex<VecDeque<Arc<TcpStream>>>,
    /// Counter of the requests that are being answered: each holds a clone.
    answered: Arc<()>,
}

impl Admission {
    /// Keeps a new connection, and closes the oldest if there are too many. The thread of a closed connection then
    /// reads end of file.
    pub(crate) fn enter(&self, stream: &Arc<TcpStream>) {
        let mut strangers = self.strangers();
        strangers.push_back(stream.clone());
        if strangers.len() > AT_ONCE
            && let Some(oldest) = strangers.pop_front()
        {
            // The peer may have closed it already.
            let _ = oldest.shutdown(Shutdown::Both);
        }
    }

    /// Removes a connection from those that have not shown the secret.
    pub(crate) fn leave(&self, stream: &TcpStream) {
        self.strangers().retain(|kept| !std::ptr::eq(&**kept, stream));
    }

    /// Admits a connection that has shown the secret, for as long as the result lives; `None` if too many requests
    /// are being answered.
    pub(crate) fn admit(&self, stream: &TcpStream) -> Option<Arc<()>> {
        let held = self.answered.clone();
        let is_free = Arc::strong_count(&held) <= AT_ONCE + 1;
        is_free.then(|| {
            self.leave(stream);
            held
        })
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
