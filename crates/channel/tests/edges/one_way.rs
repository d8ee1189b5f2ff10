//! One-way channels.

use super::{PATIENCE, WAITINGS, fork, kill, repeat, small, status_of};
use crate::common::{content, length, name};
use crate::expect;
use furlong_channel::{
    Channel, Descriptors, Error, Listener, OneWayDescriptors, OneWayEnd, Options, Receiver, Sender,
    WaitStrategy,
};
use std::fs::File;
use std::thread;
use std::time::Duration;

/// Returns both ends of a one-way channel that is connected through a name, the end of the listener first.
fn connected<Kept: OneWayEnd, Given: Send + 'static>(
    options: Options,
    connect: fn(&str, &Options) -> Result<Given, Error>,
) -> (Kept, Given) {
    let name = name();
    let listener = Listener::bind(&name, &options).unwrap();
    let connecting = thread::spawn(move || connect(&name, &options).unwrap());
    (listener.accept_one_way_timeout(PATIENCE).unwrap(), connecting.join().unwrap())
}

fn exchange(mut sender: Sender, mut receiver: Receiver) {
    let sending = thread::spawn(move || {
        (0..3000).for_each(|number| sender.send(&content(number, length(number))).unwrap());
    });
    for number in 0..3000 {
        assert!(receiver.recv_vec().unwrap() == content(number, length(number)), "message {number}");
    }
    expect!(receiver.recv_vec(), Err(Error::Closed));
    sending.join().unwrap();
}

#[test]
fn messages_go_either_way() {
    for waiting in WAITINGS {
        let (sender, receiver) = connected(small(waiting), Receiver::connect);
        exchange(sender, receiver);
        let (receiver, sender) = connected(small(waiting), Sender::connect);
        exchange(sender, receiver);
    }
}

#[test]
fn one_ring_is_allocated() {
    let options = Options::new().capacity(1 << 20);
    let bytes = |memory| File::from(memory).metadata().unwrap().len();
    let [OneWayDescriptors { memory, .. }, _] = OneWayDescriptors::pair(&options).unwrap();
    let one = bytes(memory);
    let [Descriptors { memory, .. }, _] = Channel::pair(&options).unwrap();
    assert_eq!([one, bytes(memory)], [4096 + (1 << 20), 4096 + (2 << 20)]);
}

#[test]
fn descriptors_of_another_geometry_are_rejected() {
    let options = small(WaitStrategy::Park);
    let [one, other] = OneWayDescriptors::pair(&options).unwrap();
    expect!(Sender::from_descriptors(one, &options.capacity(4096)), Err(Error::Corrupt(_)));
    let not_a_socket =
        OneWayDescriptors { memory: other.memory, socket: File::open("/dev/null").unwrap().into() };
    expect!(Receiver::from_descriptors(not_a_socket, &options), Err(Error::Corrupt(_)));
}

#[test]
fn other_kind_of_channel_is_reported() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let listener = Listener::bind(&name, &options).unwrap();
    expect!(listener.try_accept_one_way::<Sender>(), Err(Error::WouldBlock));
    let connecting = |connect: fn(&str, &Options) -> Result<(), Error>| {
        let name = name.clone();
        thread::spawn(move || connect(&name, &options))
    };
    let both_ways = connecting(|name, options| Channel::connect(name, options).map(drop));
    let _sender: Sender = listener.accept_one_way().unwrap();
    expect!(both_ways.join().unwrap(), Err(Error::OtherKind));
    let sending = connecting(|name, options| Sender::connect(name, options).map(drop));
    let _sender: Sender = listener.accept_one_way().unwrap();
    expect!(sending.join().unwrap(), Err(Error::OtherKind));
    let receiving = connecting(|name, options| Receiver::connect(name, options).map(drop));
    let _channel = listener.accept().unwrap();
    expect!(receiving.join().unwrap(), Err(Error::OtherKind));
}

/// The process is killed while a fork of it stays alive.
#[test]
fn death_is_reported_to_either_end() {
    for waiting in WAITINGS {
        let (name, options) = (name(), small(waiting));
        let listener = Listener::bind(&name, &options).unwrap();
        let child = fork(|| {
            let mut sender = Sender::connect(&name, &options).unwrap();
            let heir = fork(|| {
                thread::sleep(PATIENCE);
                true
            });
            sender.send(&heir.to_le_bytes()).unwrap();
            thread::sleep(PATIENCE);
            true
        });
        let mut receiver: Receiver = listener.accept_one_way().unwrap();
        let mut heir = [0; 4];
        receiver.recv_timeout(&mut heir, PATIENCE).unwrap();
        kill(child);
        status_of(child);
        let error = repeat(
            || receiver.recv_timeout(&mut [0; 8], Duration::from_millis(100)),
            |error| matches!(error, Error::TimedOut),
        );
        kill(libc::pid_t::from_le_bytes(heir));
        assert!(matches!(error, Some(Error::PeerDied)), "{error:?}");
        let child = fork(|| {
            let _receiver = Receiver::connect(&name, &options).unwrap();
            thread::sleep(PATIENCE);
            true
        });
        let mut sender: Sender = listener.accept_one_way().unwrap();
        kill(child);
        status_of(child);
        let error = repeat(
            || sender.send_timeout(&[0; 900], Duration::from_millis(10)),
            |error| matches!(error, Error::TimedOut),
        );
        assert!(matches!(error, Some(Error::PeerDied)), "{error:?}");
    }
}
