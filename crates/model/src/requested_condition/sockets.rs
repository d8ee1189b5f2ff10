//! Requested conditions of a link: options of its sockets, and the number of writes that send a message.

use super::{ConditionKind, RequestedCondition, RequestedConditions};
use crate::{Call, Capabilities, Family, KernelBuffer, Reach, Sharing, named_enum};
use std::fmt;
use std::str::FromStr;

named_enum! {
    /// Option of a socket.
    SocketOption, "socket option" {
        /// `TCP_NODELAY` on, which is the default of furlong's TCP sockets.
        NoDelay = "nodelay",
        /// `TCP_NODELAY` off: Nagle's algorithm, the default of the kernel.
        Nagle = "nagle",
        /// `TCP_QUICKACK`, set again after each read.
        QuickAck = "quickack",
        /// `SO_BUSY_POLL`.
        BusyPoll = "busy-poll",
        /// `SO_ZEROCOPY`, and `MSG_ZEROCOPY` in each send.
        ZeroCopy = "zerocopy",
        /// `TCP_CORK`, set before each message and cleared after it.
        Cork = "cork",
    }
}

impl SocketOption {
    fn applies(self, capabilities: &Capabilities) -> bool {
        let is_network_socket = capabilities.family == Family::Socket
            && capabilities.reach == Reach::Network
            && capabilities.buffer == KernelBuffer::Socket
            && capabilities.sharing == Sharing::OneEach;
        let is_of_any_protocol = matches!(self, SocketOption::BusyPoll | SocketOption::ZeroCopy);
        is_network_socket && (is_of_any_protocol || !capabilities.boundaries)
    }
}

/// Options of a socket in the order of [`SocketOption::ALL`], each at most once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SocketOptions(Box<[SocketOption]>);

impl SocketOptions {
    fn parse(text: &str) -> Option<SocketOptions> {
        let mut options = text.split('+').map(SocketOption::from_str).collect::<Result<Vec<_>, _>>().ok()?;
        let requested = options.len();
        options.sort_unstable();
        options.dedup();
        let contradicts = options.starts_with(&[SocketOption::NoDelay, SocketOption::Nagle]);
        (options.len() == requested && !contradicts).then(|| SocketOptions(options.into()))
    }
}

impl fmt::Display for SocketOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|option| option.name()).collect::<Vec<_>>().join("+"))
    }
}

/// Options of sockets.
pub(super) static SOCKET_OPTIONS: ConditionKind = ConditionKind {
    name: "socket-options",
    placeholder: "OPTIONS",
    help: "Set nodelay, nagle, quickack, cork, busy-poll or zerocopy. Several as in nagle+quickack. udp has only the \
           last two. Can be repeated [default: nodelay]",
    read: |text| SocketOptions::parse(text).map(RequestedCondition::SocketOptions),
    valid: "choose nodelay or nagle, quickack, busy-poll, zerocopy, cork, or several as in nagle+quickack",
    applies: |condition, capabilities| match condition {
        RequestedCondition::SocketOptions(options) => {
            options.0.iter().all(|option| option.applies(capabilities))
        }
        _ => false,
    },
    candidates: &["quickack", "busy-poll", "zerocopy"],
    neutral: Some("nodelay"),
    permanent: |_| "in the program: setsockopt".to_owned(),
};

/// Number of writes that send a message.
pub(super) static WRITES: ConditionKind = ConditionKind {
    name: "writes",
    placeholder: "N",
    help: "Send each message in 1 write, or in 2: header and body. The header has 8 bytes. Streams only. Can be \
           repeated [default: 1]",
    read: |text| match text {
        "1" => Some(RequestedCondition::Writes(1)),
        "2" => Some(RequestedCondition::Writes(2)),
        _ => None,
    },
    valid: "write 1 or 2",
    applies: |_, capabilities| {
        let writes = |call: &Call| matches!(call, Call::Once("write" | "send" | "WriteFile"));
        let has_family = matches!(capabilities.family, Family::Pipe | Family::Socket);
        has_family && !capabilities.boundaries && capabilities.calls.send.iter().all(writes)
    },
    candidates: &[],
    neutral: Some("1"),
    permanent: |_| "in the program: writev".to_owned(),
};

impl RequestedConditions {
    /// Returns the requested options of the link's sockets.
    pub fn socket_options(&self) -> &[SocketOption] {
        let options = self.iter().find_map(|condition| match condition {
            RequestedCondition::SocketOptions(options) => Some(&*options.0),
            _ => None,
        });
        options.unwrap_or_default()
    }

    /// Returns whether each message is sent in two writes.
    pub fn has_two_writes(&self) -> bool {
        self.iter().any(|condition| *condition == RequestedCondition::Writes(2))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Calls;

    /// Capabilities of a TCP socket.
    pub(crate) const STREAM: Capabilities = Capabilities {
        family: Family::Socket,
        boundaries: false,
        buffer: KernelBuffer::Socket,
        reach: Reach::Network,
        calls: Calls::of(&[Call::Once("write")], &[Call::Once("read")]),
        ..Capabilities::DEFAULT
    };

    #[test]
    fn several_options_are_one_value_in_a_fixed_order() {
        for (text, value) in [("nodelay", "nodelay"), ("quickack+nagle", "nagle+quickack"), ("cork", "cork")]
        {
            assert_eq!(SOCKET_OPTIONS.read(text).unwrap().value(), value);
        }
        for text in ["nodelay+nagle", "cork+cork", "reuseaddr", "cork+", ""] {
            let error = SOCKET_OPTIONS.read(text).unwrap_err().to_string();
            assert!(error.contains("choose nodelay or nagle"), "{error}");
        }
        assert!(WRITES.read("3").unwrap_err().to_string().contains("write 1 or 2"));
    }

    #[test]
    fn options_apply_to_sockets_that_have_them() {
        let datagram = Capabilities { boundaries: true, ..STREAM };
        let unix = Capabilities { reach: Reach::FileSystem, ..STREAM };
        let applies = |text, capabilities| SOCKET_OPTIONS.read(text).unwrap().applies(capabilities);
        for (text, is_of_datagrams) in [("nagle", false), ("zerocopy", true), ("busy-poll+cork", false)] {
            assert!(applies(text, &STREAM) && !applies(text, &unix), "{text}");
            assert_eq!(applies(text, &datagram), is_of_datagrams, "{text}");
        }
    }

    #[test]
    fn two_writes_apply_to_streams_with_one_write_per_message() {
        let ring = Calls::of(&[Call::Once("io_uring_enter")], &[Call::Once("io_uring_enter")]);
        let applies = |capabilities: Capabilities| WRITES.read("2").unwrap().applies(&capabilities);
        assert!(applies(STREAM) && applies(Capabilities { family: Family::Pipe, ..STREAM }));
        assert!(!applies(Capabilities { boundaries: true, ..STREAM }));
        assert!(!applies(Capabilities { calls: ring, ..STREAM }));
    }
}
