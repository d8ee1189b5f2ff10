//! Which connections are kept. Every user and every web page reaches the loopback, so a connection that has not shown the secret
//! takes no place from one that has: of too many, the oldest is closed.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Requests with the secret that are answered at the same time, and connections without one that are kept open.
pub(crate) const AT_ONCE: usize = 64;

/// All connections of a server.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    /// Those that have not shown the secret, the oldest first.
    strangers: Mutex<VecDeque<Arc<TcpStream>>>,
    /// Cloned by each request that is answered.
    answered: Arc<()>,
}

impl Admission {
    /// Keeps a new connection, and closes the oldest if there are too many. Its thread then reads the end of its request.
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

    /// Forgets a connection.
    pub(crate) fn leave(&self, stream: &TcpStream) {
        self.strangers().retain(|kept| !std::ptr::eq(&**kept, stream));
    }

    /// Admits a connection that has shown the secret while the result lives; `None` if too many are answered.
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
