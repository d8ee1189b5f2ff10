//! A server with many channels in mio. One thread waits for connections and for the messages of all channels, and
//! answers them. The example `talk` of furlong-channel is a client.

use furlong_channel::{Channel, Error, Listener, Options};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;

const LISTENER: Token = Token(0);

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "/tmp/talk".to_owned());
    let listener = Listener::bind(&name, &Options::new())?;
    let waits_for = listener.descriptor().as_raw_fd();
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(64));
    poll.registry().register(&mut SourceFd(&waits_for), LISTENER, Interest::READABLE)?;
    let mut channels: HashMap<Token, Channel> = HashMap::new();
    let mut next = LISTENER.0 + 1;
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            result => result?,
        }
        for event in &events {
            if event.token() != LISTENER {
                let ends = channels.get_mut(&event.token()).is_some_and(|channel| answer(channel).is_err());
                if ends {
                    channels.remove(&event.token());
                }
                continue;
            }
            // `accept` would wait for the next client if the first one has disconnected.
            match listener.try_accept() {
                Ok(mut channel) => {
                    let (token, descriptor) = (Token(next), channel.both().1.descriptor().as_raw_fd());
                    poll.registry().register(&mut SourceFd(&descriptor), token, Interest::READABLE)?;
                    if answer(&mut channel).is_ok() {
                        channels.insert(token, channel);
                    }
                    next += 1;
                }
                Err(Error::WouldBlock) => {}
                Err(error) => eprintln!("a client could not connect: {error}"),
            }
            // mio reports only changes, and the next client may have connected already.
            poll.registry().reregister(&mut SourceFd(&waits_for), LISTENER, Interest::READABLE)?;
        }
    }
}

/// Answers all available messages, until `watch` has armed the descriptor for the next one.
fn answer(channel: &mut Channel) -> Result<(), Error> {
    let mut buffer = [0; 4096];
    let (sender, receiver) = channel.both();
    while !receiver.watch()? {
        match receiver.try_recv(&mut buffer) {
            // This waits if the client receives no answers; the example with tokio does not wait.
            Ok(len) => sender.send(&buffer[..len])?,
            Err(Error::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
