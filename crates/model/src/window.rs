//! The number of messages that may be in flight without a deadlock or a lost message.

use crate::{Capabilities, Case, FAN_OUT_BOUND, KernelBuffer, Room, Unavailable, WhenFull, format_bytes};

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction {
    /// The number of messages that it holds.
    pub room: Room,
    /// What happens to an additional message.
    pub when_full: WhenFull,
}

/// Returns the maximum number of messages that can be in flight, for the directions there and back; `None` if there is
/// no such limit.
///
/// If senders wait for room, it is there + back + 1. The responder receives one message, answers it, and receives the
/// next. A role that waits to receive continues as long as anything is in flight, so a deadlock occurs only if both
/// roles wait to send. Then each direction holds at least the messages that it may hold while a sender waits. The
/// direction of the role that began to wait last holds its whole depth, because no message was received since then. The
/// responder has one more message, which it is answering, and the initiator has one, which it is sending. With both
/// directions and two more messages in flight, a deadlock can occur, and with one fewer it cannot.
///
/// A direction that drops, merges or overwrites messages must have room for all of them.
pub fn most_outstanding([there, back]: [Direction; 2]) -> Option<u64> {
    let losing = [there, back].into_iter().filter(|way| way.when_full != WhenFull::Waits);
    match losing.filter_map(|way| way.room.depth.messages()).min() {
        Some(least) => Some(least),
        None if there.when_full != WhenFull::Waits || back.when_full != WhenFull::Waits => None,
        None => {
            let both = |full: Room, waiting: Room| {
                Some(
                    full.depth
                        .messages()?
                        .saturating_add(waiting.while_waiting.messages()?)
                        .saturating_add(1),
                )
            };
            [both(there.room, back.room), both(back.room, there.room)].into_iter().flatten().min()
        }
    }
}

impl Case {
    /// Returns the bound of the messages in flight, if messages are due at certain times and answered, or go to all receivers.
    pub fn most_in_flight(&self) -> u32 {
        if self.pattern().is_to_all() { FAN_OUT_BOUND } else { self.window().get() }
    }

    /// Returns why this number of messages cannot be in flight on a link of this mechanism with these directions, if it
    /// cannot.
    pub fn refuse_window(&self, capabilities: &Capabilities, ways: [Direction; 2]) -> Option<Unavailable> {
        let most = most_outstanding(ways)?;
        let [sent_bytes, answered_bytes] = self.sizes_bytes();
        if u64::from(self.window().get()) <= most || self.window().get() == 1 {
            return None;
        }
        let [there, back] = ways.map(|way| way.room.depth);
        let holds = match (capabilities.fixed_size_bytes, sent_bytes == answered_bytes && there == back) {
            (Some(_), true) => format!("{there} each way"),
            (_, true) => format!("{there} of {} each way", format_bytes(sent_bytes)),
            (_, false) => format!(
                "{there} of {} there and {back} of {} back",
                format_bytes(sent_bytes),
                format_bytes(answered_bytes)
            ),
        };
        let [waiting_there, waiting_back] = ways.map(|way| way.room.while_waiting);
        let fewest = match (waiting_there == there, waiting_back == back) {
            (true, true) => String::new(),
            (false, _) => format!(" (as few as {waiting_there} while the sender waits)"),
            (true, false) => format!(" (back as few as {waiting_back} while the sender waits)"),
        };
        let why = if ways.iter().any(|way| way.when_full != WhenFull::Waits) {
            "and messages without room would be lost"
        } else {
            "and with more messages than both directions hold plus one, each side would wait for the other to make room"
        };
        let smaller = match most {
            0 | 1 => "leave --window out".to_owned(),
            _ => format!("ask for --window {most} or less"),
        };
        let larger = match capabilities.buffer {
            KernelBuffer::None => "",
            KernelBuffer::Pipe => ", or ask for a larger pipe (--pipe-size)",
            KernelBuffer::Socket => ", or ask for larger buffers (--socket-buffer)",
            KernelBuffer::Ring => ", or ask for a larger ring (--ring-size)",
        };
        let reason = format!(
            "{} messages cannot be in flight: {} holds {holds}{fewest}, {why}",
            self.window(),
            self.mechanism
        );
        Some(Unavailable::new(reason, smaller + larger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Depth;

    fn most(there: Depth, back: Depth, when_full: [WhenFull; 2]) -> Option<u64> {
        let [there_full, back_full] = when_full;
        most_outstanding([
            Direction { room: there.into(), when_full: there_full },
            Direction { room: back.into(), when_full: back_full },
        ])
    }

    #[test]
    fn as_many_as_both_directions_hold_and_one() {
        let waits = [WhenFull::Waits; 2];
        assert_eq!(most(Depth::of(1), Depth::of(1), waits), Some(3));
        assert_eq!(most(Depth::of(0), Depth::of(0), waits), Some(1));
        assert_eq!(most(Depth::of(481), Depth::of(10), waits), Some(492));
        assert_eq!(most(Depth::UNBOUNDED, Depth::of(1), waits), None);
    }

    #[test]
    fn a_sender_that_is_woken_late_counts_for_less() {
        let way = |depth, while_waiting| Direction {
            room: Room { depth: Depth::of(depth), while_waiting: Depth::of(while_waiting) },
            when_full: WhenFull::Waits,
        };
        assert_eq!(most_outstanding([way(40, 10), way(40, 10)]), Some(51));
        assert_eq!(most_outstanding([way(40, 10), way(8, 7)]), Some(19));
    }

    #[test]
    fn what_loses_has_room_for_all() {
        assert_eq!(most(Depth::of(7), Depth::of(9), [WhenFull::Drops; 2]), Some(7));
        assert_eq!(most(Depth::of(7), Depth::of(2), [WhenFull::Drops, WhenFull::Waits]), Some(7));
        assert_eq!(most(Depth::of(1), Depth::of(1), [WhenFull::Merges; 2]), Some(1));
    }
}
