//! The calls of C on both ends of a channel on the heap of one process. `cargo xtask channel prove` runs them under miri.

use crate::connecting::handles_of;
use crate::errors::{CLOSED, INVALID, LENT, NOT_TRUSTED};
use crate::receiving::*;
use crate::sending::*;
use furlong_channel::{Channel, Options};
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

const WOULD_BLOCK: c_int = -1;

/// Returns the handles of both ends.
fn ends(trusts: bool) -> [(*mut FurlongSender, *mut FurlongReceiver); 2] {
    let options = Options::new().capacity(4096).longest_message(3000);
    // SAFETY: both ends belong to this library.
    Channel::pair_in_one_process(&options).unwrap().map(|channel| unsafe { handles_of(channel, trusts) })
}

fn close(ends: [(*mut FurlongSender, *mut FurlongReceiver); 2]) {
    for (sender, receiver) in ends {
        // SAFETY: the handles are not used afterwards.
        unsafe {
            furlong_sender_close(sender);
            furlong_receiver_close(receiver);
        }
    }
}

#[test]
fn loaned_and_peeked_messages_stay_valid_during_other_calls() {
    let both @ [(sender, own_receiver), (_, receiver)] = ends(true);
    let (mut lent, mut seen, mut len, mut buffer) = (null_mut::<c_void>(), null::<c_void>(), 0, [0u8; 8]);
    // SAFETY: valid handles, and pointers to values that live long enough; loaned and peeked messages are not used
    // after their release.
    unsafe {
        assert_eq!(furlong_loan(sender, 5, &mut lent, -1), 0);
        let bytes = lent.cast::<u8>();
        bytes.write(7);
        assert_eq!(furlong_loan(sender, 5, &mut lent, -1), LENT);
        assert_eq!(furlong_send(sender, buffer.as_ptr(), 1, 0), LENT);
        assert_eq!(furlong_sender_watch(sender, 1), LENT);
        assert!(furlong_sender_descriptor(sender) >= 0);
        assert_eq!(furlong_recv(own_receiver, buffer.as_mut_ptr(), 8, &mut len, 0), WOULD_BLOCK);
        bytes.add(4).write(9);
        assert_eq!(furlong_commit(sender), 0);
        assert_eq!(furlong_send(sender, [1u8, 2].as_ptr(), 2, 0), 0);

        assert_eq!(furlong_peek(receiver, &mut seen, &mut len, -1), 0);
        let message = seen.cast::<u8>();
        assert_eq!(furlong_peek(receiver, &mut seen, &mut len, -1), LENT);
        assert_eq!(furlong_recv(receiver, buffer.as_mut_ptr(), 8, &mut len, 0), LENT);
        assert!(furlong_receiver_descriptor(receiver) >= 0);
        assert_eq!((len, message.read(), message.add(4).read()), (5, 7, 9));
        assert_eq!(furlong_release(receiver), 0);
        assert_eq!(furlong_release(receiver), INVALID);
        assert_eq!(furlong_recv(receiver, buffer.as_mut_ptr(), 8, &mut len, 0), 0);
        assert_eq!((len, &buffer[..2]), (2, &[1, 2][..]));

        // Close while one message is loaned and another one is peeked.
        assert_eq!(furlong_send(sender, buffer.as_ptr(), 3, 0), 0);
        assert_eq!(furlong_loan(sender, 5, &mut lent, -1), 0);
        assert_eq!(furlong_peek(receiver, &mut seen, &mut len, -1), 0);
    }
    close(both);
}

#[test]
fn messages_are_copied_in_batches_and_in_parts() {
    unsafe extern "C" fn add(context: *mut c_void, bytes: *const c_void, len: usize) {
        // SAFETY: the context is that of the caller below, and the bytes are a message.
        unsafe {
            *context.cast::<usize>() += std::slice::from_raw_parts(bytes.cast::<u8>(), len).len();
        }
    }
    let [(sender, own_receiver), (other_sender, receiver)] = ends(false);
    let message: Vec<u8> = (0..1500).map(|at| at as u8).collect();
    let (mut buffer, mut lent) = (vec![0u8; 3000], null_mut());
    let (mut len, mut sum, mut count) = (0, 0usize, 0);
    // SAFETY: valid handles, and pointers to values that live long enough.
    unsafe {
        let batch = [FurlongBytes::of(&message[..3]), FurlongBytes::of(&[]), FurlongBytes::of(&message[..9])];
        assert_eq!(furlong_send_all(sender, batch.as_ptr(), 3), 0);
        let context = (&raw mut sum).cast();
        assert_eq!(furlong_recv_each(receiver, 9, Some(add), context, &mut count), 0);
        assert_eq!((sum, count), (12, 3));
        assert_eq!(furlong_send(sender, message.as_ptr(), message.len(), -1), 0);
        assert_eq!(furlong_recv(receiver, null_mut(), 0, &mut len, 0), -6);
        assert_eq!(len, message.len());
        assert_eq!(furlong_recv(receiver, buffer.as_mut_ptr(), buffer.len(), &mut len, 1), 0);
        assert_eq!(&buffer[..len], message);
        assert_eq!(furlong_loan(sender, 1, &mut lent, 0), NOT_TRUSTED);
        assert_eq!(furlong_send(null_mut(), message.as_ptr(), 1, 0), INVALID);
        furlong_sender_close(other_sender);
        assert_eq!(furlong_recv(own_receiver, buffer.as_mut_ptr(), 1, &mut len, -1), CLOSED);
    }
    close([(sender, own_receiver), (null_mut(), receiver)]);
}
