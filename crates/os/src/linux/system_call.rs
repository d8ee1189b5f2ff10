//! System calls by name, because the kernel uses numbers, and every architecture has its own.

use syscalls::Sysno;

/// Newer calls that the C library makes when a program requests an older one, with the name of the older one. Programs here do
/// not request the newer ones by name.
const OLDER_NAMES: [(&str, &str); 7] = [
    ("pselect6", "select"),
    ("ppoll", "poll"),
    ("epoll_pwait", "epoll_wait"),
    ("epoll_pwait2", "epoll_wait"),
    ("semtimedop", "semop"),
    ("eventfd2", "eventfd"),
    ("signalfd4", "signalfd"),
];

/// Returns a program's name for the system call with this number, on the architecture that this is compiled for: the kernel's
/// name, or that of the older call that the C library maps to it. An unknown call is `unknown-` with its number.
pub fn name(number: i64) -> String {
    let Some(known) = usize::try_from(number).ok().and_then(Sysno::new) else {
        return format!("unknown-{number}");
    };
    let name = known.name();
    OLDER_NAMES.iter().find(|(newer, _)| *newer == name).map_or(name, |(_, older)| older).to_owned()
}

/// Returns the numbers of the calls that a program may make when it requests the call with this name.
pub(crate) fn numbers(name: &str) -> impl Iterator<Item = u32> {
    let newer = OLDER_NAMES.iter().filter(move |(_, older)| *older == name).map(|(newer, _)| *newer);
    std::iter::once(name).chain(newer).filter_map(number).filter_map(|number| u32::try_from(number).ok())
}

/// Returns the names of all system calls of this architecture.
pub fn all() -> impl Iterator<Item = &'static str> {
    Sysno::iter().map(|known| known.name())
}

/// Returns the number of the system call with this kernel name, if this architecture has it.
pub fn number(name: &str) -> Option<i64> {
    Sysno::iter().find(|known| known.name() == name).map(|known| i64::from(known.id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_kernels() {
        assert_eq!(name(libc::SYS_read), "read");
        assert_eq!(name(libc::SYS_recvfrom), "recvfrom");
        assert_eq!(name(libc::SYS_mq_timedsend), "mq_timedsend");
        assert_eq!(name(libc::SYS_process_vm_readv), "process_vm_readv");
    }

    #[test]
    fn newer_forms_have_the_older_name() {
        assert_eq!(name(libc::SYS_pselect6), "select");
        assert_eq!(name(libc::SYS_ppoll), "poll");
        assert_eq!(name(libc::SYS_epoll_pwait), "epoll_wait");
        assert_eq!(name(libc::SYS_semtimedop), "semop");
        assert_eq!(name(libc::SYS_eventfd2), "eventfd");
        for (newer, _) in OLDER_NAMES {
            assert!(number(newer).is_some(), "{newer} is no system call");
        }
    }

    #[test]
    fn what_is_not_known_keeps_its_number() {
        assert_eq!(name(9_999), "unknown-9999");
        assert_eq!(name(-1), "unknown--1");
    }

    #[test]
    fn numbers_and_names_fit() {
        assert_eq!(number("getppid"), Some(libc::SYS_getppid));
        assert_eq!(number("no-such-call"), None);
    }
}
