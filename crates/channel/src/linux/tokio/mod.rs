//! Channels with asynchronous calls for [tokio](https://docs.rs/tokio): feature `tokio`, on Linux.
//!
//! An end waits for its socket, so no thread blocks or busy-waits. All futures are cancel-safe: if a future is dropped,
//! no received message is lost, and no part of an unsent message arrives. Create ends within a runtime whose I/O driver
//! is enabled. An end with [`WaitStrategy::Spin`](crate::WaitStrategy::Spin) is rejected.
//!
//! Each call takes a unit of the task's budget, and so does each part of a long message, so other tasks run during an endless
//! stream of messages.
//!
//! ```
//! use furlong_channel::tokio::{Channel, Listener};
//! use furlong_channel::{Error, Options};
//!
//! async fn answer(mut channel: Channel) -> Result<(), Error> {
//!     loop {
//!         let message = channel.recv_vec().await?;
//!         channel.send(&message).await?;
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
//! # runtime.block_on(async {
//! # let name = format!("@furlong-channel-tokio-{}", std::process::id());
//! let listener = Listener::bind(&name, &Options::new())?;
//! tokio::spawn(async move {
//!     while let Ok(channel) = listener.accept().await {
//!         tokio::spawn(answer(channel));
//!     }
//! });
//! let mut channel = Channel::connect(&name, &Options::new()).await?;
//! channel.send(b"hello").await?;
//! assert_eq!(channel.recv_vec().await?, b"hello");
//! # Ok::<(), Error>(())
//! # })?;
//! # Ok::<(), Error>(())
//! ```

mod channel;
mod listener;
mod readiness;
mod receiver;
mod sender;

pub use channel::Channel;
pub use listener::Listener;
pub use receiver::Receiver;
pub use sender::Sender;
