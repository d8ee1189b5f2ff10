//! Features of Windows: handles for waits, and inherited handles.

use super::*;
use common::{End, open};
use furlong_channel::{Events, Handles, Side};
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::process::{Command, Stdio};
use std::ptr::without_provenance_mut;
use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation, WAIT_OBJECT_0};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessHandleCount, WaitForSingleObject};

/// Returns the number of open handles of this process.
pub fn things() -> u32 {
    let mut count = 0;
    // SAFETY: there is room for the answer.
    assert_ne!(unsafe { GetProcessHandleCount(GetCurrentProcess(), &raw mut count) }, 0);
    count
}

/// Waits until an event is set, and returns whether it is.
fn wait(event: BorrowedHandle<'_>, time: Duration) -> bool {
    // SAFETY: no memory is involved.
    unsafe { WaitForSingleObject(event.as_raw_handle(), time.as_millis() as u32) == WAIT_OBJECT_0 }
}

/// Waits until the event of a receiver is set, and returns whether it is.
pub fn told_of_messages(receiver: &Receiver, time: Duration) -> bool {
    wait(receiver.handle(), time)
}

/// Waits until the event of a sender is set, and returns whether it is.
pub fn told_of_room(sender: &Sender, time: Duration) -> bool {
    wait(sender.handle(), time)
}

#[test]
fn an_event_tells_of_messages_of_room_and_of_the_end() {
    for waiting in [WaitStrategy::Park, WaitStrategy::Adaptive] {
        let (child, mut end) = start(&task_of("echo", waiting), &small(waiting));
        let (sender, receiver) = end.both();
        expect_messages_told(sender, receiver);
        expect_room_told(sender, receiver);
        assert!(receiver.watch().unwrap());
        drop(child);
        // The next call of `watch` reports a death; the event does not.
        let begin = Instant::now();
        let death = loop {
            match receiver.watch() {
                Ok(_) if begin.elapsed() < PATIENCE => {
                    _ = told_of_messages(receiver, Duration::from_millis(100))
                }
                other => break other,
            }
        };
        expect!(death, Err(Error::PeerDied));
    }
    let [ours, theirs] = common::pair(&small(WaitStrategy::Park));
    let (mut sender, mut receiver) = ours.split();
    assert!(receiver.watch().unwrap());
    drop(theirs);
    assert!(told_of_messages(&receiver, PATIENCE), "the end");
    expect!(receiver.watch(), Err(Error::Closed));
    assert!(!sender.watch(100).unwrap(), "a sender without a receiver has room");
}

/// Makes all handles of an end inheritable, and returns their values.
fn inheritable(end: &End) -> String {
    let Handles { memory, connection, sending, receiving, .. } = end;
    let handles =
        [memory, connection, &sending.sender, &sending.receiver, &receiving.sender, &receiving.receiver];
    let numbers = handles.map(|handle| {
        let flag = HANDLE_FLAG_INHERIT;
        // SAFETY: no memory is involved.
        assert_ne!(unsafe { SetHandleInformation(handle.as_raw_handle(), flag, flag) }, 0);
        (handle.as_raw_handle() as usize).to_string()
    });
    numbers.join(",")
}

const INHERITED: &str = "CHANNEL_TEST_INHERITED";

/// Echoes messages over the handles that this child process inherited.
#[test]
#[ignore = "child process of another test"]
fn child_of_a_pair() {
    let Ok(numbers) = std::env::var(INHERITED) else { return };
    let mut handles = numbers.split(',').map(|number| {
        // SAFETY: this process inherited the handle, and it has no other owner.
        unsafe { OwnedHandle::from_raw_handle(without_provenance_mut(number.parse().unwrap())) }
    });
    let mut next = || handles.next().unwrap();
    let (memory, connection) = (next(), next());
    let [sending, receiving] = [0, 1].map(|_| Events { sender: next(), receiver: next() });
    let end = Handles { memory, connection, sending, receiving, side: Side::Second };
    let mut end = open(end, &small(WaitStrategy::Adaptive)).unwrap();
    while end.recv_vec().and_then(|message| end.send(&message)).is_ok() {}
}

#[test]
fn a_child_inherits_one_end_and_its_death_is_noticed() {
    let options = small(WaitStrategy::Adaptive);
    let [ours, theirs] = Channel::pair(&options).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "windows::child_of_a_pair", "--ignored", "--test-threads", "1"])
        .env(INHERITED, inheritable(&theirs))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let child = Process(child.unwrap());
    drop(theirs);
    let mut end = open(ours, &options).unwrap();
    assert_eq!(end.peer().process, std::process::id() as i32, "who made the pair");
    for number in 0..100 {
        let message = content(number, length(number));
        end.send(&message).unwrap();
        assert_eq!(end.recv_vec().unwrap(), message);
    }
    drop(child);
    expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::PeerDied));
}

fn is_wine() -> bool {
    // SAFETY: both names are NUL-terminated.
    unsafe {
        GetProcAddress(GetModuleHandleA(c"ntdll.dll".as_ptr().cast()), c"wine_get_version".as_ptr().cast())
    }
    .is_some()
}

#[test]
fn a_name_has_one_listener_and_goes_with_it() {
    let (name, options) = (common::name(), Options::new());
    let listener = Listener::bind(&name, &options).unwrap();
    // Wine 8 ignores FILE_FLAG_FIRST_PIPE_INSTANCE.
    for same in [name.clone(), format!(r"\\.\pipe\{name}"), name.to_uppercase()].iter().filter(|_| !is_wine())
    {
        let again = Listener::bind(same, &options);
        let taken =
            matches!(&again, Err(Error::System(error)) if error.kind() == std::io::ErrorKind::AddrInUse);
        assert!(taken, "{again:?}");
    }
    drop(listener);
    let gone = Channel::connect(&name, &options);
    let none = matches!(&gone, Err(Error::System(error)) if error.kind() == std::io::ErrorKind::NotFound);
    assert!(none, "{gone:?}");
    for none in ["", r"a\b", "a\0b", &"a".repeat(248)] {
        expect!(Listener::bind(none, &options), Err(Error::System(_)));
    }
    Listener::bind("/tmp/talk-of-a-test", &options).unwrap();
}

#[test]
fn who_has_left_before_it_is_accepted_is_passed_over() {
    let name = common::name();
    let listener = Listener::bind(&name, &Options::new()).unwrap();
    let path = format!(r"\\.\pipe\{name}");
    drop(std::fs::File::options().read(true).write(true).open(&path).unwrap());
    let connecting = thread::spawn(move || Channel::connect(&name, &Options::new()));
    let mut end = listener.accept().unwrap();
    let mut other = connecting.join().unwrap().unwrap();
    end.send(b"to the client").unwrap();
    assert_eq!(other.recv_vec().unwrap(), b"to the client");
}
