//! `ptrace`: learning of every system call that child processes enter, as an ordinary user.
//!
//! The kernel stops the process at each entry and exit and tells the tracer, which lets it go on. That is slow, so it
//! is for counting and never for timing.

use crate::error::{Context, check, retry};
use crate::handle;
use crate::linux::signal;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The event of a stop that no signal and no system call is the cause of.
const EVENT_STOP: i32 = 128;
/// The signal of a stop at a system call.
const SYSTEM_CALL_STOP: i32 = libc::SIGTRAP | 0x80;
/// The kind of stop, as `PTRACE_GET_SYSCALL_INFO` names it.
const AT_ENTRY: u8 = 1;
/// How many stops of each process are attended to before the caller gets its turn again.
const ROUNDS: usize = 64;

/// A tracer of single-threaded child processes. Attached processes belong to the thread that attached them and are
/// killed if it ends; dropping the tracer detaches them.
#[derive(Debug)]
pub struct Tracer {
    /// Reads as SIGCHLD.
    children: OwnedFd,
    was_blocked: bool,
    attached: Vec<Attached>,
    /// The kernel refuses other threads.
    not_send: PhantomData<*const ()>,
}

/// A process that is traced.
#[derive(Debug)]
struct Attached {
    pid: i32,
    /// While it stands still because of us: the signal that it gets when it goes on, or 0.
    held: Option<i32>,
    /// A signal has stopped it, and nothing has let it go on.
    stopped: bool,
}

/// What has become of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// It runs, or waits for something.
    Nothing,
    /// It stands still; this is why.
    Stop(i32),
    /// It is dead, and its parent may have waited for it.
    Gone,
}

/// The part of `struct ptrace_syscall_info` that a stop at entry fills.
#[repr(C)]
#[derive(Debug, Default)]
struct CallInfo {
    kind: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    number: u64,
    arguments: [u64; 6],
}

impl Tracer {
    /// Blocks SIGCHLD in this thread until the tracer is dropped, so that stops can be read from a descriptor. In a
    /// process with other threads these must block it too, or the descriptor misses some. SIGCHLD must not be ignored.
    pub fn new() -> io::Result<Tracer> {
        let was_blocked = signal::is_blocked(libc::SIGCHLD)?;
        let tracer = Tracer {
            children: signal::signalfd(&[libc::SIGCHLD])?,
            was_blocked,
            attached: Vec::new(),
            not_send: PhantomData,
        };
        handle::set_non_blocking(tracer.children.as_fd(), true)?;
        Ok(tracer)
    }

    /// Readable when there is something to [`attend`](Tracer::attend) to, or when a child died.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.children.as_fd()
    }

    /// Traces the child `pid`: each system call that it enters after this returns is reported.
    ///
    /// One that it waits in is broken off and, as a rule, entered again by the kernel, so it is reported too: under its
    /// own number, or as `restart_syscall` for `poll`, `nanosleep`, and a futex with a time-out. The child sees nothing
    /// of that. But `epoll_wait`, `semop` and `sigwaitinfo` are not entered again, and fail with `EINTR`.
    ///
    /// # Errors
    /// `PermissionDenied` where tracing is forbidden, with what is known of the reason; `NotFound` if it is dead.
    pub fn attach(&mut self, pid: i32) -> io::Result<()> {
        let options = (libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL) as usize;
        request(libc::PTRACE_SEIZE, pid, 0, options).map_err(|error| explain(error, pid))?;
        self.attached.push(Attached { pid, held: None, stopped: false });
        request(libc::PTRACE_INTERRUPT, pid, 0, 0).context(|| format!("interrupt process {pid}"))?;
        // From the first time that it goes on, whatever it stopped for, it is stopped at system calls.
        match news(pid, true)? {
            News::Stop(status) => self.go_on(self.attached.len() - 1, status, &mut |_, _| ()),
            News::Nothing => Ok(()),
            News::Gone => {
                self.attached.pop();
                Err(io::Error::new(io::ErrorKind::NotFound, format!("process {pid} died")))
            }
        }
    }

    /// Gives each system call that was entered since the last time to `each`, as process and number, and lets the
    /// processes go on. Never waits. If more may be coming the descriptor stays readable.
    ///
    /// A process that died is no longer attached; its exit is left to be waited for. Who waits for exits in the
    /// meantime must leave stops alone, as [`Child`](crate::linux::process::Child) does: the kernel gives a tracer's process
    /// the stops too, whether asked for or not.
    pub fn attend(&mut self, mut each: impl FnMut(i32, i64)) -> io::Result<()> {
        for _ in 0..ROUNDS {
            // What stops after this makes the descriptor readable again. What stopped before is found below: a process
            // stops only once before it is let go on.
            while signal::read_signalfd(self.children.as_fd()).is_ok() {}
            let mut quiet = true;
            let mut index = 0;
            while let Some(attached) = self.attached.get(index) {
                match news(attached.pid, false)? {
                    News::Nothing => {}
                    News::Gone => {
                        self.attached.remove(index);
                        continue;
                    }
                    News::Stop(status) => {
                        quiet = false;
                        self.go_on(index, status, &mut each)?;
                    }
                }
                index += 1;
            }
            if quiet {
                break;
            }
        }
        Ok(())
    }

    /// Whether a signal had stopped the process when it was last attended to. Its parent cannot see that while it is
    /// traced.
    pub fn is_stopped(&self, pid: i32) -> bool {
        self.attached.iter().any(|attached| attached.pid == pid && attached.stopped)
    }

    /// Lets a process run on as if it had never been traced. Calls that it entered since it was last attended to may go
    /// unreported, and what is said of waiting calls at [`attach`](Tracer::attach) holds here too.
    ///
    /// # Errors
    /// `NotFound` if it is not attached. One that died in the meantime is no error.
    pub fn detach(&mut self, pid: i32) -> io::Result<()> {
        let index = self.attached.iter().position(|attached| attached.pid == pid).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("process {pid} is not attached"))
        })?;
        let attached = self.attached.remove(index);
        let signal = match attached.held {
            Some(signal) => signal,
            None => {
                alive(request(libc::PTRACE_INTERRUPT, pid, 0, 0))?;
                match news(pid, true)? {
                    News::Stop(status) => signal_of(status),
                    News::Nothing | News::Gone => return Ok(()),
                }
            }
        };
        alive(request(libc::PTRACE_DETACH, pid, 0, signal as usize))
            .context(|| format!("detach process {pid}"))
    }

    /// Reports the system call that a process stopped for, if it did, and lets it go on.
    fn go_on(&mut self, index: usize, status: i32, each: &mut impl FnMut(i32, i64)) -> io::Result<()> {
        let attached = &mut self.attached[index];
        let pid = attached.pid;
        let signal = signal_of(status);
        attached.held = Some(signal);
        if status == SYSTEM_CALL_STOP
            && let Some(number) = entered_call(pid)?
        {
            each(pid, number);
        }
        attached.stopped = is_group_stop(status);
        if attached.stopped {
            // It stays stopped until SIGCONT, of which we hear.
            alive(request(libc::PTRACE_LISTEN, pid, 0, 0))?;
        } else {
            alive(request(libc::PTRACE_SYSCALL, pid, 0, signal as usize))?;
        }
        attached.held = None;
        Ok(())
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        while let Some(attached) = self.attached.last() {
            // One that cannot be detached is killed when this thread ends.
            let _ = self.detach(attached.pid);
        }
        if !self.was_blocked {
            let _ = signal::unblock(&[libc::SIGCHLD]);
        }
    }
}

/// The signal that is about to be delivered to a process that stopped with this status; 0 if it stopped for something
/// else.
fn signal_of(status: i32) -> i32 {
    if status == SYSTEM_CALL_STOP || status >> 8 != 0 { 0 } else { status }
}

/// Whether this is the stop that SIGSTOP and its like bring about.
fn is_group_stop(status: i32) -> bool {
    let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    status >> 8 == EVENT_STOP && stops.contains(&(status & 0xff))
}

/// What is new of a process. Takes stops alone: an exit is left to whoever waits for the child.
fn news(pid: i32, wait: bool) -> io::Result<News> {
    let patience = if wait { 0 } else { libc::WNOHANG };
    let options = libc::WSTOPPED | libc::__WALL | patience;
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel fills one siginfo, for which zeroes are a valid value and mean "nothing".
    let result =
        retry(|| unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options) });
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(News::Gone),
        result => result.context(|| format!("wait for process {pid}"))?,
    };
    // SAFETY: zeroes or what the kernel filled in; waitid fills these fields.
    let (reported, status) = unsafe {
        let info = info.assume_init();
        (info.si_pid(), info.si_status())
    };
    Ok(if reported == pid { News::Stop(status) } else { News::Nothing })
}

/// The system call that a stopped process is about to enter; `None` if it leaves one, or was killed meanwhile.
fn entered_call(pid: i32) -> io::Result<Option<i64>> {
    let mut info = CallInfo::default();
    // SAFETY: the kernel writes no more bytes than it is told to, and all bytes are valid for these integers.
    let result = check(unsafe {
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size_of::<CallInfo>(), &raw mut info)
    });
    match result {
        Ok(_) => Ok((info.kind == AT_ENTRY).then_some(info.number as i64)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error)
            .context(|| format!("system call of process {pid} (PTRACE_GET_SYSCALL_INFO, Linux 5.3)")),
    }
}

/// A request that takes integers.
fn request(what: libc::c_uint, pid: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of the requests made with this reads or writes our memory.
    check(unsafe { libc::ptrace(what, pid, address, data) }).map(drop)
}

/// That a process is dead is no failure of a request to let it live.
fn alive(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        result => result,
    }
}

/// Says what is known of why a process cannot be traced.
fn explain(error: io::Error, pid: i32) -> io::Error {
    let field = |process: &str, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_default().trim().to_owned()
    };
    let (state, tracer) = (field(&pid.to_string(), "State:"), field(&pid.to_string(), "TracerPid:"));
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let mut kind = error.kind();
    let reason = if state.is_empty() || state.starts_with(['Z', 'X']) {
        kind = io::ErrorKind::NotFound;
        "it is dead".to_owned()
    } else if !tracer.is_empty() && tracer != "0" {
        format!("process {tracer} traces it already")
    } else if matches!(scope.trim(), "2" | "3") {
        format!("kernel.yama.ptrace_scope is {}, which forbids it", scope.trim())
    } else if field("self", "Seccomp:") == "2" {
        "the system call filter (seccomp) that this process runs under may forbid it".to_owned()
    } else {
        "the process is not ours, or a security module forbids it".to_owned()
    };
    io::Error::new(kind, format!("trace process {pid} (ptrace): {error}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::linux::process::{Bond, Child, Exit, fork, send_signal};
    use crate::linux::test_child::{TestChild, get_parent, write_and_read};
    use crate::linux::{eventfd, pipe};
    use crate::wait::wait_any;
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// The calls of a child from the moment that it waits for the start: that wait, these, the word that it is done,
    /// and the wait to be let go.
    fn played(calls: &[i64]) -> Vec<i64> {
        [&[libc::SYS_read], calls, &[libc::SYS_write, libc::SYS_read]].concat()
    }

    /// Attends until `over` says so, or for ten seconds.
    fn attend_until(tracer: &mut Tracer, mut each: impl FnMut(i32, i64), mut over: impl FnMut() -> bool) {
        let deadline_ns = clock::now_ns() + 10_000_000_000;
        while !over() {
            assert!(clock::now_ns() < deadline_ns, "this takes too long");
            tracer.attend(&mut each).unwrap();
            std::thread::yield_now();
        }
    }

    fn ended(tracer: &mut Tracer, child: &mut Child) -> Option<Exit> {
        attend_until(tracer, |_, _| (), || child.try_wait().is_some());
        child.try_wait()
    }

    /// A field of what the kernel says of a process.
    fn status(pid: i32, field: &str) -> String {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        text.lines().find_map(|line| line.strip_prefix(field)).unwrap().trim().to_owned()
    }

    #[test]
    fn every_call_is_reported_in_order() {
        let (reader, writer) = pipe::pipe().unwrap();
        let process = TestChild::new(&[reader.as_raw_fd(), writer.as_raw_fd()], || {
            get_parent(100);
            write_and_read(50, writer.as_fd(), reader.as_fd());
        });
        let mut tracer = Tracer::new().unwrap();
        tracer.attach(process.child.pid()).unwrap();
        let mut calls = Vec::new();
        process.play(|| tracer.attend(|_, number| calls.push(number)).unwrap());
        let mut expected = vec![libc::SYS_getppid; 100];
        expected.extend([libc::SYS_write, libc::SYS_read].repeat(50));
        let expected = played(&expected);
        // It was done before it waited to be let go.
        for _ in 0..10_000 {
            if calls.len() >= expected.len() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
            tracer.attend(|_, number| calls.push(number)).unwrap();
        }
        assert_eq!(calls, expected);
        tracer.detach(process.child.pid()).unwrap();
        assert_eq!(status(process.child.pid(), "TracerPid:"), "0");
        process.end();
    }

    #[test]
    fn two_children_are_told_apart_and_the_descriptor_suffices() {
        // In a process of its own, which has one thread as the supervisor has: no other takes the signal.
        let supervisor = || {
            let (one, other) =
                (TestChild::new(&[], || get_parent(300)), TestChild::new(&[], || get_parent(70)));
            let mut tracer = Tracer::new().unwrap();
            let mut calls = [(one.child.pid(), 0), (other.child.pid(), 0)];
            for (pid, _) in calls {
                tracer.attach(pid).unwrap();
            }
            let done = [one.done.as_fd(), other.done.as_fd()];
            let mut left = vec![done[0], done[1]];
            for process in [&one, &other] {
                eventfd::add(process.start.as_fd(), 1).unwrap();
            }
            while !left.is_empty() {
                let mut watched = left.clone();
                watched.push(tracer.descriptor());
                let readable = wait_any(&watched, 10_000).unwrap();
                assert!(readable.contains(&true), "nothing for ten seconds");
                if readable[left.len()] {
                    tracer
                        .attend(|pid, number| {
                            let place = calls.iter_mut().find(|call| call.0 == pid).unwrap();
                            place.1 += usize::from(number == libc::SYS_getppid);
                        })
                        .unwrap();
                }
                let mut index = 0;
                left.retain(|_| {
                    index += 1;
                    !readable[index - 1]
                });
            }
            assert_eq!(calls.map(|call| call.1), [300, 70]);
            drop(tracer);
            one.end();
            other.end();
            0
        };
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, supervisor).unwrap();
        assert_eq!(child.wait_at_most(60_000), Some(Exit::Code(0)));
    }

    #[test]
    fn a_waiting_read_survives_attaching_and_detaching() {
        let (reader, writer) = pipe::pipe().unwrap();
        let (second_reader, second_writer) = pipe::pipe().unwrap();
        let inherit = [&reader, &second_reader].map(AsRawFd::as_raw_fd);
        let mut child = fork(&inherit, io::stderr().as_fd(), Bond::DiesWithParent, || {
            let mut byte = 0u8;
            let mut watched =
                libc::pollfd { fd: second_reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: the kernel writes at most one byte, and one pollfd. None is tried again by us.
            let results = unsafe {
                [
                    libc::read(reader.as_raw_fd(), (&raw mut byte).cast(), 1) as i32,
                    libc::poll(&raw mut watched, 1, 60_000),
                ]
            };
            i32::from(results != [1, 1])
        })
        .unwrap();
        let mut tracer = Tracer::new().unwrap();
        for gate in [&writer, &second_writer] {
            for _ in 0..50 {
                tracer.attach(child.pid()).unwrap();
                tracer.attend(|_, _| ()).unwrap();
                tracer.detach(child.pid()).unwrap();
            }
            tracer.attach(child.pid()).unwrap();
            handle::write(gate.as_fd(), &[1]).unwrap();
            let mut now = 0;
            attend_until(
                &mut tracer,
                |_, _| (),
                || {
                    now += 1;
                    now > 1_000
                },
            );
            if status(child.pid(), "State:").starts_with('Z') {
                break;
            }
            tracer.detach(child.pid()).unwrap();
        }
        assert_eq!(child.wait_at_most(10_000), Some(Exit::Code(0)));
    }

    #[test]
    fn deaths_are_left_to_be_waited_for() {
        let mut tracer = Tracer::new().unwrap();
        let mut process = TestChild::new(&[], || ());
        tracer.attach(process.child.pid()).unwrap();
        process.play(|| tracer.attend(|_, _| ()).unwrap());
        eventfd::add(process.start.as_fd(), 1).unwrap();
        assert_eq!(ended(&mut tracer, &mut process.child), Some(Exit::Code(0)));
        tracer.attend(|_, _| ()).unwrap();
        assert!(tracer.attached.is_empty());
        let error = tracer.detach(process.child.pid()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);

        // Killed, and seen by the tracer before anybody waits for it.
        let mut process = TestChild::new(&[], || ());
        tracer.attach(process.child.pid()).unwrap();
        process.child.kill();
        if let Some(death) = process.child.death() {
            assert_eq!(wait_any(&[death], 10_000).unwrap(), [true]);
            tracer.attend(|_, _| ()).unwrap();
            assert!(tracer.attached.is_empty());
        }
        assert_eq!(process.child.wait(), Some(Exit::Signal(libc::SIGKILL)));

        // Killed, and detached before that was seen.
        let mut process = TestChild::new(&[], || ());
        tracer.attach(process.child.pid()).unwrap();
        process.child.kill();
        tracer.detach(process.child.pid()).unwrap();
        assert_eq!(process.child.wait(), Some(Exit::Signal(libc::SIGKILL)));
        let error = tracer.attach(process.child.pid()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
    }

    #[test]
    fn signals_are_passed_on() {
        static SEEN: AtomicI32 = AtomicI32::new(0);
        extern "C" fn see(signal: libc::c_int) {
            SEEN.store(signal, Ordering::SeqCst);
        }
        let process = TestChild::new(&[], || {
            // SAFETY: the handler only stores an integer.
            unsafe { libc::signal(libc::SIGUSR1, see as *const () as libc::sighandler_t) };
            while SEEN.load(Ordering::SeqCst) != libc::SIGUSR1 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let mut tracer = Tracer::new().unwrap();
        tracer.attach(process.child.pid()).unwrap();
        // It may come before the handler is there, and would kill the child then.
        let mut sent = false;
        let mut handling = false;
        process.play(|| {
            tracer.attend(|_, number| handling |= number == libc::SYS_rt_sigaction).unwrap();
            if handling && !sent && status(process.child.pid(), "State:").starts_with('S') {
                send_signal(process.child.pid(), libc::SIGUSR1).unwrap();
                sent = true;
            }
        });
        assert!(sent);
        // One that kills does so.
        send_signal(process.child.pid(), libc::SIGTERM).unwrap();
        let mut child = process.child;
        assert_eq!(ended(&mut tracer, &mut child), Some(Exit::Signal(libc::SIGTERM)));
    }

    #[test]
    fn a_stopped_process_stays_stopped_until_it_is_continued() {
        let process = TestChild::new(&[], || get_parent(10));
        let pid = process.child.pid();
        let mut tracer = Tracer::new().unwrap();
        tracer.attach(pid).unwrap();
        send_signal(pid, libc::SIGSTOP).unwrap();
        let mut calls = Vec::new();
        let mut rounds = 0;
        attend_until(
            &mut tracer,
            |_, number| calls.push(number),
            || {
                rounds += i32::from(status(pid, "State:").starts_with(['t', 'T']));
                rounds > 100
            },
        );
        eventfd::add(process.start.as_fd(), 1).unwrap();
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            tracer.attend(|_, number| calls.push(number)).unwrap();
        }
        assert!(!calls.contains(&libc::SYS_getppid), "it runs though stopped: {calls:?}");
        send_signal(pid, libc::SIGCONT).unwrap();
        let done = [process.done.as_fd()];
        attend_until(&mut tracer, |_, number| calls.push(number), || wait_any(&done, 0).unwrap() == [true]);
        assert_eq!(calls.iter().filter(|number| **number == libc::SYS_getppid).count(), 10);
        drop(tracer);
        process.end();
    }

    #[test]
    fn a_process_that_was_stopped_while_traced_can_be_detached() {
        let mut process = TestChild::new(&[], || ());
        let pid = process.child.pid();
        let mut tracer = Tracer::new().unwrap();
        tracer.attach(pid).unwrap();
        send_signal(pid, libc::SIGSTOP).unwrap();
        let mut rounds = 0;
        attend_until(
            &mut tracer,
            |_, _| (),
            || {
                rounds += i32::from(status(pid, "State:").starts_with(['t', 'T']));
                rounds > 100
            },
        );
        tracer.detach(pid).unwrap();
        assert_eq!(status(pid, "TracerPid:"), "0");
        // It stops anew, as it would have without a tracer.
        attend_until(&mut tracer, |_, _| (), || process.child.is_stopped());
        assert_eq!(process.child.try_wait(), None);
        send_signal(pid, libc::SIGCONT).unwrap();
        process.play(|| ());
        process.end();
    }

    #[test]
    fn the_mask_is_put_back() {
        // In a thread of its own: the mask is the thread's.
        let thread = std::thread::spawn(|| {
            assert!(!signal::is_blocked(libc::SIGCHLD).unwrap());
            let tracer = Tracer::new().unwrap();
            assert!(signal::is_blocked(libc::SIGCHLD).unwrap());
            drop(tracer);
            assert!(!signal::is_blocked(libc::SIGCHLD).unwrap());
            signal::block(&[libc::SIGCHLD]).unwrap();
            drop(Tracer::new().unwrap());
            assert!(signal::is_blocked(libc::SIGCHLD).unwrap());
        });
        thread.join().unwrap();
    }

    #[test]
    fn a_refusal_says_why() {
        let process = TestChild::new(&[], || ());
        let (mut tracer, mut other) = (Tracer::new().unwrap(), Tracer::new().unwrap());
        tracer.attach(process.child.pid()).unwrap();
        let error = other.attach(process.child.pid()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("traces it already"), "{error}");
        drop(tracer);
        process.play(|| ());
        process.end();

        // A filter holds for the rest of a process's life, so this one is short.
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
            let mut grandchild = TestChild::new(&[], || ());
            forbid_ptrace().unwrap();
            let error = Tracer::new().unwrap().attach(grandchild.child.pid()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("seccomp"), "{error}");
            assert_eq!(grandchild.child.try_wait(), None);
            0
        })
        .unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(0)));
    }

    /// Lets ptrace fail from now on.
    fn forbid_ptrace() -> io::Result<()> {
        let step = |code: u32, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
        let mut steps = [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_ptrace as u32, 0, 1),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
        ];
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: plain integers, and a program whose length it says, which the kernel copies.
        unsafe {
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            check(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)).map(drop)
        }
    }
}
