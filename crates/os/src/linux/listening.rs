//! Listening sockets that stay open while they are used: each connection is another client's.

use crate::error::{Context, check};
use crate::linux::socket::check_length;
use std::io;
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::path::Path;

pub use std::os::unix::net::{UnixListener, UnixStream};

/// Returns a socket that listens at `path`, which must not exist yet and is not removed.
///
/// # Errors
/// Returns an error with a remedy if the path is too long, and otherwise the kernel's error.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    check_length(path)?;
    UnixListener::bind(path).context(|| format!("listen at {}", path.display()))
}

/// Makes every connection that this socket accepts from now on end with a reset when it is closed: it does not linger for late
/// segments, and data that the other side has not read yet is lost.
///
/// # Errors
/// Returns the error of `setsockopt`.
pub fn reset_on_close(listener: &TcpListener) -> io::Result<()> {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the kernel reads a value of this size.
    check(unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const at_once).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    })
    .map(drop)
    .context(|| "set SO_LINGER")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpStream};

    /// Returns whether a port whose connection was reset can be bound again at once.
    fn is_port_back() -> bool {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        reset_on_close(&listener).unwrap();
        let mut connected = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let own = connected.local_addr().unwrap();
        connected.write_all(b"all of it").unwrap();
        connected.shutdown(Shutdown::Write).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        let mut came = Vec::new();
        accepted.read_to_end(&mut came).unwrap();
        assert_eq!(came, b"all of it");
        drop(accepted);
        assert_eq!(connected.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        drop(connected);
        TcpListener::bind(own).is_ok()
    }

    #[test]
    fn connection_is_reset_and_its_port_is_free() {
        // A connection that lingers keeps its port each time. Another process may have taken it once.
        assert!((0..10).any(|_| is_port_back()));
    }
}
