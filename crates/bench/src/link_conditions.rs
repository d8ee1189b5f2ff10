//! Requested conditions of a link that are impossible here.

use furlong_model::{Capabilities, SocketOption, Unavailable};
use furlong_os::AsHandle;
use furlong_os::socket::{set_socket_option, tcp_pair, udp_pair};
use std::io;

/// Returns why the socket of a mechanism cannot have these options, or `None`.
pub(crate) fn refusal(options: &[SocketOption], capabilities: &Capabilities) -> Option<Unavailable> {
    if options.is_empty() {
        return None;
    }
    let try_them = || {
        let (socket, _peer) = if capabilities.boundaries { udp_pair()? } else { tcp_pair()? };
        options.iter().try_for_each(|option| set_socket_option(socket.as_handle(), *option).map(drop))
    };
    let error: io::Error = try_them().err()?;
    let remedy = "leave this option out; busy-poll may need root (CAP_NET_ADMIN), and CONFIG_NET_RX_BUSY_POLL, and zerocopy needs \
                  Linux 4.14 (tcp) or 5.0 (udp)";
    Some(Unavailable::new(format!("{} cannot have this option: {error}", capabilities.name), remedy))
}
