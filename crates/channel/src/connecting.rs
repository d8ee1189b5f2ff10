//! The calls that connect two processes through a channel, on every platform.

use crate::channel::Channel;
use crate::credentials::Credentials;
use crate::error::Result;
use crate::options::Options;
use crate::platform::{Listener, connect_until, is_admitted};
use crate::waiting::{CONNECT_LIMIT, Limit};
use std::time::Duration;

impl Listener {
    /// Waits until a process of the same user or of root connects, and returns this end of a new channel.
    ///
    /// A process that exited before it was accepted is skipped. On Windows, a process that connects but does not copy
    /// the handles is rejected after two seconds.
    ///
    /// # Errors
    /// Returns `Refused` if a process of another user has connected; that process receives nothing. Returns `System`
    /// with the error of the operating system.
    pub fn accept(&self) -> Result<Channel> {
        self.accept_until(Limit::None, is_admitted)
    }

    /// Like [`accept`](Self::accept), but returns `WouldBlock` if no process has connected.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `accept` does.
    ///
    /// ```
    /// # use furlong_channel::{Error, Listener, Options};
    /// # let name = format!("@furlong-channel-doc-{}", std::process::id());
    /// # let name = name.trim_start_matches(if cfg!(windows) { "@" } else { "" });
    /// let listener = Listener::bind(name, &Options::new())?;
    /// assert!(matches!(listener.try_accept(), Err(Error::WouldBlock)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_accept(&self) -> Result<Channel> {
        self.accept_until(Limit::Now, is_admitted)
    }

    /// Like [`accept`](Self::accept), but waits at most `timeout`. The memory is mapped after the wait, which takes
    /// some milliseconds per 4 MiB.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `accept` does.
    pub fn accept_timeout(&self, timeout: Duration) -> Result<Channel> {
        self.accept_until(Limit::after(timeout), is_admitted)
    }

    /// Like [`accept`](Self::accept), but `is_allowed` decides which processes are accepted, for processes of all
    /// users.
    ///
    /// On Windows it can only reject additional processes, because the system admits only this user, administrators and
    /// itself. The PID is that of the process that opened the pipe.
    ///
    /// # Errors
    /// Returns `Refused` if `is_allowed` returns false, or an error as `accept` does.
    pub fn accept_if(&self, is_allowed: impl Fn(&Credentials) -> bool) -> Result<Channel> {
        self.accept_until(Limit::None, is_allowed)
    }

    /// Like [`accept_if`](Self::accept_if), but returns `WouldBlock` if no process has connected.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `accept_if` does.
    pub fn try_accept_if(&self, is_allowed: impl Fn(&Credentials) -> bool) -> Result<Channel> {
        self.accept_until(Limit::Now, is_allowed)
    }
}

impl Channel {
    /// Connects to a [`Listener`] of the same user or of root. The name is a path or, after `@`, a name outside the
    /// file system; on Windows it is the name of a named pipe. Waits at most five seconds until the listener accepts.
    ///
    /// The listener chooses the capacity of the channel and the longest message. This process accepts at most
    /// [`Options::accepted_capacity`] and [`Options::longest_message`].
    ///
    /// On Windows, this process copies handles of the listener's process. So it must run as the same user, and elevated
    /// if that process is, or as an administrator.
    ///
    /// Returns `TimedOut` if the listener does not accept in time, and `Refused` if it belongs to another user. Returns
    /// `Closed` if it rejects this process, and `TooLarge` if its channels exceed the accepted sizes. Returns `Corrupt`
    /// if it is not a `Listener` of this wire format. Returns `System` with the error of the operating system:
    /// `NotFound` or `ConnectionRefused` if no process listens.
    pub fn connect(name: &str, options: &Options) -> Result<Channel> {
        Channel::connect_timeout(name, options, CONNECT_LIMIT)
    }

    /// Like [`connect`](Self::connect), but waits at most `timeout`, also while the listener's backlog is full. The
    /// memory is mapped after the wait, which takes some milliseconds per 4 MiB.
    ///
    /// # Errors
    /// Returns an error as `connect` does.
    pub fn connect_timeout(name: &str, options: &Options, timeout: Duration) -> Result<Channel> {
        connect_until(name, options, Limit::after(timeout), is_admitted)
    }

    /// Like [`connect_timeout`](Self::connect_timeout), but `is_allowed` decides which listeners are accepted, for
    /// listeners of all users. It is called before anything is received or mapped. On Windows only the PID is known.
    ///
    /// # Errors
    /// Returns `Refused` if `is_allowed` returns false, or an error as `connect` does.
    ///
    /// ```no_run
    /// # #[cfg(unix)]
    /// # fn main() -> Result<(), furlong_channel::Error> {
    /// # use furlong_channel::{Channel, Options};
    /// # use std::time::Duration;
    /// let of_daemon = |peer: &furlong_channel::Credentials| peer.user == 998;
    /// let channel = Channel::connect_if("/run/talk", &Options::new(), Duration::from_secs(1), of_daemon)?;
    /// # Ok(())
    /// # }
    /// # #[cfg(not(unix))]
    /// # fn main() {}
    /// ```
    pub fn connect_if(
        name: &str,
        options: &Options,
        timeout: Duration,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<Channel> {
        connect_until(name, options, Limit::after(timeout), is_allowed)
    }
}
