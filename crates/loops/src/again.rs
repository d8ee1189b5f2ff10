//! Retransmission on networks that may lose messages: datagrams between two hosts.
//!
//! A thread checks the progress of the role every 50 ms. If a message stays unanswered for longer than TCP would wait,
//! the thread retransmits from that message on. The receiver skips duplicates and messages that arrive before a missing
//! one. So the loops above see each message once and in order with any wait strategy. A round trip with a loss takes as
//! long as its retransmission.
//!
//! A responder that receives a message again repeats its last answers at once. A message that arrives after the end of
//! a phase is read only in the next phase, so the responder's thread also repeats the last answers until a new message
//! arrives. One of these answers may be the message that ends the phase.

use crate::channel::Channel;
use crate::stamp::Stamp;
use furlong_mechanism::{Message, SendAgain};
use furlong_model::Role;
use furlong_os::{AsHandle, Handle};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which the thread checks the progress.
const LOOK: Duration = Duration::from_millis(50);
/// Minimum time without an answer before a message is retransmitted: the minimum of TCP in Linux (`TCP_RTO_MIN`).
const LEAST_PATIENCE: Duration = Duration::from_millis(200);
/// Timeout of a responder's thread, longer than the initial timeout of an initiator, so that the initiator retransmits
/// first.
const PATIENCE_WITH_ANSWERS: Duration = Duration::from_millis(400);
/// Maximum timeout.
const MOST_PATIENCE: Duration = Duration::from_millis(3200);
/// Timeout as a multiple of the last round trip, if that is longer than the minimum.
const TRIPS: u32 = 3;

/// Progress of a role, and the messages that it may have to retransmit.
struct RoleProgress {
    sent: AtomicU64,
    received: AtomicU64,
    sent_again: AtomicU64,
    repeating: Mutex<RetransmitState>,
}

/// State that is needed to retransmit messages.
struct RetransmitState {
    role: Role,
    own: Stamp,
    /// Buffer for a retransmitted message. Every byte is stamped, so it passes both kinds of check: of every byte, and
    /// of the stamps alone.
    message: Vec<u8>,
    window: u64,
    socket: Handle,
    send: SendAgain,
}

/// A reliable channel over a channel that loses messages.
pub struct ReliableChannel {
    channel: Box<dyn Channel>,
    role: Role,
    other: Stamp,
    shared: Arc<RoleProgress>,
    sent: u64,
    received: u64,
}

/// Parameters of the retransmission.
pub struct AgainOptions {
    /// Role that sends the messages.
    pub role: Role,
    /// Key that distinguishes the messages from those of any other trial.
    pub key: u64,
    /// Bytes in the messages of this role; 8 or more.
    pub size_bytes: usize,
    /// Messages of the initiator in flight at any time.
    pub window: u32,
    /// Socket through which the channel sends.
    pub socket: Handle,
    /// Function that sends a message through the socket.
    pub send: SendAgain,
}

impl ReliableChannel {
    /// Creates a channel that retransmits the lost messages of `channel`, through which nothing was sent yet.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be created.
    pub fn new(channel: Box<dyn Channel>, options: AgainOptions) -> io::Result<ReliableChannel> {
        let AgainOptions { role, key, size_bytes, window, socket, send } = options;
        let [own, other] = [role, role.peer()].map(|from| Stamp::for_direction(key, from));
        let message = vec![0; size_bytes];
        let repeating = RetransmitState { role, own, message, window: window.into(), socket, send };
        let [sent, received, sent_again] = [0; 3].map(AtomicU64::new);
        let shared = Arc::new(RoleProgress { sent, received, sent_again, repeating: Mutex::new(repeating) });
        let watched = Arc::downgrade(&shared);
        thread::Builder::new().name("again".to_owned()).spawn(move || until_gone(role, &watched))?;
        Ok(ReliableChannel { channel, role, other, shared, sent: 0, received: 0 })
    }
}

impl Channel for ReliableChannel {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.sent += 1;
        self.shared.sent.store(self.sent, Ordering::Relaxed);
        self.channel.send(message)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.receive_next(message, |channel, message| channel.recv(message))
    }

    fn recv_if_arrived(&mut self, message: &mut Message) -> io::Result<usize> {
        self.receive_next(message, |channel, message| channel.recv_if_arrived(message))
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.channel.unread_buffers(size_bytes)
    }

    fn sent_again(&self) -> Option<u64> {
        Some(self.shared.sent_again.load(Ordering::Relaxed))
    }
}

impl ReliableChannel {
    /// Receives through `receive` until a message is the next one, and skips all others.
    #[inline]
    fn receive_next(
        &mut self,
        message: &mut Message,
        receive: impl Fn(&mut dyn Channel, &mut Message) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            let length = receive(&mut *self.channel, message)?;
            let due = self.received as u32 + 1;
            let is_another = |number: &u32| *number != due && self.other.holds(message, length, *number);
            let Some(number) = self.other.claimed(message).filter(is_another) else {
                self.received += 1;
                self.shared.received.store(self.received, Ordering::Relaxed);
                return Ok(length);
            };
            if self.role == Role::Responder && number == self.received as u32 {
                self.shared.repeat();
            }
        }
    }
}

/// Runs the thread, which exits with the channel.
fn until_gone(role: Role, watched: &Weak<RoleProgress>) {
    let mut patience = Patience::new(role);
    loop {
        thread::sleep(LOOK);
        let Some(shared) = watched.upgrade() else { return };
        if patience.is_over(shared.come()) {
            shared.repeat();
        }
    }
}

impl RoleProgress {
    /// Returns the numbers of messages sent and received.
    fn come(&self) -> [u64; 2] {
        [&self.sent, &self.received].map(|number| number.load(Ordering::Relaxed))
    }

    /// Retransmits the messages that may be lost.
    fn repeat(&self) {
        let again = self.repeating.lock().unwrap_or_else(PoisonError::into_inner).repeat(self.come());
        self.sent_again.fetch_add(again, Ordering::Relaxed);
    }
}

impl RetransmitState {
    /// Retransmits the messages that may be lost, and returns their number.
    fn repeat(&mut self, [sent, received]: [u64; 2]) -> u64 {
        let first = match self.role {
            Role::Initiator => received + 1,
            Role::Responder => sent.saturating_sub(self.window) + 1,
        };
        for number in first..=sent {
            self.own.write_all(&mut self.message, number as u32);
            // A message that cannot be sent now is sent the next time. If the peer has exited, the waiting receiver
            // notices it.
            let _ = (self.send)(self.socket.as_handle(), &self.message);
        }
        (sent + 1).saturating_sub(first)
    }
}

/// Time without progress after which messages are retransmitted. An initiator's follows Karn and Partridge, "Improving
/// round-trip time estimates in reliable transport protocols", SIGCOMM 1987: it doubles with each retransmission, and
/// only a message that was not retransmitted counts as a sample of the round-trip time.
struct Patience {
    role: Role,
    now: Duration,
    come: [u64; 2],
    since: Instant,
    repeated: bool,
}

impl Patience {
    fn new(role: Role) -> Patience {
        let now = if role == Role::Initiator { LEAST_PATIENCE } else { PATIENCE_WITH_ANSWERS };
        Patience { role, now, come: [0; 2], since: Instant::now(), repeated: false }
    }

    /// Returns whether nothing arrived or was sent for longer than the timeout.
    fn is_over(&mut self, come: [u64; 2]) -> bool {
        let unchanged = self.since.elapsed();
        if come != self.come {
            let was_under_way = self.come[0] > self.come[1];
            if self.role == Role::Initiator && come[1] > self.come[1] + 1 {
                // Two or more answers arrived since the last change. At least one of their messages was not
                // retransmitted, and took less than that time.
                self.now = self.now.min(LEAST_PATIENCE);
            } else if self.role == Role::Initiator && was_under_way && !self.repeated {
                self.now = (TRIPS * unchanged).clamp(LEAST_PATIENCE, MOST_PATIENCE);
            }
            (self.come, self.since, self.repeated) = (come, Instant::now(), false);
            return false;
        }
        // An initiator that has its answer waits for nothing. A responder does not know whether its answer has arrived.
        let waits = if self.role == Role::Initiator { come[0] > come[1] } else { come[0] > 0 };
        if !waits || unchanged < self.now {
            return false;
        }
        if self.role == Role::Initiator {
            self.now = (2 * self.now).min(MOST_PATIENCE);
        }
        (self.since, self.repeated) = (Instant::now(), true);
        true
    }
}

impl fmt::Debug for ReliableChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sent, received] = self.shared.come();
        let again = self.sent_again();
        let mut said = f.debug_struct("Again");
        said.field("sent", &sent)
            .field("received", &received)
            .field("sent_again", &again)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::net::UdpSocket;
    use std::sync::Mutex;

    const KEY: u64 = 77;

    /// An end of a connected pair of sockets that drops every third message that it sends.
    struct LossyChannel {
        socket: UdpSocket,
        sent: u64,
    }

    impl Channel for LossyChannel {
        fn send(&mut self, message: &mut Message) -> io::Result<()> {
            self.sent += 1;
            if !self.sent.is_multiple_of(3) {
                self.socket.send(message)?;
            }
            Ok(())
        }

        fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
            self.socket.recv(message)
        }

        fn unread_buffers(&self, _size_bytes: usize) -> usize {
            0
        }
    }

    fn again(role: Role, socket: UdpSocket) -> ReliableChannel {
        let by = furlong_os::socket::owned(socket.try_clone().unwrap());
        let send = furlong_os::socket::send;
        let options = AgainOptions { role, key: KEY, size_bytes: 64, window: 1, socket: by, send };
        ReliableChannel::new(Box::new(LossyChannel { socket, sent: 0 }), options).unwrap()
    }

    fn pair() -> [UdpSocket; 2] {
        let pair = [0; 2].map(|_| UdpSocket::bind(("127.0.0.1", 0)).unwrap());
        pair[0].connect(pair[1].local_addr().unwrap()).unwrap();
        pair[1].connect(pair[0].local_addr().unwrap()).unwrap();
        pair
    }

    #[test]
    fn each_message_comes_once_and_in_order_though_every_third_is_lost() {
        const TRIPS: u32 = 6;
        let [one, other] = pair();
        let [asks, answers] = [Role::Initiator, Role::Responder].map(|role| Stamp::for_direction(KEY, role));
        let responder = thread::spawn(move || {
            let mut end = again(Role::Responder, other);
            let [mut outbox, mut inbox] = [0; 2].map(|_| Message::new(64).unwrap());
            for number in 1..=TRIPS {
                let length = end.recv(&mut inbox).unwrap();
                asks.check_all(&inbox, length, number).unwrap();
                answers.write_all(&mut outbox, number);
                end.send(&mut outbox).unwrap();
            }
            // Keeps the thread alive as between two phases, because the last answer may be lost.
            thread::sleep(5 * LEAST_PATIENCE);
        });
        let mut end = again(Role::Initiator, one);
        let [mut outbox, mut inbox] = [0; 2].map(|_| Message::new(64).unwrap());
        for number in 1..=TRIPS {
            asks.write_all(&mut outbox, number);
            end.send(&mut outbox).unwrap();
            let length = end.recv(&mut inbox).unwrap();
            answers.check_all(&inbox, length, number).unwrap();
        }
        responder.join().unwrap();
        assert!(end.sent_again() >= Some(u64::from(TRIPS) / 3), "{end:?}");
    }

    /// A channel that returns the given messages and sends nothing.
    struct CannedMessages(Mutex<VecDeque<Vec<u8>>>);

    impl Channel for CannedMessages {
        fn send(&mut self, _message: &mut Message) -> io::Result<()> {
            Ok(())
        }

        fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
            let next = self.0.lock().unwrap().pop_front().ok_or(io::ErrorKind::UnexpectedEof)?;
            message.copy_from_slice(&next);
            Ok(next.len())
        }

        fn unread_buffers(&self, _size_bytes: usize) -> usize {
            0
        }
    }

    #[test]
    fn what_is_damaged_is_passed_on_and_not_taken_for_another() {
        let stamp = Stamp::for_direction(KEY, Role::Responder);
        let message = |number: u32, damage: u8| {
            let mut bytes = vec![0; 64];
            stamp.write_all(&mut bytes, number);
            bytes[3] ^= damage;
            bytes
        };
        // A duplicate of the first message, a message after a missing one, and the damaged second message.
        let given = [message(1, 0), message(1, 0), message(3, 0), message(2, 9)];
        let [socket, _other] = pair();
        let options = AgainOptions {
            role: Role::Initiator,
            key: KEY,
            size_bytes: 64,
            window: 1,
            socket: furlong_os::socket::owned(socket),
            send: furlong_os::socket::send,
        };
        let mut end =
            ReliableChannel::new(Box::new(CannedMessages(Mutex::new(given.into()))), options).unwrap();
        let mut inbox = Message::new(64).unwrap();
        assert_eq!((end.recv(&mut inbox).unwrap(), stamp.claimed(&inbox)), (64, Some(1)));
        assert_eq!((end.recv(&mut inbox).unwrap(), stamp.claimed(&inbox)), (64, None));
        assert!(end.recv(&mut inbox).is_err());
    }

    #[test]
    fn a_long_way_is_no_loss() {
        let mut patience = Patience::new(Role::Initiator);
        let long_ago =
            |patience: &mut Patience, ms| patience.since = Instant::now() - Duration::from_millis(ms);
        assert!(!patience.is_over([1, 0]));
        long_ago(&mut patience, 250);
        assert!(patience.is_over([1, 0]), "nothing is known of the way yet");
        assert!(!patience.is_over([2, 1]));
        long_ago(&mut patience, 300);
        assert!(!patience.is_over([2, 1]), "it waits twice as long");
        assert!(!patience.is_over([3, 2]));
        long_ago(&mut patience, 800);
        assert!(!patience.is_over([3, 2]), "three times as long as that took");
        long_ago(&mut patience, 950);
        assert!(patience.is_over([3, 2]));
        // A responder repeats its last answer until a message arrives. An initiator that has its answer repeats
        // nothing.
        let mut responder = Patience::new(Role::Responder);
        assert!(!responder.is_over([4, 4]) && !patience.is_over([4, 4]));
        for _ in 0..2 {
            long_ago(&mut responder, 450);
            long_ago(&mut patience, 450);
            assert!(responder.is_over([4, 4]) && !patience.is_over([4, 4]));
        }
    }
}
