//! How the bytes of a message are accessed.

use crate::named_enum::named_enum;

named_enum! {
    /// How the sender writes the bytes of a message, and how the receiver reads them.
    Access, "access" {
        /// Each role has a private buffer, from which and to which the message is copied.
        Copy = "copy",
        /// Zero-copy access: the sender writes every byte in the shared memory, and the receiver reads every byte
        /// there.
        InPlace = "in-place",
        /// Zero-copy access to the first and the last 8 bytes only. The bytes in between were never written for this
        /// message.
        StampsInPlace = "stamps-in-place",
    }
}

impl Default for Access {
    /// Returns `Copy`, which every mechanism supports.
    fn default() -> Self {
        Access::Copy
    }
}

impl Access {
    /// Returns whether each role has a private buffer.
    pub fn is_copy(&self) -> bool {
        *self == Access::Copy
    }

    /// Returns whether every byte of a message is copied, or written and read.
    pub const fn is_of_every_byte(self) -> bool {
        !matches!(self, Access::StampsInPlace)
    }

    /// Returns the access in names of benchmarks.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Access::Copy => "copied",
            Access::InPlace => "in place",
            Access::StampsInPlace => "stamps in place",
        }
    }
}
