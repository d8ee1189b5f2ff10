//! Panics in the caller's code.

use super::{WAITINGS, small};
use crate::common::{content, pair};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns three messages, and then panics.
fn three_and_a_panic() -> impl Iterator<Item = Vec<u8>> {
    (0..4).map(|number| if number < 3 { content(number, 50) } else { resume_unwind(Box::new(())) })
}

#[test]
fn panic_in_an_iterator_of_messages_loses_none() {
    for waiting in WAITINGS {
        for waits in [true, false] {
            let [mut first, mut second] = pair(&small(waiting));
            let (sender, _) = first.both();
            let result = catch_unwind(AssertUnwindSafe(|| {
                if waits {
                    sender.send_all(three_and_a_panic()).unwrap();
                } else {
                    sender.try_send_all(three_and_a_panic()).unwrap();
                }
            }));
            assert!(result.is_err());
            (3..7).for_each(|number| sender.send(&content(number, 50)).unwrap());
            drop(first);
            for number in 0..7 {
                assert_eq!(second.recv_vec().unwrap(), content(number, 50), "{waiting:?}, {waits}");
            }
        }
    }
}

#[test]
fn panic_of_a_receiving_function_loses_no_other_message() {
    let [mut first, mut second] = pair(&small(furlong_channel::WaitStrategy::Park));
    (0..3).for_each(|number| first.send(&content(number, 50)).unwrap());
    let receive = |_: &[u8]| resume_unwind(Box::new(()));
    assert!(catch_unwind(AssertUnwindSafe(|| second.both().1.recv_each(3, receive))).is_err());
    assert_eq!(second.recv_vec().unwrap(), content(1, 50));
    assert_eq!(second.recv_vec().unwrap(), content(2, 50));
}
