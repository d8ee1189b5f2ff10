//! Where the bytes of a message are written and read.

use crate::named_enum::named_enum;

named_enum! {
    /// Where the sender writes the bytes of a message, and where the receiver reads them.
    Access, "access" {
        /// Each has a buffer of its own, out of which and into which the message is copied.
        Copy = "copy",
        /// The sender writes every byte where it lies between the two, and the receiver reads every byte there.
        InPlace = "in-place",
        /// The same of the first and the last 8 bytes alone. Those between were never written for this message.
        StampsInPlace = "stamps-in-place",
    }
}

impl Default for Access {
    /// As every mechanism has it.
    fn default() -> Self {
        Access::Copy
    }
}

impl Access {
    /// Whether each role has a buffer of its own.
    pub fn is_copy(&self) -> bool {
        *self == Access::Copy
    }

    /// Whether every byte of a message is moved, or written and read.
    pub const fn is_of_every_byte(self) -> bool {
        !matches!(self, Access::StampsInPlace)
    }

    /// What stands behind the name of such a row, if anything does.
    pub(crate) const fn words(self) -> Option<&'static str> {
        match self {
            Access::Copy => None,
            Access::InPlace => Some("in place"),
            Access::StampsInPlace => Some("stamps in place"),
        }
    }
}
