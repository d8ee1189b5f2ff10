//! Waits with `poll` for a message or for a line on standard input. Run `talk listen` in one terminal and `poll` in
//! another.

fn main() -> Result<(), furlong_channel::Error> {
    #[cfg(target_os = "linux")]
    return linux::run();
    // On Windows, use `WaitForMultipleObjects` with the `handle` of a receiver.
    #[cfg(not(target_os = "linux"))]
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "only Linux has poll").into())
}

#[cfg(target_os = "linux")]
mod linux {
    use furlong_channel::{Channel, Error, Options};
    use std::io::{self, BufRead};
    use std::os::fd::AsRawFd;

    pub fn run() -> Result<(), Error> {
        let mut channel = Channel::connect("/tmp/talk", &Options::new())?;
        let mut lines = io::stdin().lock();
        let mut buffer = [0; 4096];
        println!("type something");
        loop {
            let (sender, receiver) = channel.both();
            // Call this before every wait. It returns false if a message is available already.
            if receiver.watch()? {
                let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
                let mut watched = [watch(receiver.descriptor().as_raw_fd()), watch(0)];
                // SAFETY: the number of entries is right, and they live for the whole call.
                unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, -1) };
                if watched[1].revents != 0 {
                    let mut line = String::new();
                    if lines.read_line(&mut line)? == 0 {
                        return Ok(());
                    }
                    sender.send(line.trim_end().as_bytes())?;
                }
            }
            match receiver.try_recv(&mut buffer) {
                Ok(len) => println!("{} came back", String::from_utf8_lossy(&buffer[..len])),
                Err(Error::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
