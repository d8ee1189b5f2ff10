//! Both ends of a channel in one process, and child processes for one of the ends.

#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

use furlong_channel::{Channel, Error, Listener, Options, WaitStrategy};
#[cfg(target_os = "linux")]
pub use linux::{bare_connection, descriptor_limits, folder, fork, kill, limit_descriptors, map, status_of};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub const WAITINGS: [WaitStrategy; 3] = [WaitStrategy::Spin, WaitStrategy::Park, WaitStrategy::Adaptive];

/// Longer than any successful step of the tests.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The descriptors or handles of one end.
#[cfg(target_os = "linux")]
pub type End = furlong_channel::Descriptors;
#[cfg(windows)]
pub type End = furlong_channel::Handles;

/// Creates an end from its descriptors or handles.
pub fn open(end: End, options: &Options) -> Result<Channel, Error> {
    #[cfg(target_os = "linux")]
    return Channel::from_descriptors(end, options);
    #[cfg(windows)]
    Channel::from_handles(end, options)
}

/// Returns both ends in this process.
pub fn pair(options: &Options) -> [Channel; 2] {
    #[cfg(in_one_process)]
    return Channel::pair_in_one_process(options).unwrap();
    #[cfg(not(in_one_process))]
    Channel::pair(options).unwrap().map(|end| open(end, options).unwrap())
}

/// Returns the message with a number, which its first 8 bytes contain.
pub fn content(number: usize, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|at| (at * 31 + at / 256 + number * 7) as u8).collect();
    let head = len.min(8);
    bytes[..head].copy_from_slice(&number.to_le_bytes()[..head]);
    bytes
}

/// Returns a pseudo-random length, equal in both processes: mostly short, sometimes longer than a small ring.
pub fn length(number: usize) -> usize {
    let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (mixed % if number % 7 == 0 { 20_000 } else { 300 }) as usize
}

/// Returns a unique name.
pub fn name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("@furlong-channel-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Returns the CPU time of this thread.
#[cfg(target_os = "linux")]
pub fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the answer.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the CPU time of this thread, which Windows counts in steps of about 16 ms.
#[cfg(windows)]
pub fn processor_time() -> Duration {
    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadTimes};
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: there is room for four answers.
    assert_ne!(unsafe { GetThreadTimes(GetCurrentThread(), created, ended, kernel, user) }, 0);
    let ticks = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_nanos(100 * (ticks(times[2]) + ticks(times[3])))
}

/// The variable with the task of a child process, and the name at which this process listens.
const TASK: &str = "CHANNEL_TEST_TASK";

/// Returns the task of this process and the name, if it is a child.
pub fn task() -> Option<(String, String)> {
    let text = std::env::var(TASK).ok()?;
    let (task, name) = text.split_once(' ')?;
    Some((task.to_owned(), name.to_owned()))
}

/// A process that is killed when the value is dropped.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this test program again, to perform `task` in its test `child`, and connects with it.
pub fn start(task: &str, options: &Options) -> (Process, Channel) {
    start_with(task, options, &[])
}

/// Like [`start`], with environment variables.
pub fn start_with(task: &str, options: &Options, variables: &[(&str, String)]) -> (Process, Channel) {
    let name = name();
    let listener = Listener::bind(&name, options).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--test-threads", "1"])
        .env(TASK, format!("{task} {name}"))
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let child = Process(child.unwrap());
    (child, listener.accept().unwrap())
}

/// Fails if `result` does not match the pattern.
#[macro_export]
macro_rules! expect {
    ($result:expr, $pattern:pat) => {
        let result = $result;
        assert!(matches!(result, $pattern), "{result:?}");
    };
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{End, name};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::AtomicU64;

    /// Maps the shared memory like a peer.
    pub fn map(end: &End, len: usize) -> *const AtomicU64 {
        // SAFETY: the kernel chooses the address.
        let start = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, end.memory.as_raw_fd(), 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        start.cast()
    }

    /// Creates a new directory.
    pub fn folder() -> PathBuf {
        let folder = std::env::temp_dir().join(&name()[1..]);
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    /// Connects to a listener at a path without the library.
    pub fn bare_connection(path: &Path) -> OwnedFd {
        use std::os::unix::ffi::OsStrExt;
        // SAFETY: the socket address lives for the whole block, and the descriptor is new.
        unsafe {
            let socket = OwnedFd::from_raw_fd(libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0));
            let mut address: libc::sockaddr_un = std::mem::zeroed();
            address.sun_family = libc::AF_UNIX as libc::sa_family_t;
            for (to, from) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
                *to = *from as libc::c_char;
            }
            let len = size_of_val(&address) as libc::socklen_t;
            assert_eq!(libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len), 0);
            socket
        }
    }

    /// Runs `action` in a fork of this process, which then exits, and returns its PID. The status is 0 if `action` returns true.
    pub fn fork(action: impl FnOnce() -> bool) -> libc::pid_t {
        // SAFETY: the child does not return to the test.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action)).unwrap_or(false);
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(!passed)) };
        }
        child
    }

    /// Returns the limits of this process for its number of descriptors.
    pub fn descriptor_limits() -> libc::rlimit {
        let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: there is room for the limits.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limits) }, 0);
        limits
    }

    /// Limits the number of descriptors of this process.
    pub fn limit_descriptors(limits: libc::rlimit) {
        // SAFETY: the limits live for the whole call.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limits) }, 0);
    }

    /// Waits for a fork to exit, and returns its wait status.
    pub fn status_of(child: libc::pid_t) -> i32 {
        let mut status = 0;
        // SAFETY: there is room for the status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        status
    }

    /// Kills a process.
    pub fn kill(process: libc::pid_t) {
        // SAFETY: no memory is involved.
        assert_eq!(unsafe { libc::kill(process, libc::SIGKILL) }, 0);
    }
}
