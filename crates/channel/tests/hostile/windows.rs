//! Attacks of a peer on Windows.

use super::*;
use common::name;
use std::fs::File;
use std::io::{Read, Write};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem::PIPE_ACCESS_DUPLEX;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    PAGE_READONLY, PAGE_READWRITE, SEC_RESERVE, UnmapViewOfFile,
};
use windows_sys::Win32::System::Pipes::{ConnectNamedPipe, CreateNamedPipeW, PIPE_TYPE_BYTE};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, SetEvent};

/// Maps the shared memory like a peer.
pub fn map(end: &End, len: usize) -> *const AtomicU64 {
    let access = FILE_MAP_READ | FILE_MAP_WRITE;
    // SAFETY: Windows chooses the address.
    let view = unsafe { MapViewOfFile(end.memory.as_raw_handle(), access, 0, 0, len) };
    assert!(!view.Value.is_null(), "{}", io::Error::last_os_error());
    view.Value.cast()
}

/// Removes a mapping.
pub fn unmap(words: *const AtomicU64, _len: usize) {
    let view = MEMORY_MAPPED_VIEW_ADDRESS { Value: words.cast_mut().cast() };
    // SAFETY: mapped by `map`, and no longer used.
    assert_ne!(unsafe { UnmapViewOfFile(view) }, 0);
}

/// Wakes the receiver of the other end.
pub fn wake(theirs: &End, _word: &AtomicU64) {
    // SAFETY: no memory is involved.
    assert_ne!(unsafe { SetEvent(theirs.sending.receiver.as_raw_handle()) }, 0);
}

/// Returns the committed bytes of this process.
pub fn resident_bytes() -> usize {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let bytes = size_of_val(&counters) as u32;
    // SAFETY: there is room for the answer.
    assert_ne!(unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut counters, bytes) }, 0);
    counters.PagefileUsage
}

/// Creates a section that a hostile peer may pass.
fn section(file: Option<&File>, protection: u32, len: usize) -> OwnedHandle {
    let file = file.map_or(INVALID_HANDLE_VALUE, AsRawHandle::as_raw_handle);
    // SAFETY: no name is passed, and the handle is new.
    unsafe {
        let made = CreateFileMappingW(file, null(), protection, 0, len as u32, null());
        assert!(!made.is_null(), "{}", io::Error::last_os_error());
        OwnedHandle::from_raw_handle(made)
    }
}

#[test]
fn memory_that_may_be_missing_is_refused() {
    let options = options(WaitStrategy::Park);
    let made_of = |memory: OwnedHandle| {
        let [ours, _theirs] = Channel::pair(&options).unwrap();
        open(End { memory, ..ours }, &options)
    };
    assert!(made_of(section(None, PAGE_READWRITE, SHARED_BYTES)).is_ok());
    let path = std::env::temp_dir().join(format!("furlong-channel-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.set_len(SHARED_BYTES as u64).unwrap();
    let [ours, _theirs] = Channel::pair(&options).unwrap();
    for refused in [
        section(None, PAGE_READWRITE, SHARED_BYTES - 4096),
        section(None, PAGE_READWRITE, SHARED_BYTES + 4096),
        section(None, PAGE_READWRITE | SEC_RESERVE, SHARED_BYTES),
        section(Some(&file), PAGE_READWRITE, SHARED_BYTES),
        ours.sending.sender,
        ours.connection,
    ] {
        expect!(made_of(refused), Err(Error::Corrupt(_)));
    }
    expect!(made_of(section(None, PAGE_READONLY, SHARED_BYTES)), Err(Error::System(_)));
    drop(file);
    std::fs::remove_file(path).unwrap();
}

/// Returns a greeting like that of the library: the sizes, and the values of handles of this process.
fn greeting(capacity: u64, start: u64, handles: [&OwnedHandle; 5]) -> Vec<u8> {
    let mut greeting = b"furlong\x01".to_vec();
    let numbers = handles.map(|handle| handle.as_raw_handle() as u64);
    [capacity, 1000, start].iter().chain(&numbers).for_each(|number| greeting.extend(number.to_le_bytes()));
    greeting
}

/// Listens, and sends a client these bytes. Reads an answer, if the bytes are not empty.
fn greeted(bytes: &[u8]) -> Result<Channel, Error> {
    let name = name();
    let path: Vec<u16> = format!(r"\\.\pipe\{name}").encode_utf16().chain([0]).collect();
    // SAFETY: the path is NUL-terminated, and the handle is new.
    let mut listener = unsafe {
        let pipe =
            CreateNamedPipeW(path.as_ptr(), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, null());
        assert_ne!(pipe, INVALID_HANDLE_VALUE, "{}", io::Error::last_os_error());
        File::from_raw_handle(pipe)
    };
    let connecting =
        thread::spawn(move || Channel::connect(&name, &Options::new().waiting(WaitStrategy::Park)));
    // SAFETY: no memory is involved. If the client has connected already, the call fails, which has no effect here.
    unsafe { ConnectNamedPipe(listener.as_raw_handle(), std::ptr::null_mut()) };
    listener.write_all(bytes).unwrap();
    if !bytes.is_empty() {
        // Until the client answers or disconnects.
        let _ = listener.read(&mut [0]);
    }
    drop(listener);
    connecting.join().unwrap()
}

#[test]
fn a_greeting_that_is_none_is_refused() {
    let memory = section(None, PAGE_READWRITE, SHARED_BYTES);
    let [ours, _theirs] = Channel::pair(&options(WaitStrategy::Park)).unwrap();
    let events =
        [&ours.sending.sender, &ours.sending.receiver, &ours.receiving.sender, &ours.receiving.receiver];
    let [a, b, c, d] = events;
    let capacity = CAPACITY as u64;
    let right = greeting(capacity, 0, [&memory, a, b, c, d]);
    let mut end = greeted(&right).unwrap();
    expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::PeerDied));
    expect!(greeted(&[]), Err(Error::Closed));
    let with = |at: usize, bytes: &[u8]| {
        let mut other = right.clone();
        other[at..at + bytes.len()].copy_from_slice(bytes);
        other
    };
    let reserved = section(None, PAGE_READWRITE | SEC_RESERVE, SHARED_BYTES);
    for bytes in [
        right[..71].to_vec(),
        right[..32].to_vec(),
        with(7, &[2]),
        // Values that are not those of handles, and the value that means the process itself.
        with(32, &[0; 8]),
        with(32, &[0xff; 8]),
        with(40, &0x7fff_fff0u64.to_le_bytes()),
        greeting(capacity, 0, [a, &memory, b, c, d]),
        greeting(capacity, 0, [&reserved, a, b, c, d]),
        greeting(2 * capacity, 0, [&memory, a, b, c, d]),
        greeting(capacity - 8, 0, [&memory, a, b, c, d]),
        greeting(0, 0, [&memory, a, b, c, d]),
        greeting(1 << 63, 0, [&memory, a, b, c, d]),
        greeting(capacity, 1, [&memory, a, b, c, d]),
    ] {
        expect!(greeted(&bytes), Err(Error::Corrupt(_)));
    }
}

/// If a peer passes other objects as events, calls still end in time, and messages arrive.
#[test]
fn events_that_are_none_do_not_keep_anybody() {
    const TIME: Duration = Duration::from_millis(100);
    let options = options(WaitStrategy::Park);
    let [ours, theirs] = Channel::pair(&options).unwrap();
    let none = || section(None, PAGE_READWRITE, SHARED_BYTES);
    let receiving = furlong_channel::Events { sender: none(), receiver: none() };
    let (mut end, mut other) =
        (open(End { receiving, ..ours }, &options).unwrap(), open(theirs, &options).unwrap());
    let (began, before) = (Instant::now(), processor_time());
    expect!(end.recv_timeout(&mut [0; 8], TIME), Err(Error::TimedOut));
    assert!(began.elapsed() >= TIME && processor_time() - before < TIME / 2);
    let sending = thread::spawn(move || {
        thread::sleep(TIME);
        other.send(b"all the same").map(|()| other)
    });
    let mut buffer = [0; 100];
    assert_eq!(end.recv_timeout(&mut buffer, PATIENCE).unwrap(), 12);
    sending.join().unwrap().unwrap();
}

/// A client sends a wrong confirmation, and another one sends nothing.
#[test]
fn an_answer_that_is_none_is_passed_over() {
    for answer in [&[7][..], &[]] {
        passed_over(answer);
    }
}

fn passed_over(answer: &[u8]) {
    let name = name();
    let listener = furlong_channel::Listener::bind(&name, &options(WaitStrategy::Park)).unwrap();
    let path = format!(r"\\.\pipe\{name}");
    let mut bare = File::options().read(true).write(true).open(path).unwrap();
    bare.write_all(answer).unwrap();
    let connecting = thread::spawn(move || Channel::connect(&name, &Options::new()).map(|_| ()));
    let end = listener.accept().unwrap();
    connecting.join().unwrap().unwrap();
    drop((end, bare));
}
