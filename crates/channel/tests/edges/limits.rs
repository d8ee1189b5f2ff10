//! Ends with different limits for the length of messages.

use crate::common::name;
use furlong_channel::{Channel, Error, Listener, Options};
use std::thread;

#[test]
fn smaller_limit_of_a_client_is_reported_before_a_message_exceeds_it() {
    let name = name();
    let listener = Listener::bind(&name, &Options::new().longest_message(4000)).unwrap();
    let connecting = thread::spawn(move || Channel::connect(&name, &Options::new().longest_message(1000)));
    let mut end = listener.accept().unwrap();
    let connected = connecting.join().unwrap();
    if let Ok(mut other) = connected {
        end.send(&[0; 2000]).unwrap();
        let received = other.recv_vec();
        assert!(!matches!(received, Err(Error::Corrupt(_))), "{received:?}");
    }
}
