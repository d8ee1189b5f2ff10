//! A server with many channels. One thread waits with `epoll` for connections and for the messages of all channels, and
//! answers them. `talk` is a client. `async/src/bin` has such servers with mio and with tokio.

fn main() -> Result<(), furlong_channel::Error> {
    #[cfg(target_os = "linux")]
    return linux::run();
    // On Windows, use `WaitForMultipleObjects` with the `handle` of a receiver.
    #[cfg(not(target_os = "linux"))]
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "only Linux has epoll").into())
}

#[cfg(target_os = "linux")]
mod linux {
    use furlong_channel::{Channel, Error, Listener, Options};
    use std::collections::HashMap;
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

    /// The number under which epoll reports the listener.
    const LISTENER: u64 = 0;

    pub fn run() -> Result<(), Error> {
        let listener = Listener::bind("/tmp/talk", &Options::new())?;
        // SAFETY: the descriptor is new.
        let epoll = unsafe { OwnedFd::from_raw_fd(libc::epoll_create1(libc::EPOLL_CLOEXEC)) };
        add(&epoll, listener.descriptor(), LISTENER)?;
        let mut channels: HashMap<u64, Channel> = HashMap::new();
        for number in LISTENER + 1.. {
            // A new connection, and a new number for the next one.
            loop {
                match wait(&epoll)? {
                    LISTENER => break,
                    known => {
                        let ends = channels.get_mut(&known).is_some_and(|channel| answer(channel).is_err());
                        if ends {
                            channels.remove(&known);
                        }
                    }
                }
            }
            // `accept` would wait for the next client if the first one has disconnected.
            let mut channel = match listener.try_accept() {
                Err(Error::WouldBlock) => continue,
                Err(Error::Refused(peer)) => {
                    eprintln!("user {} may not connect", peer.user);
                    continue;
                }
                other => other?,
            };
            add(&epoll, channel.both().1.descriptor(), number)?;
            if answer(&mut channel).is_ok() {
                channels.insert(number, channel);
            }
        }
        Ok(())
    }

    /// Answers all available messages, until `watch` has armed the descriptor for the next one. Disconnects a client
    /// that receives no answers, because a blocking call would delay all other clients.
    fn answer(channel: &mut Channel) -> Result<(), Error> {
        let mut buffer = [0; 4096];
        let (sender, receiver) = channel.both();
        while !receiver.watch()? {
            match receiver.try_recv(&mut buffer) {
                Ok(len) => sender.try_send(&buffer[..len])?,
                Err(Error::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn add(epoll: &OwnedFd, descriptor: BorrowedFd<'_>, number: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number };
        let (epoll, descriptor) = (epoll.as_fd().as_raw_fd(), descriptor.as_raw_fd());
        // SAFETY: the event lives for the whole call.
        match unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, descriptor, &raw mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits for a ready descriptor, and returns its number.
    fn wait(epoll: &OwnedFd) -> io::Result<u64> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        loop {
            // SAFETY: room for one event.
            match unsafe { libc::epoll_wait(epoll.as_raw_fd(), &raw mut event, 1, -1) } {
                1 => return Ok(event.u64),
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(io::Error::last_os_error()),
            }
        }
    }
}
