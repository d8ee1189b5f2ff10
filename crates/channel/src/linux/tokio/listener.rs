//! A listener with asynchronous calls.

use crate::error::{Error, Result};
use crate::linux::one_way::OneWayEnd;
use crate::linux::tokio::channel::Channel;
use crate::linux::tokio::readiness::register;
use crate::options::Options;
use tokio::io::unix::AsyncFd;
use tokio::task::consume_budget;

/// A [`Listener`](crate::Listener) with asynchronous calls.
#[derive(Debug)]
pub struct Listener(AsyncFd<crate::Listener>);

impl Listener {
    /// Listens at a name as [`Listener::bind`](crate::Listener::bind) does.
    ///
    /// # Errors
    /// Returns an error as [`Listener::bind`](crate::Listener::bind) does.
    ///
    /// # Panics
    /// Panics if there is no current runtime with an I/O driver.
    pub fn bind(name: &str, options: &Options) -> Result<Listener> {
        // SAFETY: a listener keeps its socket for as long as it lives, and no caller gets it as mutable, so none can swap it.
        Ok(Listener(unsafe { register(crate::Listener::bind(name, options)?) }?))
    }

    /// Waits until a process of the same user or of root connects, and returns this end of a new channel. The memory is
    /// allocated and mapped before the future is ready, which takes some milliseconds per 4 MiB.
    ///
    /// # Errors
    /// Returns an error as [`Listener::accept`](crate::Listener::accept) does. After `Refused`, a server can continue to serve
    /// its other clients.
    pub async fn accept(&self) -> Result<Channel> {
        Channel::new(self.until(crate::Listener::try_accept).await?)
    }

    /// Waits for a process to connect with a one-way channel, and returns this end of it:
    /// [`Sender::new`](super::Sender::new) or [`Receiver::new`](super::Receiver::new) registers it.
    ///
    /// # Errors
    /// Returns an error as [`Listener::accept_one_way`](crate::Listener::accept_one_way) does.
    pub async fn accept_one_way<E: OneWayEnd>(&self) -> Result<E> {
        self.until(crate::Listener::try_accept_one_way).await
    }

    async fn until<E>(&self, accept: impl Fn(&crate::Listener) -> Result<E>) -> Result<E> {
        consume_budget().await;
        loop {
            match accept(self.0.get_ref()) {
                Err(Error::WouldBlock) => self.0.readable().await?.clear_ready(),
                result => return result,
            }
        }
    }
}
