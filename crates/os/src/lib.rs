//! The operating system behind a portable interface, and the facilities of single platforms; each file holds one facility.
//!
//! Layer 1. Of the crates that furlong is built of, only this crate and `furlong-channel` have `unsafe`. A wrapper adds no
//! policy: it makes one call, retries it when a signal interrupts it, and turns its failure into an [`std::io::Error`]. A
//! function for the measured loop is `#[inline]`, allocates nothing and makes exactly the call in its name.
//!
//! The modules here are the portable interface: code that uses no others runs on every platform of furlong. The names in their
//! lists come from the directory of each platform. Every other item of such a directory belongs to that platform alone.

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!(
    "furlong does not support this platform yet: add a directory next to crates/os/src/linux and crates/os/src/windows"
);

pub mod activity;
pub mod cleanup;
pub mod clock;
pub mod control_group;
pub mod cpu;
pub mod error;
pub mod handle;
pub mod load;
pub mod shared_place;
pub mod socket;
mod socket_buffer;
mod text_file;
pub mod trusted_channel;
pub mod usage;
pub mod wait;
mod write_error;

#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(windows)]
pub mod windows;
#[cfg(windows)]
use windows as platform;

/// Build profile of furlong. Only `dist` aborts on a panic.
pub const BUILD: &str = match () {
    () if cfg!(debug_assertions) => furlong_model::DEBUG_BUILD,
    () if cfg!(panic = "abort") => "dist",
    () => "release",
};

pub use error::Context;
pub use handle::{AsHandle, BorrowedHandle, Handle, RawHandle};

/// CPUs on which a process may run.
pub mod affinity {
    pub use crate::platform::affinity::{allowed, current, pin, try_pinning};
}

/// Memory that processes may still allocate.
pub mod available_memory {
    pub use crate::platform::available_memory::{available_bytes, be_killed_first, kills};
}

/// Start of a program, independent of what it has inherited.
pub mod beginning {
    pub use crate::platform::beginning::{settle, with_enough_stack};
}

/// Facts about this machine that affect results.
pub mod facts {
    pub use crate::platform::facts::{governor, host_name, kernel_version, machine};

    /// Returns the version and revision from the beginning of a release name.
    pub fn version_in(release: &str) -> Option<(u32, u32)> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// File systems of directories, and files and directories that belong to one user.
pub mod file_system {
    pub use crate::platform::file_system::{
        create_private_file, create_private_folder, is_memory, is_own, kind, names, open_own_file,
        open_to_read, own_descriptor, sync_folder,
    };
    pub use crate::platform::segment::unnamed_file;
    #[cfg(target_os = "linux")]
    pub use crate::platform::segment::{named_file, open_file};
    pub use crate::text_file::read_text;
}

/// Identity of this process, and unique names.
pub mod identity {
    #[cfg(target_os = "linux")]
    pub use crate::platform::identity::thread;
    pub use crate::platform::identity::{boot, is_administrator, parent_process, random};
}

/// Interrupts of devices, and the CPUs that serve them.
pub mod interrupts {
    pub use crate::platform::interrupts::per_second;
}

/// Memory: private pages for messages, and regions that two processes map.
pub mod memory {
    #[cfg(target_os = "linux")]
    pub use crate::platform::memory::copy_out;
    pub use crate::platform::memory::{Pages, Region, page_bytes};
    #[cfg(target_os = "linux")]
    pub use crate::platform::segment::bounded_object;
    pub use crate::platform::segment::{anonymous_object, has_anonymous_objects, text_object, written_text};
}

/// Output of results and messages to a reader that may read nothing.
pub mod output {
    pub use crate::platform::output::write_all;
    pub use crate::write_error::WriteError;
}

/// Handles passed to another process.
#[cfg(target_os = "linux")]
pub mod passing {
    pub use crate::platform::passing::{MOST_HANDLES, receive_handle, receive_handles, send_handles};
}

/// Kinds of pages that back memory.
#[cfg(target_os = "linux")]
pub mod page_kind {
    pub use crate::platform::memory::probe_pages;
    pub use crate::platform::page_kind::{NOT_IN_EFFECT, remedy, rounded, unit_bytes};
}

/// Connections without a name between processes.
pub mod pipe {
    pub use crate::platform::pipe::{duplex, pipe};
}

/// Child processes that die with their parent and inherit only the given handles.
pub mod process {
    #[cfg(target_os = "linux")]
    pub use crate::platform::process::send_signal;
    pub use crate::platform::process::{
        Bond, Child, Exit, Output, Program, fork, own_program, run_unless_ended, running_file, spawn,
        started_again,
    };
}

/// Requested conditions of a role's process.
pub mod role_conditions {
    pub use crate::platform::role_conditions::{apply, bind_memory, probe};
}

/// Other processes of this user, observed from outside.
#[cfg(target_os = "linux")]
pub mod other_process {
    pub use crate::platform::other_process::{
        Death, ProcessUsage, activity, began_unix_s, descriptors, find_by_variable, has_variable, kill,
        may_inspect_others, name, pin_all_threads, processes, processor, thread_name, threads, used,
        with_descendants,
    };
}

/// Processes whose parents have exited.
#[cfg(target_os = "linux")]
pub mod orphans {
    pub use crate::platform::orphans::{adopt, adopted};
}

/// Requests that this process ends.
pub mod shutdown {
    pub use crate::platform::shutdown::{NotedRequests, ShutdownRequests};
}

/// The terminal's size.
pub mod terminal {
    pub use crate::platform::terminal::{columns, lines};
}

/// CPU topology of this machine.
pub mod topology {
    pub use crate::platform::topology::read;
}
