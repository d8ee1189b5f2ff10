//! The two ends of an exchange and the stages that they pass through.

use crate::named_enum::named_enum;

named_enum! {
    /// Which end of the exchange a process is.
    Role {
        /// Sends first and holds the clock.
        Initiator = "initiator",
        /// Answers.
        Responder = "responder",
    }
}

impl Role {
    /// The other end.
    #[inline]
    pub const fn peer(self) -> Role {
        match self {
            Role::Initiator => Role::Responder,
            Role::Responder => Role::Initiator,
        }
    }

    /// 0 for the initiator, 1 for the responder.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

named_enum! {
    /// The stages of a trial, in their order.
    Phase {
        /// The supervisor makes the link.
        Create = "create",
        /// The processes start, pin themselves and open their ends.
        Open = "open",
        /// Every byte of every message is checked; nothing is timed.
        Verify = "verify",
        /// The measured loop runs until its pace is steady; its times are thrown away.
        WarmUp = "warm-up",
        /// The measured loop.
        Timed = "timed",
        /// The processes report and leave.
        Finish = "finish",
    }
}
