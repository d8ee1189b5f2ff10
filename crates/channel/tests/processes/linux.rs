//! Features of Linux: descriptors for poll, forks, and socket files.

use super::*;
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsRawFd;

/// Returns the open descriptors of this process, and the files in the directories of named memory and sockets.
pub fn things() -> BTreeSet<String> {
    let names = |folder: &str, begin: &str| {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with(begin))
            .map(|name| format!("{folder}/{name}"))
            .collect::<Vec<_>>()
    };
    let open = names("/proc/self/fd", "").len();
    let maps = fs::read_to_string("/proc/self/maps").unwrap().matches("furlong-channel").count();
    let mut things = BTreeSet::from([format!("{open} descriptors, {maps} maps")]);
    things.extend(names("/dev/shm", "furlong-channel"));
    things
}

/// Waits until a descriptor is readable, and returns whether it is.
fn poll(descriptor: std::os::fd::BorrowedFd<'_>, time: Duration) -> bool {
    let mut watch = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives for the whole call.
    unsafe { libc::poll(&raw mut watch, 1, time.as_millis() as i32) == 1 }
}

/// Waits until the descriptor of a receiver is readable, and returns whether it is.
pub fn told_of_messages(receiver: &Receiver, time: Duration) -> bool {
    poll(receiver.descriptor(), time)
}

/// Waits until the descriptor of a sender is readable, and returns whether it is.
pub fn told_of_room(sender: &Sender, time: Duration) -> bool {
    poll(sender.descriptor(), time)
}

#[test]
fn a_descriptor_tells_of_messages_of_room_and_of_death() {
    for waiting in [WaitStrategy::Park, WaitStrategy::Adaptive] {
        let (child, mut end) = start(&task_of("echo", waiting), &small(waiting));
        let (sender, receiver) = end.both();
        expect_messages_told(sender, receiver);
        // The signal of the last message may arrive once after the message was found.
        let mut is_quiet =
            || receiver.watch().unwrap() && !told_of_messages(receiver, Duration::from_millis(5));
        assert!(is_quiet() || is_quiet(), "nothing happened");
        expect_room_told(sender, receiver);
        assert!(receiver.watch().unwrap());
        drop(child);
        assert!(told_of_messages(receiver, PATIENCE), "a death");
        expect!(receiver.watch(), Err(Error::PeerDied));
    }
    let (_child, mut end) = start(&task_of("idle", WaitStrategy::Spin), &small(WaitStrategy::Spin));
    expect!(end.both().1.watch(), Err(Error::System(_)));
}

#[test]
fn who_has_left_before_it_is_accepted_is_passed_over() {
    let folder = common::folder();
    let path = folder.join("socket");
    let listener = Listener::bind(path.to_str().unwrap(), &Options::new()).unwrap();
    drop(common::bare_connection(&path));
    let connecting = thread::spawn(move || Channel::connect(path.to_str().unwrap(), &Options::new()));
    let mut end = listener.accept().unwrap();
    let mut other = connecting.join().unwrap().unwrap();
    end.send(b"to the client").unwrap();
    assert_eq!(other.recv_vec().unwrap(), b"to the client");
    drop(listener);
    fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_path_is_removed_and_one_that_was_left_is_taken_over() {
    let folder = common::folder();
    let path = folder.join("socket");
    let name = path.to_str().unwrap();
    // A socket without a listener, as left by a killed process.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let listener = Listener::bind(name, &Options::new()).unwrap();
    expect!(Listener::bind(name, &Options::new()), Err(Error::System(_)));
    drop(listener);
    assert!(!path.exists());
    fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_fork_has_one_end() {
    let options = small(WaitStrategy::Adaptive);
    let [ours, theirs] = Channel::pair(&options).unwrap();
    // SAFETY: the child only uses the channel, and exits without returning to the test.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(ours);
        let answered = Channel::from_descriptors(theirs, &options).and_then(|mut end| {
            let mut buffer = [0; 100];
            let len = end.recv(&mut buffer)?;
            end.send(&buffer[..len])
        });
        // SAFETY: exits at once.
        unsafe { libc::_exit(i32::from(answered.is_err())) };
    }
    drop(theirs);
    let mut end = Channel::from_descriptors(ours, &options).unwrap();
    end.send(b"parent").unwrap();
    let mut buffer = [0; 100];
    let len = end.recv_timeout(&mut buffer, PATIENCE).unwrap();
    assert_eq!(&buffer[..len], b"parent");
    let mut status = 0;
    // SAFETY: there is room for the status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}
