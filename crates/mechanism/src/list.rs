//! The list of mechanisms. The registry, the conformance tests and the documentation are derived from it.

use crate::Mechanism;
#[cfg(target_os = "linux")]
use crate::datagrams::linux::{scm_rights, udp_multicast, unix_dgram, unix_dgram_to_all, unix_seqpacket};
use crate::datagrams::udp;
#[cfg(windows)]
use crate::memory::windows::read_process_memory;
use crate::memory::{channel, doorbell, layout::mailbox::Mailbox, segment};
#[cfg(target_os = "linux")]
use crate::memory::{
    layout::{
        broadcast::{Broadcast, HeldBack, OvertakingPace},
        latest_value::LatestValue,
        ring::{BatchedPublication, Lamport, ReferenceRing},
        seqlock::Seqlock,
        triple_buffer::TripleBuffer,
    },
    linux::{pidfd_getfd, proc_mem, process_vm},
};
#[cfg(target_os = "linux")]
use crate::notifications::linux::{
    eventfd, eventfd_semaphore, futex, io_uring_msg_ring, posix_semaphore, signal, signalfd, sysv_semaphore,
};
#[cfg(windows)]
use crate::notifications::windows::{event, semaphore};
use crate::null;
#[cfg(target_os = "linux")]
use crate::queues::linux::{driver_message, posix_mq, sysv_mq};
#[cfg(windows)]
use crate::queues::windows::{mailslot, window_message};
#[cfg(target_os = "linux")]
use crate::streams::linux::{
    accept, fifo, io_uring_pipe, io_uring_socketpair, io_uring_sqpoll, io_uring_to_all, pipe, socketpair,
    splice, tee, vmsplice, vsock,
};
#[cfg(windows)]
use crate::streams::windows::{anonymous_pipe, named_pipe};
use crate::streams::{tcp, unix_stream};

/// An operation on every mechanism, generic over its type.
pub trait Visitor {
    /// Called once for each mechanism, in the order of the list. A mechanism that waits inside its calls comes once for each
    /// wait strategy, under one name.
    fn visit<M: Mechanism>(&mut self);
}

macro_rules! mechanisms {
    ($($mechanism:ty),* $(,)?; in memory: $($segment:ty),* $(,)?; and: $($last:ty),* $(,)?) => {
        /// Visits every mechanism.
        pub fn visit_all(visitor: &mut impl Visitor) {
            $(visitor.visit::<$mechanism>();)*
            $(visit_doorbells::<$segment>(visitor);)*
            $(visitor.visit::<$last>();)*
        }
    };
}

#[cfg(target_os = "linux")]
mechanisms! {
    null::Null,
    pipe::Pipe,
    fifo::Fifo,
    unix_stream::UnixStream,
    unix_seqpacket::UnixSeqpacket,
    unix_dgram::UnixDgram,
    socketpair::Socketpair,
    tcp::Tcp,
    udp::Udp,
    scm_rights::ScmRights,
    posix_mq::PosixMq,
    sysv_mq::SysvMq,
    driver_message::DriverMessage,
    eventfd::Eventfd,
    eventfd_semaphore::EventfdSemaphore,
    signal::Signal,
    signalfd::Signalfd,
    posix_semaphore::PosixSemaphore,
    sysv_semaphore::SysvSemaphore,
    futex::Futex,
    io_uring_msg_ring::IoUringMsgRing,
    process_vm::ProcessVm<doorbell::Futex>,
    process_vm::ProcessVm<doorbell::Spin>,
    proc_mem::ProcMem<doorbell::Futex>,
    proc_mem::ProcMem<doorbell::Spin>,
    pidfd_getfd::PidfdGetfd<doorbell::Futex>,
    pidfd_getfd::PidfdGetfd<doorbell::Spin>,
    vmsplice::Vmsplice,
    splice::Splice,
    vsock::Vsock,
    accept::ConnectionPerMessage<accept::UnixConnections>,
    accept::ConnectionPerMessage<accept::TcpConnections>,
    io_uring_pipe::IoUringPipe,
    io_uring_socketpair::IoUringSocketpair,
    io_uring_sqpoll::IoUringSqpoll,
    channel::LibraryChannel<channel::AdaptiveWait>,
    channel::LibraryChannel<channel::SpinWait>,
    channel::LibraryChannel<channel::BlockingWait>,
    Mailbox<segment::DriverShm, doorbell::DriverBell>,
    Mailbox<segment::DriverShm, doorbell::Spin>;
    in memory:
    segment::AnonShm,
    segment::SysvShm,
    segment::PosixShm,
    segment::MemfdShm,
    segment::FileShm;
    and:
    Mailbox<segment::FileShm, doorbell::Inotify>,
    Mailbox<segment::FileShm, doorbell::Locks<doorbell::Flock>>,
    Mailbox<segment::FileShm, doorbell::Locks<doorbell::FcntlLock>>,
    LatestValue<Seqlock, doorbell::Spin>,
    LatestValue<Seqlock, doorbell::Futex>,
    LatestValue<TripleBuffer, doorbell::Spin>,
    LatestValue<TripleBuffer, doorbell::Futex>,
    ReferenceRing<Lamport>,
    ReferenceRing<BatchedPublication>,
    Broadcast<HeldBack, doorbell::Futex>,
    Broadcast<HeldBack, doorbell::Spin>,
    Broadcast<OvertakingPace, doorbell::Futex>,
    Broadcast<OvertakingPace, doorbell::Spin>,
    tee::Tee,
    unix_dgram_to_all::UnixDgramToAll,
    io_uring_to_all::IoUringToAll,
    udp_multicast::UdpMulticast,
}

#[cfg(windows)]
mechanisms! {
    null::Null,
    anonymous_pipe::AnonymousPipe,
    named_pipe::NamedPipe,
    named_pipe::OverlappedNamedPipe,
    named_pipe::MessagePipe,
    named_pipe::OverlappedMessagePipe,
    tcp::Tcp,
    unix_stream::UnixStream,
    udp::Udp,
    mailslot::Mailslot,
    window_message::WindowMessage,
    event::Event,
    semaphore::Semaphore,
    read_process_memory::ReadProcessMemory<doorbell::Event>,
    read_process_memory::ReadProcessMemory<doorbell::Spin>,
    channel::LibraryChannel<channel::AdaptiveWait>,
    channel::LibraryChannel<channel::SpinWait>,
    channel::LibraryChannel<channel::BlockingWait>;
    in memory:
    segment::Section,
    segment::FileSection;
    and:
    Mailbox<segment::Section, doorbell::Locks<doorbell::Mutex>>,
}

/// Visits every doorbell that works with any memory, for one kind of memory, the default first.
#[cfg(target_os = "linux")]
fn visit_doorbells<S: segment::Segment>(visitor: &mut impl Visitor) {
    visitor.visit::<Mailbox<S, doorbell::Futex>>();
    visitor.visit::<Mailbox<S, doorbell::Spin>>();
    visitor.visit::<Mailbox<S, doorbell::Yield>>();
    visitor.visit::<Mailbox<S, doorbell::PosixSemaphore>>();
    visitor.visit::<Mailbox<S, doorbell::SysvSemaphore>>();
    visitor.visit::<Mailbox<S, doorbell::ConditionVariable>>();
    visitor.visit::<Mailbox<S, doorbell::Eventfd>>();
    visitor.visit::<Mailbox<S, doorbell::Signal>>();
}

/// Visits the doorbells of Windows, which cannot block on a shared word: `WaitOnAddress` works within one process.
#[cfg(windows)]
fn visit_doorbells<S: segment::Segment>(visitor: &mut impl Visitor) {
    visitor.visit::<Mailbox<S, doorbell::Event>>();
    visitor.visit::<Mailbox<S, doorbell::Spin>>();
    visitor.visit::<Mailbox<S, doorbell::Yield>>();
    visitor.visit::<Mailbox<S, doorbell::Semaphore>>();
}
