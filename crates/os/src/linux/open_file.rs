//! Comparison of the open files of other processes (kcmp(2)).

use crate::error::check;
use std::cmp::Ordering;
use std::io;

/// Compares the open file descriptions of descriptors, each a PID and a number. Equal ones are shared: one descriptor was
/// inherited, passed or duplicated. The order of others is arbitrary, but does not change while both exist.
///
/// # Errors
/// Returns an error if a process or descriptor does not exist, if this process may not inspect one of them (as for ptrace), or if
/// the kernel has no `kcmp`.
pub fn compare_open_files(one: (i32, i32), other: (i32, i32)) -> io::Result<Ordering> {
    /// `KCMP_FILE` of linux/kcmp.h.
    const FILE: libc::c_int = 0;
    // SAFETY: plain integers in and out.
    match check(unsafe { libc::syscall(libc::SYS_kcmp, one.0, other.0, FILE, one.1, other.1) })? {
        0 => Ok(Ordering::Equal),
        1 => Ok(Ordering::Less),
        _ => Ok(Ordering::Greater),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::pipe::pipe;
    use std::os::fd::AsRawFd;

    #[test]
    fn duplicate_is_equal_and_other_end_is_not() {
        let own = std::process::id() as i32;
        let (reader, writer) = pipe().unwrap();
        let duplicate = reader.try_clone().unwrap();
        let compare = |one: &std::os::fd::OwnedFd, other: &std::os::fd::OwnedFd| {
            compare_open_files((own, one.as_raw_fd()), (own, other.as_raw_fd()))
        };
        assert_eq!(compare(&reader, &duplicate).unwrap(), Ordering::Equal);
        let order = compare(&reader, &writer).unwrap();
        assert_ne!(order, Ordering::Equal);
        assert_eq!(compare(&writer, &reader).unwrap(), order.reverse());
        assert!(compare_open_files((own, -1), (own, -1)).is_err());
    }
}
