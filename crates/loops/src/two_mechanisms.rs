//! A request over one mechanism, and its response over another.

use crate::channel::Channel;
use furlong_mechanism::Message;
use furlong_model::{Access, Role};
use std::fmt;
use std::io;

/// One role's ends of both mechanisms.
pub struct TwoMechanisms {
    role: Role,
    /// The types are erased, because two virtual calls are negligible compared with the block of bytes in the response.
    request: Box<dyn Channel>,
    response: Box<dyn Channel>,
}

impl TwoMechanisms {
    /// Creates the ends of a role. The initiator sends through `request`, and the responder through `response`.
    pub fn new(role: Role, request: Box<dyn Channel>, response: Box<dyn Channel>) -> Self {
        TwoMechanisms { role, request, response }
    }
}

impl Channel for TwoMechanisms {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        match self.role {
            Role::Initiator => self.request.send(message),
            Role::Responder => self.response.send(message),
        }
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        match self.role {
            Role::Initiator => self.response.recv(message),
            Role::Responder => self.request.recv(message),
        }
    }

    fn recv_if_arrived(&mut self, message: &mut Message) -> io::Result<usize> {
        match self.role {
            Role::Initiator => self.response.recv_if_arrived(message),
            Role::Responder => self.request.recv_if_arrived(message),
        }
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        match self.role {
            Role::Initiator => self.request.unread_buffers(size_bytes),
            Role::Responder => self.response.unread_buffers(size_bytes),
        }
    }

    /// Returns the access of the measured mechanism, which carries the response.
    fn access(&self) -> Access {
        self.response.access()
    }
}

impl fmt::Debug for TwoMechanisms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoMechanisms").field("role", &self.role).finish_non_exhaustive()
    }
}
