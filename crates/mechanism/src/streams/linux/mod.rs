//! Byte streams of Linux.

pub(crate) mod accept;
pub(crate) mod fifo;
pub(crate) mod io_uring_pipe;
pub(crate) mod io_uring_socketpair;
pub(crate) mod io_uring_sqpoll;
pub(crate) mod io_uring_to_all;
pub(crate) mod pipe;
pub(crate) mod ring_stream;
pub(crate) mod socketpair;
pub(crate) mod splice;
pub(crate) mod tcp_socket;
pub(crate) mod tee;
pub(crate) mod vmsplice;
pub(crate) mod vsock;
