//! furlong-channel for C: the functions that `include/furlong_channel.h` documents.
//!
//! Each function checks its pointers for null, and trusts the caller to follow the other rules of the header. A handle
//! is a box. A loaned or peeked message borrows from the end in it, and every other call is rejected until the message
//! is released.

#[cfg(not(target_os = "linux"))]
compile_error!("furlong-channel-c needs Linux: its functions take and give descriptors");

mod arguments;
mod connecting;
mod end;
mod errors;
mod receiving;
mod sending;

#[cfg(all(test, in_one_process))]
mod in_one_process;
