//! Clients that disconnect before they are accepted.

use super::{PATIENCE, within};
use crate::common::{bare_connection, folder, name};
use crate::expect;
use furlong_channel::{Channel, Error, Listener, Options};
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;

#[test]
fn client_that_left_keeps_no_call_that_does_not_wait() {
    let folder = folder();
    let path = folder.join("socket");
    let name = path.to_str().unwrap().to_owned();
    let listener = Listener::bind(&name, &Options::new().capacity(4096)).unwrap();
    within(PATIENCE / 4, move || {
        expect!(listener.try_accept(), Err(Error::WouldBlock));
        // Fewer clients than the backlog holds, so no connect blocks.
        for _ in 0..100 {
            drop(bare_connection(&path));
        }
        expect!(listener.try_accept(), Err(Error::WouldBlock));
        drop(bare_connection(&path));
        expect!(listener.accept_timeout(Duration::from_millis(20)), Err(Error::TimedOut));
        drop(bare_connection(&path));
        let connecting = thread::spawn(move || Channel::connect(&name, &Options::new()).map(drop));
        listener.accept().unwrap();
        connecting.join().unwrap().unwrap();
    });
    fs::remove_dir(&folder).unwrap();
}

#[test]
fn client_chooses_its_listener_by_credentials() {
    let (name, options) = (name(), Options::new().capacity(4096));
    let listener = Listener::bind(&name, &options).unwrap();
    let none = Channel::connect_if(&name, &options, PATIENCE, |_| false).map(drop);
    expect!(none, Err(Error::Refused(_)));
    let own = std::process::id() as i32;
    let connecting =
        thread::spawn(move || Channel::connect_if(&name, &options, PATIENCE, |peer| peer.process == own));
    let end = listener.accept().unwrap();
    let other = connecting.join().unwrap().unwrap();
    assert!(!end.is_closed() && !other.is_closed());
    let (sender, receiver) = end.split();
    assert!(receiver.peer_process().is_none_or(|process| process.as_raw_fd() >= 0));
    // For poll, mio and tokio.
    let descriptors =
        [listener.as_fd(), sender.as_fd(), receiver.as_fd()].map(|descriptor| descriptor.as_raw_fd());
    assert_eq!(descriptors, [listener.as_raw_fd(), sender.as_raw_fd(), receiver.as_raw_fd()]);
    drop(other);
    assert!(sender.is_closed() && receiver.is_closed());
}
