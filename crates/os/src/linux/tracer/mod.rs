//! `ptrace`: reports every system call that child processes enter, without privileges.
//!
//! The kernel stops the process at each entry and exit and notifies the tracer, which resumes it. That is slow, so it is for
//! counting and never for timing.

mod refusal;
mod request;
mod stop;
#[cfg(test)]
mod tests;

use crate::error::Context;
use crate::handle;
use crate::linux::other_process::{parent, threads};
use crate::linux::signal;
use refusal::explain;
use request::{alive, request};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use stop::{
    News, SYSTEM_CALL_STOP, begun_thread, entered_call, is_clone, is_group_stop, news, reap, signal_of,
};

/// Number of stops of each process that are handled before the function returns to its caller.
const ROUNDS: usize = 64;

/// A tracer of processes: of single-threaded children, or of all threads of any process of this user. The processes belong to the
/// thread that attached them and are killed if it ends; dropping the tracer detaches them.
#[derive(Debug)]
pub struct Tracer {
    /// A signalfd for SIGCHLD.
    children: OwnedFd,
    was_blocked: bool,
    attached: Vec<TracedThread>,
    /// The kernel refuses requests of other threads.
    not_send: PhantomData<*const ()>,
}

/// A thread that enters a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller {
    /// PID of the process.
    pub process: i32,
    /// Thread ID; that of the first thread is the PID.
    pub thread: i32,
}

/// A traced thread.
#[derive(Debug)]
struct TracedThread {
    pid: i32,
    process: i32,
    /// Whether the tracer must take its exit before the kernel notifies its parent, because it is not a child of this process.
    reaped_here: bool,
    /// While the tracer holds it: the signal that it receives when it is resumed, or 0.
    held: Option<i32>,
    /// Whether a signal has stopped it, and it was not continued.
    stopped: bool,
}

impl Tracer {
    /// Blocks SIGCHLD in this thread until the tracer is dropped, so that stops can be read from a descriptor. In a process with
    /// other threads these must block it too, or the descriptor misses some. SIGCHLD must not be ignored.
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

    /// Returns a descriptor that is readable when there is something to [`attend`](Tracer::attend) to, or when a child died.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.children.as_fd()
    }

    /// Traces the child `pid`: each system call that it enters after this returns is reported.
    ///
    /// A call in which it waits is interrupted and usually entered again by the kernel, so it is reported too: under its own
    /// number, or as `restart_syscall` for `poll`, `nanosleep`, and a futex with a timeout. The child does not notice that. But
    /// `epoll_wait`, `semop` and `sigwaitinfo` are not entered again, and fail with `EINTR`.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if tracing is forbidden, with the known reason; `NotFound` if the child is dead.
    pub fn attach(&mut self, pid: i32) -> io::Result<()> {
        self.seize(Caller { process: pid, thread: pid }, 0)
    }

    /// Traces all threads of a process, which need not be a child, and the threads that it starts while it is traced.
    ///
    /// # Errors
    /// Returns the errors of [`attach`](Tracer::attach).
    pub fn attach_all_threads(&mut self, process: i32) -> io::Result<()> {
        // The second round finds threads that were started before their creator was attached.
        for _ in 0..2 {
            for thread in threads(process)? {
                if self.attached.iter().any(|attached| attached.pid == thread) {
                    continue;
                }
                match self.seize(Caller { process, thread }, libc::PTRACE_O_TRACECLONE) {
                    // The thread has exited in between.
                    Err(error) if error.kind() == io::ErrorKind::NotFound && thread != process => {}
                    result => result?,
                }
            }
        }
        Ok(())
    }

    fn seize(&mut self, Caller { process, thread: pid }: Caller, options: i32) -> io::Result<()> {
        let options = (libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL | options) as usize;
        request(libc::PTRACE_SEIZE, pid, 0, options).map_err(|error| explain(error, pid))?;
        let reaped_here = pid != process || parent(pid)? != std::process::id() as i32;
        self.attached.push(TracedThread { pid, process, reaped_here, held: None, stopped: false });
        request(libc::PTRACE_INTERRUPT, pid, 0, 0).context(|| format!("interrupt process {pid}"))?;
        // Whatever it stopped for, it stops at system calls once it is resumed.
        match news(pid, true)? {
            News::Stop(status) => self.go_on(self.attached.len() - 1, status, &mut |_, _| ()),
            News::Nothing => Ok(()),
            News::Gone => {
                self.attached.pop().map_or(Ok(()), |attached| attached.reap())?;
                Err(io::Error::new(io::ErrorKind::NotFound, format!("process {pid} died")))
            }
        }
    }

    /// Passes each system call that was entered since the last call to `each`, with its thread, and resumes the processes. Never
    /// waits. If there may be more, the descriptor stays readable.
    ///
    /// A process that died is no longer attached; its exit is left for a wait. A thread that waits for exits in the meantime must
    /// not consume stops ([`Child`](crate::linux::process::Child) does not). The kernel returns stops to a tracing process even
    /// if they are not requested.
    pub fn attend(&mut self, mut each: impl FnMut(Caller, i64)) -> io::Result<()> {
        for _ in 0..ROUNDS {
            // A later stop makes the descriptor readable again. An earlier stop is found below, because a process stops only once
            // before it is resumed.
            while signal::read_signalfd(self.children.as_fd()).is_ok() {}
            let mut quiet = true;
            let mut index = 0;
            while let Some(attached) = self.attached.get(index) {
                match news(attached.pid, false)? {
                    News::Nothing => {}
                    News::Gone => {
                        self.attached.remove(index).reap()?;
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

    /// Returns whether a signal had stopped the process when it was last attended to. Its parent cannot see that while it is
    /// traced.
    pub fn is_stopped(&self, pid: i32) -> bool {
        self.attached.iter().any(|attached| attached.pid == pid && attached.stopped)
    }

    /// Resumes a process as if it had never been traced. Calls that it entered since it was last attended to may remain
    /// unreported, and waiting calls are interrupted as described for [`attach`](Tracer::attach).
    ///
    /// # Errors
    /// Returns `NotFound` if it is not attached. It is not an error if it died in the meantime.
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
                    News::Nothing => return Ok(()),
                    News::Gone => return attached.reap(),
                }
            }
        };
        alive(request(libc::PTRACE_DETACH, pid, 0, signal as usize))
            .context(|| format!("detach process {pid}"))
    }

    /// Reports the system call that a process stopped for, if it did, and resumes the process.
    fn go_on(&mut self, index: usize, status: i32, each: &mut impl FnMut(Caller, i64)) -> io::Result<()> {
        let attached = &mut self.attached[index];
        let (pid, process) = (attached.pid, attached.process);
        let signal = signal_of(status);
        attached.held = Some(signal);
        if status == SYSTEM_CALL_STOP
            && let Some(number) = entered_call(pid)?
        {
            each(Caller { process, thread: pid }, number);
        }
        let begun = if is_clone(status) { begun_thread(pid)? } else { None };
        attached.stopped = is_group_stop(status);
        if attached.stopped {
            // It stays stopped until SIGCONT, which the kernel reports to the tracer.
            alive(request(libc::PTRACE_LISTEN, pid, 0, 0))?;
        } else {
            alive(request(libc::PTRACE_SYSCALL, pid, 0, signal as usize))?;
        }
        attached.held = None;
        // The kernel has attached the new thread, which stops before it runs any code.
        let of = |pid| TracedThread { pid, process, reaped_here: true, held: None, stopped: false };
        self.attached.extend(begun.map(of));
        Ok(())
    }
}

impl TracedThread {
    /// Takes the exit of a thread that has ended, if no other process can.
    fn reap(&self) -> io::Result<()> {
        if self.reaped_here { reap(self.pid) } else { Ok(()) }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        while let Some(attached) = self.attached.last() {
            // A process that cannot be detached is killed when this thread ends.
            let _ = self.detach(attached.pid);
        }
        if !self.was_blocked {
            let _ = signal::unblock(&[libc::SIGCHLD]);
        }
    }
}
