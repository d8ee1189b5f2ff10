//! furlong-channel for C: the functions of `include/furlong_channel.h`, which says what they do.
//!
//! Each checks its pointers for null, and believes the rest of what the header asks of them. A handle is a box; what is lent or
//! looked at borrows from what lies in it, and no other call is let in before it was given back.

#[cfg(not(target_os = "linux"))]
compile_error!("furlong-channel-c needs Linux: its functions take and give descriptors");

mod arguments;
mod connecting;
mod end;
mod errors;
mod receiving;
mod sending;
