//! A request that one mechanism carries, and an answer that another does.

use crate::waiting::Channel;
use furlong_mechanism::Message;
use furlong_model::Role;
use std::fmt;
use std::io;

/// One role's ends of both.
pub(crate) struct TwoMechanisms<C> {
    role: Role,
    /// Its type is not known here, and one virtual call is nothing beside the block that answers.
    request: Box<dyn Channel>,
    answer: C,
}

impl<C> TwoMechanisms<C> {
    /// The initiator asks by `ask`, and the responder answers by `answer`.
    pub(crate) fn new(role: Role, request: Box<dyn Channel>, answer: C) -> Self {
        TwoMechanisms { role, request, answer }
    }
}

impl<C: Channel> Channel for TwoMechanisms<C> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        match self.role {
            Role::Initiator => self.request.send(message),
            Role::Responder => self.answer.send(message),
        }
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        match self.role {
            Role::Initiator => self.answer.recv(message),
            Role::Responder => self.request.recv(message),
        }
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        match self.role {
            Role::Initiator => self.request.unread_buffers(size_bytes),
            Role::Responder => self.answer.unread_buffers(size_bytes),
        }
    }
}

impl<C> fmt::Debug for TwoMechanisms<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoMechanisms").field("role", &self.role).finish_non_exhaustive()
    }
}
