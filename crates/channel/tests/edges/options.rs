//! Registrations for membarrier(2), and loans that are committed in part.

use super::{PATIENCE, small};
use crate::common::{WAITINGS, content, length, pair, start};
use furlong_channel::{Channel, Error, WaitStrategy};
use std::io;
use std::thread;

/// Returns the commands for which this process is registered with membarrier(2).
fn registrations() -> i64 {
    const GET_REGISTRATIONS: libc::c_long = 1 << 9;
    // SAFETY: no memory is involved.
    unsafe { libc::syscall(libc::SYS_membarrier, GET_REGISTRATIONS, 0, 0) }
}

/// Echoes a burst of messages, and then sends the registrations of this process.
pub(crate) fn report_registrations(mut end: Channel) {
    for _ in 0..200 {
        end.recv_vec().and_then(|message| end.send(&message)).unwrap();
    }
    end.send(&registrations().to_le_bytes()).unwrap();
}

#[test]
fn end_without_membarrier_registers_nothing_and_misses_no_message() {
    for waiting in WAITINGS {
        for is_allowed in [false, true] {
            let task = format!("registrations-{is_allowed}");
            let (_child, mut end) = start(&task, &small(waiting).membarrier(is_allowed));
            // More than the ring holds, so that both ends wait and are busy in turn.
            let (sender, receiver) = end.both();
            thread::scope(|scope| {
                scope.spawn(|| {
                    (0..200).for_each(|number| sender.send(&content(number, length(number))).unwrap())
                });
                (0..200).for_each(|number| {
                    assert_eq!(receiver.recv_vec().unwrap(), content(number, length(number)));
                });
            });
            let mut found = [0; 8];
            receiver.recv_timeout(&mut found, PATIENCE).unwrap();
            assert_eq!(i64::from_le_bytes(found) != 0, is_allowed, "{waiting:?}");
        }
    }
}

#[test]
fn loan_that_is_committed_in_part_is_a_shorter_message() {
    // SAFETY: both ends belong to this library.
    let [mut first, mut second] = pair(&small(WaitStrategy::Park)).map(|end| unsafe { end.trust() });
    for number in 0..500 {
        let due = content(number, number % 300);
        let mut loan = first.loan(1000).unwrap();
        loan[..due.len()].copy_from_slice(&due);
        loan.commit_len(due.len());
        let message = second.peek().unwrap();
        assert_eq!(message[..], due);
        message.release();
    }
}

#[test]
fn errors_are_compared_and_copied() {
    let system = |kind| Error::System(io::Error::new(kind, "text"));
    let errors = [
        Error::WouldBlock,
        Error::Closed,
        Error::PeerDied,
        Error::TooLong { len: 2, most: 1 },
        Error::TooLong { len: 3, most: 1 },
        Error::BufferTooSmall { len: 1 },
        Error::Corrupt("one"),
        Error::Corrupt("other"),
        Error::TooLarge { what: "capacity", bytes: 2, most: 1 },
        system(io::ErrorKind::NotFound),
        system(io::ErrorKind::AddrInUse),
        Error::System(io::Error::from_raw_os_error(libc::ENOENT)),
    ];
    for (at, error) in errors.iter().enumerate() {
        for (other_at, other) in errors.iter().enumerate() {
            assert_eq!(error.clone() == *other, at == other_at, "{error:?}, {other:?}");
        }
        assert_eq!(error.clone().to_string(), error.to_string());
    }
}
