//! System calls of inter-process communication: the object that each uses, and the bytes that it transfers.

use CallDirection::{Receive, Send};

/// Object that a call uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallTarget {
    /// File descriptor.
    Descriptor(i32),
    /// POSIX message queue, by its descriptor.
    PosixQueue(i32),
    /// System V message queue, by its ID.
    SysvQueue(i32),
    /// Set of System V semaphores, by its ID.
    SysvSemaphores(i32),
    /// Futex word at this address.
    Word {
        /// Address in the calling process.
        address: u64,
        /// Whether only threads of the process use it.
        is_private: bool,
    },
    /// Memory of a process.
    Memory(i32),
    /// Signals of a process or thread.
    Signals(i32),
    /// Signals of the caller.
    OwnSignals,
    /// Lock of the open file behind a descriptor (`flock`).
    Flock(i32),
    /// Locks of the file behind a descriptor (`fcntl`).
    FcntlLock(i32),
}

impl CallTarget {
    /// Returns the descriptor by which the caller names the object.
    pub fn descriptor(self) -> Option<i32> {
        match self {
            CallTarget::Descriptor(number)
            | CallTarget::PosixQueue(number)
            | CallTarget::Flock(number)
            | CallTarget::FcntlLock(number) => Some(number),
            _ => None,
        }
    }
}

/// Direction of a transfer, as seen by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallDirection {
    /// The caller gives bytes, a wake-up, a signal or an increment.
    Send,
    /// The caller gets bytes, or waits for a wake-up.
    Receive,
    /// Unknown, because it depends on memory of the caller.
    Unseen,
}

/// Transfer by a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    #[expect(missing_docs, reason = "the type says everything")]
    pub direction: CallDirection,
    #[expect(missing_docs, reason = "the type says everything")]
    pub target: CallTarget,
    /// Number of messages: 0 if the call transferred nothing.
    pub messages: u64,
    /// Number of bytes of all messages; `None` if the call does not report it, or transfers no payload.
    pub bytes: Option<u64>,
    /// Whether the call would have had to wait, and did not: `EAGAIN`, or `ENOMSG` of a System V queue.
    pub would_block: bool,
}

/// Effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// The call transfers messages to or from at most two objects: `splice` has two.
    Transfers([Option<Transfer>; 2]),
    /// The thread has waited until descriptors were ready, or has checked them.
    Readiness,
    /// A step towards a connection with an address.
    Connects(ConnectionStep),
    /// Descriptors from the first to the last are closed, and may name other objects from now on.
    Closes(i32, i32),
    /// The process runs another program, or may have closed any descriptor.
    Replaces,
    /// An interface whose transfers are not system calls: io_uring.
    Hidden,
}

/// Successful step towards a connection of streams or of packets in sequence. The address is in memory of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say everything")]
pub enum ConnectionStep {
    /// A socket was created, of AF_UNIX or of an internet family.
    Created { descriptor: i32, is_unix: bool },
    /// A client has connected this socket, or begun to.
    Connected(i32),
    /// A server has accepted a connection.
    Accepted { listener: i32, descriptor: i32 },
}

/// Argument with a descriptor or another target.
type Index = usize;

/// Form of a call.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Transfers the number of bytes in its result.
    Bytes(CallDirection, Index),
    /// Transfers the number of messages in its result, with sizes in memory.
    Messages(CallDirection, Index),
    /// Moves the number of bytes in its result from the first descriptor to the second.
    Moves(Index, Index),
    QueueSend,
    QueueReceive,
    SysvSend,
    SysvReceive,
    Semaphores,
    Futex,
    FutexWait,
    FutexWake,
    MemoryRead,
    MemoryWrite,
    /// Sends the signal in the second argument to the target in the first.
    Signal(Index, Index),
    SignalWait,
    Flock,
    FcntlLock,
    Readiness,
    Socket,
    Connect,
    Accept,
    Close,
    CloseRange,
    /// Closes the descriptor in the second argument, unless it is the first.
    Duplicate,
    Replaces,
    Hidden,
}

/// Calls with their forms. The most frequent ones come first, because the kernel compares a call with one after the other.
const CALLS: &[(i64, Form)] = &[
    (libc::SYS_read, Form::Bytes(Receive, 0)),
    (libc::SYS_write, Form::Bytes(Send, 0)),
    (libc::SYS_futex, Form::Futex),
    (libc::SYS_recvfrom, Form::Bytes(Receive, 0)),
    (libc::SYS_sendto, Form::Bytes(Send, 0)),
    (libc::SYS_recvmsg, Form::Bytes(Receive, 0)),
    (libc::SYS_sendmsg, Form::Bytes(Send, 0)),
    (libc::SYS_epoll_pwait, Form::Readiness),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_epoll_wait, Form::Readiness),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, Form::Readiness),
    (libc::SYS_ppoll, Form::Readiness),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select, Form::Readiness),
    (libc::SYS_pselect6, Form::Readiness),
    (libc::SYS_epoll_pwait2, Form::Readiness),
    (libc::SYS_mq_timedsend, Form::QueueSend),
    (libc::SYS_mq_timedreceive, Form::QueueReceive),
    (libc::SYS_msgsnd, Form::SysvSend),
    (libc::SYS_msgrcv, Form::SysvReceive),
    (libc::SYS_writev, Form::Bytes(Send, 0)),
    (libc::SYS_readv, Form::Bytes(Receive, 0)),
    (libc::SYS_sendmmsg, Form::Messages(Send, 0)),
    (libc::SYS_recvmmsg, Form::Messages(Receive, 0)),
    (libc::SYS_semop, Form::Semaphores),
    (libc::SYS_semtimedop, Form::Semaphores),
    (libc::SYS_process_vm_readv, Form::MemoryRead),
    (libc::SYS_process_vm_writev, Form::MemoryWrite),
    (libc::SYS_splice, Form::Moves(0, 2)),
    (libc::SYS_tee, Form::Moves(0, 1)),
    (libc::SYS_sendfile, Form::Moves(1, 0)),
    (libc::SYS_vmsplice, Form::Bytes(Send, 0)),
    (libc::SYS_preadv2, Form::Bytes(Receive, 0)),
    (libc::SYS_pwritev2, Form::Bytes(Send, 0)),
    (libc::SYS_pread64, Form::Bytes(Receive, 0)),
    (libc::SYS_pwrite64, Form::Bytes(Send, 0)),
    (libc::SYS_kill, Form::Signal(0, 1)),
    (libc::SYS_tgkill, Form::Signal(0, 2)),
    (libc::SYS_rt_sigqueueinfo, Form::Signal(0, 1)),
    (libc::SYS_rt_tgsigqueueinfo, Form::Signal(0, 2)),
    (libc::SYS_rt_sigtimedwait, Form::SignalWait),
    (FUTEX_WAKE, Form::FutexWake),
    (FUTEX_WAIT, Form::FutexWait),
    (libc::SYS_flock, Form::Flock),
    (libc::SYS_fcntl, Form::FcntlLock),
    (libc::SYS_io_uring_enter, Form::Hidden),
    (libc::SYS_accept4, Form::Accept),
    (libc::SYS_connect, Form::Connect),
    (libc::SYS_socket, Form::Socket),
    (libc::SYS_accept, Form::Accept),
    (libc::SYS_close, Form::Close),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_dup2, Form::Duplicate),
    (libc::SYS_dup3, Form::Duplicate),
    (libc::SYS_close_range, Form::CloseRange),
    (libc::SYS_execve, Form::Replaces),
    (libc::SYS_execveat, Form::Replaces),
];

/// `futex_wake` and `futex_wait` of Linux 6.7, which the C library's headers may not have yet.
const FUTEX_WAKE: i64 = 454;
const FUTEX_WAIT: i64 = 455;

/// Commands of `futex`, and the bit for words that only threads of one process use. It has one position in both interfaces.
const COMMAND: u64 = 127;
const PRIVATE: u64 = 128;
const WAITS: [u64; 2] = [0, 9];
const WAKES: [u64; 5] = [1, 3, 4, 5, 10];

/// Returns the numbers of all calls that [`effect`] knows, the most frequent ones first.
pub fn numbers() -> Vec<i64> {
    CALLS.iter().map(|(number, _)| *number).collect()
}

/// Returns the effect of a call that has returned; `None` if it is not a call of inter-process communication.
#[inline]
pub fn effect(call: i64, arguments: &[u64; 6], result: i64) -> Option<CallEffect> {
    let (_, form) = CALLS.iter().find(|(number, _)| *number == call)?;
    let argument = |index: Index| arguments[index] as i32;
    match *form {
        Form::Moves(from, to) => {
            let moved = |direction, index| bytes(direction, argument(index), result);
            Some(CallEffect::Transfers([Some(moved(Receive, from)), Some(moved(Send, to))]))
        }
        Form::Readiness => Some(CallEffect::Readiness),
        Form::Socket | Form::Connect | Form::Accept => {
            step(*form, arguments, result).map(CallEffect::Connects)
        }
        Form::Close => Some(CallEffect::Closes(argument(0), argument(0))),
        Form::Duplicate if result < 0 || argument(0) == argument(1) => None,
        Form::Duplicate => Some(CallEffect::Closes(argument(1), argument(1))),
        Form::CloseRange => {
            let [first, last] = [0, 1].map(|index| (arguments[index] as u32).min(i32::MAX as u32) as i32);
            Some(CallEffect::Closes(first, last))
        }
        Form::Replaces => (result == 0).then_some(CallEffect::Replaces),
        Form::Hidden => Some(CallEffect::Hidden),
        form => Some(CallEffect::Transfers([Some(transfer(form, arguments, result)?), None])),
    }
}

/// Returns the step of a call that makes a connection; `None` if it has failed.
#[inline]
fn step(form: Form, arguments: &[u64; 6], result: i64) -> Option<ConnectionStep> {
    const TYPE: i32 = 0xf;
    let [first, second] = [arguments[0], arguments[1]].map(|argument| argument as i32);
    match form {
        Form::Connect if result == 0 || result == -i64::from(libc::EINPROGRESS) => {
            Some(ConnectionStep::Connected(first))
        }
        Form::Accept if result >= 0 => {
            Some(ConnectionStep::Accepted { listener: first, descriptor: result as i32 })
        }
        Form::Socket if result >= 0 && matches!(second & TYPE, libc::SOCK_STREAM | libc::SOCK_SEQPACKET) => {
            let is_known = matches!(first, libc::AF_UNIX | libc::AF_INET | libc::AF_INET6);
            let (descriptor, is_unix) = (result as i32, first == libc::AF_UNIX);
            is_known.then_some(ConnectionStep::Created { descriptor, is_unix })
        }
        _ => None,
    }
}

/// Returns the transfer of a form with one target.
#[inline]
fn transfer(form: Form, arguments: &[u64; 6], result: i64) -> Option<Transfer> {
    let argument = |index: Index| arguments[index] as i32;
    let count = result.max(0) as u64;
    let found = |direction, target, is_message: bool, bytes| {
        let messages = u64::from(is_message && result >= 0);
        let would_block = result == -i64::from(libc::EAGAIN);
        Some(Transfer { direction, target, messages, bytes: bytes_if(messages, bytes), would_block })
    };
    match form {
        Form::Bytes(direction, index) => Some(bytes(direction, argument(index), result)),
        Form::Messages(direction, index) => {
            let transfer = bytes(direction, argument(index), result);
            Some(Transfer { messages: count, bytes: None, ..transfer })
        }
        Form::QueueSend => found(Send, CallTarget::PosixQueue(argument(0)), true, Some(arguments[2])),
        Form::QueueReceive => found(Receive, CallTarget::PosixQueue(argument(0)), true, Some(count)),
        Form::SysvSend => found(Send, CallTarget::SysvQueue(argument(0)), true, Some(arguments[2])),
        Form::SysvReceive => {
            let transfer = found(Receive, CallTarget::SysvQueue(argument(0)), true, Some(count))?;
            Some(Transfer { would_block: result == -i64::from(libc::ENOMSG), ..transfer })
        }
        Form::Semaphores => found(CallDirection::Unseen, CallTarget::SysvSemaphores(argument(0)), true, None),
        Form::MemoryRead => found(Receive, CallTarget::Memory(argument(0)), result > 0, Some(count)),
        Form::MemoryWrite => found(Send, CallTarget::Memory(argument(0)), result > 0, Some(count)),
        Form::Signal(process, signal) => {
            found(Send, CallTarget::Signals(argument(process)), argument(signal) != 0, None)
        }
        Form::SignalWait => found(Receive, CallTarget::OwnSignals, true, None),
        // A lock is a message only if the thread has slept in the call.
        Form::Flock => {
            let direction = if argument(1) & libc::LOCK_UN != 0 { Send } else { Receive };
            found(direction, CallTarget::Flock(argument(0)), false, None)
        }
        // The memory of the caller shows whether it locks or unlocks.
        Form::FcntlLock => {
            let command = argument(1);
            let is_lock =
                matches!(command, libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW);
            let lock = found(CallDirection::Unseen, CallTarget::FcntlLock(argument(0)), false, None);
            lock.filter(|_| is_lock)
        }
        Form::Futex => futex(arguments[1] & COMMAND, arguments[1], arguments, result),
        Form::FutexWait => futex(WAITS[0], arguments[3], arguments, result),
        Form::FutexWake => futex(WAKES[0], arguments[3], arguments, result),
        _ => None,
    }
}

#[inline]
fn bytes_if(messages: u64, bytes: Option<u64>) -> Option<u64> {
    bytes.filter(|_| messages > 0)
}

/// Returns the transfer of a call whose result is a number of bytes.
#[inline]
fn bytes(direction: CallDirection, descriptor: i32, result: i64) -> Transfer {
    let messages = u64::from(result > 0);
    Transfer {
        direction,
        target: CallTarget::Descriptor(descriptor),
        messages,
        bytes: bytes_if(messages, Some(result.max(0) as u64)),
        would_block: result == -i64::from(libc::EAGAIN),
    }
}

/// Returns the wait or the wake-up of a futex word. A wake-up is a message only if a thread waited, and a wait only if it was woken.
#[inline]
fn futex(command: u64, flags: u64, arguments: &[u64; 6], result: i64) -> Option<Transfer> {
    let (direction, messages) = match command {
        command if WAITS.contains(&command) => (Receive, u64::from(result == 0)),
        command if WAKES.contains(&command) => (Send, result.max(0) as u64),
        _ => return None,
    };
    let target = CallTarget::Word { address: arguments[0], is_private: flags & PRIVATE != 0 };
    // `EAGAIN` means that the word has changed before the wait, so it is not an attempt to repeat.
    Some(Transfer { direction, target, messages, bytes: None, would_block: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first transfer of a call.
    fn transfer(call: i64, arguments: [u64; 6], result: i64) -> Transfer {
        match effect(call, &arguments, result) {
            Some(CallEffect::Transfers([Some(transfer), None])) => transfer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn calls_transfer_bytes_or_messages() {
        let read = transfer(libc::SYS_read, [7, 0, 100, 0, 0, 0], 64);
        assert_eq!((read.direction, read.target), (Receive, CallTarget::Descriptor(7)));
        assert_eq!((read.messages, read.bytes), (1, Some(64)));
        let end = transfer(libc::SYS_read, [7, 0, 100, 0, 0, 0], 0);
        assert_eq!((end.messages, end.bytes, end.would_block), (0, None, false));
        let empty = transfer(libc::SYS_recvfrom, [7, 0, 100, 0, 0, 0], -11);
        assert_eq!((empty.messages, empty.bytes, empty.would_block), (0, None, true));
        let several = transfer(libc::SYS_sendmmsg, [7, 0, 8, 0, 0, 0], 8);
        assert_eq!((several.messages, several.bytes), (8, None));
        let queued = transfer(libc::SYS_mq_timedsend, [3, 0, 128, 0, 0, 0], 0);
        assert_eq!((queued.target, queued.bytes), (CallTarget::PosixQueue(3), Some(128)));
        assert_eq!(transfer(libc::SYS_msgsnd, [65_536, 0, 0, 0, 0, 0], 0).bytes, Some(0));
        assert!(transfer(libc::SYS_msgrcv, [65_536, 0, 0, 0, 0, 0], -42).would_block);
        let awaited = transfer(libc::SYS_rt_sigtimedwait, [0; 6], 34);
        assert_eq!((awaited.direction, awaited.target), (Receive, CallTarget::OwnSignals));
        assert_eq!((awaited.messages, awaited.bytes), (1, None));
        let Some(CallEffect::Transfers([Some(from), Some(to)])) =
            effect(libc::SYS_splice, &[4, 0, 5, 0, 10, 0], 10)
        else {
            panic!()
        };
        assert_eq!((from.direction, from.target), (Receive, CallTarget::Descriptor(4)));
        assert_eq!((to.direction, to.target), (Send, CallTarget::Descriptor(5)));
    }

    #[test]
    fn futex_wake_ups_count_woken_threads() {
        let word = |is_private| CallTarget::Word { address: 0x1000, is_private };
        let wake = |result| transfer(libc::SYS_futex, [0x1000, 1, 1, 0, 0, 0], result);
        assert_eq!((wake(1).direction, wake(1).target, wake(1).messages), (Send, word(false), 1));
        assert_eq!(wake(0).messages, 0);
        let wait = |result| transfer(libc::SYS_futex, [0x1000, 9 | 128, 1, 0, 0, 0], result);
        assert_eq!((wait(0).direction, wait(0).target, wait(0).messages), (Receive, word(true), 1));
        assert_eq!((wait(-11).messages, wait(-11).would_block), (0, false));
        assert_eq!(effect(libc::SYS_futex, &[0, 6, 0, 0, 0, 0], 0), None);
    }

    #[test]
    fn connections_and_locks_are_recognized() {
        let step = |call, first: i32, second: i32, result| match effect(
            call,
            &[first as u64, second as u64, 0, 0, 0, 0],
            result,
        ) {
            Some(CallEffect::Connects(step)) => Some(step),
            None => None,
            other => panic!("{other:?}"),
        };
        let stream = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        let created = |is_unix| Some(ConnectionStep::Created { descriptor: 5, is_unix });
        assert_eq!(step(libc::SYS_socket, libc::AF_UNIX, stream, 5), created(true));
        assert_eq!(step(libc::SYS_socket, libc::AF_INET, stream, 5), created(false));
        assert_eq!(step(libc::SYS_socket, libc::AF_INET, libc::SOCK_DGRAM, 5), None);
        assert_eq!(step(libc::SYS_socket, libc::AF_NETLINK, libc::SOCK_STREAM, 5), None);
        assert_eq!(step(libc::SYS_connect, 5, 0, -115), Some(ConnectionStep::Connected(5)));
        assert_eq!(step(libc::SYS_connect, 5, 0, -111), None);
        let accepted = ConnectionStep::Accepted { listener: 3, descriptor: 9 };
        assert_eq!(step(libc::SYS_accept4, 3, 0, 9), Some(accepted));
        let lock = transfer(libc::SYS_flock, [4, 2, 0, 0, 0, 0], 0);
        assert_eq!((lock.direction, lock.target, lock.messages), (Receive, CallTarget::Flock(4), 0));
        assert_eq!(transfer(libc::SYS_flock, [4, 8, 0, 0, 0, 0], 0).direction, Send);
        let lock = transfer(libc::SYS_fcntl, [4, libc::F_SETLKW as u64, 0, 0, 0, 0], 0);
        assert_eq!((lock.direction, lock.target), (CallDirection::Unseen, CallTarget::FcntlLock(4)));
        assert_eq!(effect(libc::SYS_fcntl, &[4, libc::F_GETFL as u64, 0, 0, 0, 0], 0), None);
    }

    #[test]
    fn descriptors_are_closed_and_replaced() {
        let closes = |call, first, second, result| effect(call, &[first, second, 0, 0, 0, 0], result);
        assert_eq!(closes(libc::SYS_close, 5, 0, 0), Some(CallEffect::Closes(5, 5)));
        assert_eq!(closes(libc::SYS_dup3, 5, 6, 6), Some(CallEffect::Closes(6, 6)));
        assert_eq!(closes(libc::SYS_dup3, 5, 6, -9), None);
        let all = closes(libc::SYS_close_range, 3, u64::from(u32::MAX), 0);
        assert_eq!(all, Some(CallEffect::Closes(3, i32::MAX)));
        assert_eq!(closes(libc::SYS_execve, 0, 0, -2), None);
        assert_eq!(closes(libc::SYS_getppid, 0, 0, 0), None);
    }
}
