//! A server of many channels with tokio: a task for each, all in one thread, none of which keeps another waiting. The example
//! `talk` of furlong-channel is a client.

use furlong_channel::{Channel, Error, Listener, Options};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "/tmp/talk".to_owned());
    let listener = Arc::new(Listener::bind(&name, &Options::new())?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        loop {
            // Who connects is greeted in a thread of its own: `accept` waits.
            let listener = Arc::clone(&listener);
            let accepted = tokio::task::spawn_blocking(move || listener.accept()).await;
            match accepted.map_err(std::io::Error::other)? {
                Ok(channel) => drop(tokio::spawn(serve(channel))),
                Err(error) => eprintln!("somebody could not connect: {error}"),
            }
        }
    })
}

/// Answers every message until the client is gone.
async fn serve(channel: Channel) {
    match answer(channel).await {
        Err(Error::Closed | Error::PeerDied) => {}
        Err(error) => eprintln!("a client was left: {error}"),
        Ok(()) => {}
    }
}

async fn answer(channel: Channel) -> Result<(), Error> {
    let (mut sender, mut receiver) = channel.split();
    let (message_came, room_came) = (change_of(receiver.descriptor())?, change_of(sender.descriptor())?);
    let mut buffer = [0; 4096];
    loop {
        let len = match receiver.try_recv(&mut buffer) {
            Ok(len) => len,
            Err(Error::WouldBlock) => {
                if receiver.watch()? {
                    message_came.readable().await?.clear_ready();
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        while let Err(error) = sender.try_send(&buffer[..len]) {
            if !matches!(error, Error::WouldBlock) {
                return Err(error);
            }
            if sender.watch(len)? {
                room_came.readable().await?.clear_ready();
            }
        }
    }
}

/// What tokio waits for: a descriptor of its own, for the same socket.
fn change_of(descriptor: BorrowedFd<'_>) -> Result<AsyncFd<OwnedFd>, Error> {
    let owned = descriptor.try_clone_to_owned()?;
    // SAFETY: nobody else has this descriptor, so it stays open for as long as tokio waits for it.
    let registered = unsafe { AsyncFd::register_with_interest(owned, Interest::READABLE) };
    Ok(registered.map_err(std::io::Error::from)?)
}
