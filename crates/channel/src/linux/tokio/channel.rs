//! One end of a channel with both directions, with asynchronous calls.

use crate::credentials::Credentials;
use crate::error::Result;
use crate::linux::tokio::receiver::Receiver;
use crate::linux::tokio::sender::Sender;
use crate::options::Options;

/// A [`Channel`](crate::Channel) with asynchronous calls.
#[derive(Debug)]
pub struct Channel {
    sender: Sender,
    receiver: Receiver,
    peer: Credentials,
}

impl Channel {
    /// Registers an end with the current runtime.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `Unsupported` if the end busy-waits.
    ///
    /// # Panics
    /// Panics if there is no current runtime with an I/O driver.
    pub fn new(end: crate::Channel) -> Result<Channel> {
        let peer = end.peer();
        let (sender, receiver) = end.split();
        Ok(Channel { sender: Sender::new(sender)?, receiver: Receiver::new(receiver)?, peer })
    }

    /// Connects to a listener, in a thread of the runtime for blocking calls. If the future is dropped, that thread
    /// closes the channel after its creation.
    ///
    /// # Errors
    /// Returns an error as [`Channel::connect`](crate::Channel::connect) does.
    pub async fn connect(name: &str, options: &Options) -> Result<Channel> {
        let (name, options) = (name.to_owned(), *options);
        let connecting = tokio::task::spawn_blocking(move || crate::Channel::connect(&name, &options));
        Channel::new(connecting.await.map_err(std::io::Error::other)??)
    }

    /// Splits the end into a sender and a receiver, for two tasks.
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// Returns the credentials of the process at the other end.
    pub fn peer(&self) -> Credentials {
        self.peer
    }

    /// Sends a message as [`Sender::send`] does.
    ///
    /// # Errors
    /// Returns an error as [`Sender::send`] does.
    pub async fn send(&mut self, message: &[u8]) -> Result<()> {
        self.sender.send(message).await
    }

    /// Receives a message as [`Receiver::recv`] does.
    ///
    /// # Errors
    /// Returns an error as [`Receiver::recv`] does.
    pub async fn recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receiver.recv(buffer).await
    }

    /// Receives a message as [`Receiver::recv_vec`] does.
    ///
    /// # Errors
    /// Returns an error as [`Receiver::recv_vec`] does.
    pub async fn recv_vec(&mut self) -> Result<Vec<u8>> {
        self.receiver.recv_vec().await
    }
}
