//! Requested conditions of a link that are impossible here.

use furlong_model::{Capabilities, Case, SizeMix, SocketOption, Unavailable};
use furlong_os::AsHandle;
use furlong_os::socket::{set_socket_option, tcp_pair, udp_pair};
use std::io;

/// Returns why the link of this case cannot have its requested conditions, or `None`.
pub(crate) fn refusal(capabilities: &Capabilities, case: &Case) -> Option<Unavailable> {
    refuse_two_writes(case).or_else(|| refuse_options(case.conditions.socket_options(), capabilities))
}

/// Returns why each message cannot be sent in two writes, or `None`.
fn refuse_two_writes(case: &Case) -> Option<Unavailable> {
    if !case.conditions.has_two_writes() {
        return None;
    }
    if case.pattern().shares_an_end() {
        return Some(Unavailable::new(
            "several processes write to one end, so that headers and bodies of two writes would mix",
            "ask for --writes 1, or for another pattern",
        ));
    }
    let size_bytes = case.conditions.size_mix().map_or(case.size_bytes, SizeMix::smallest_bytes);
    let one_size = || case.exchange.request().map_or(size_bytes, |request| request.size_bytes);
    let request_bytes = case.conditions.request_mix().map_or_else(one_size, SizeMix::smallest_bytes);
    let words = ("a message of 1 byte has no header and body", "ask for messages of 2 bytes or more");
    (request_bytes.min(size_bytes) < 2).then(|| Unavailable::new(words.0, words.1))
}

/// Returns why a socket cannot have these options, or `None`.
fn refuse_options(options: &[SocketOption], capabilities: &Capabilities) -> Option<Unavailable> {
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
