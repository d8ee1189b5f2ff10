//! `ptrace`: learning of every system call that child processes enter, as an ordinary user.
//!
//! The kernel stops the process at each entry and exit and tells the tracer, which lets it go on. That is slow, so it
//! is for counting and never for timing.

mod refusal;
mod request;
mod stop;
#[cfg(test)]
mod tests;

use crate::error::Context;
use crate::handle;
use crate::linux::signal;
use refusal::explain;
use request::{alive, request};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use stop::{News, SYSTEM_CALL_STOP, entered_call, is_group_stop, news, signal_of};

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
