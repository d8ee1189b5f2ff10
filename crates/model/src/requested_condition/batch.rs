//! Requested condition of a link: the number of messages that one call carries.

use super::sockets::{SocketOption, WRITES};
use super::{ConditionKind, RequestedCondition, RequestedConditions};
use crate::{Call, Capabilities, Case, Family, Role, Sharing, Unavailable, format_bytes};
use std::num::NonZeroU16;

/// The most messages of a batch: the kernel's `UIO_MAXIOV`.
const MOST_MESSAGES: u16 = 1024;

/// The most bytes of a batch, each role's buffer.
const MOST_BYTES: usize = 64 << 20;

/// Number of messages per call.
pub(super) static BATCH: ConditionKind = ConditionKind {
    name: "batch",
    placeholder: "N",
    help: "Send and receive up to N messages per call, 1 to 1024. The calls are sendmmsg and recvmmsg, or one write and read of \
           a stream. For -m one-way. A number, or a sweep such as 1..64:x2. Can be repeated [default: 1]",
    read: |text| {
        let number = text.parse().ok().filter(|number: &NonZeroU16| number.get() <= MOST_MESSAGES)?;
        text.bytes().all(|byte| byte.is_ascii_digit()).then_some(RequestedCondition::Batch(number))
    },
    valid: "write a number from 1 to 1024, or the first, the last and a factor, as in 1..64:x2",
    applies: |_, capabilities| capabilities.batch_call(Role::Initiator).is_some(),
    candidates: &[],
    neutral: Some("1"),
    permanent: |_| {
        "in the program: sendmmsg and recvmmsg, or one write and read for several messages".to_owned()
    },
};

impl Capabilities {
    /// Returns the call with which the initiator sends, or the responder receives, several messages at once: a system call, or a
    /// function of a library. Returns `None` if the mechanism has none.
    pub fn batch_call(&self, role: Role) -> Option<&'static str> {
        if self.family == Family::Library {
            return Some(["send_all", "recv_each"][role.index()]);
        }
        let ([Call::Once(send)], [Call::Once(receive)]) = (self.calls.send, self.calls.receive) else {
            return None;
        };
        let families = [Family::Pipe, Family::Socket, Family::IoUring];
        let is_stream = families.contains(&self.family) && !self.boundaries;
        let calls = match (*send, *receive) {
            ("sendto", "recvfrom")
                if self.family == Family::Socket && self.sharing != Sharing::EveryReceiver =>
            {
                ["sendmmsg", "recvmmsg"]
            }
            ("write", "read")
            | ("send", "recv")
            | ("WriteFile", "ReadFile")
            | ("io_uring_enter", "io_uring_enter")
                if is_stream =>
            {
                [*send, *receive]
            }
            _ => return None,
        };
        Some(calls[role.index()])
    }
}

impl RequestedConditions {
    /// Returns the most messages per call; `None` if each has its own call.
    pub fn batch(&self) -> Option<usize> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Batch(number) if number.get() > 1 => Some(number.get().into()),
            _ => None,
        })
    }
}

impl Case {
    /// Returns the case without its batch size, and the size; `None` if none is requested, not even one message per call.
    pub fn without_batch(&self) -> Option<(Case, usize)> {
        let (batch, conditions) = self.conditions.split(&BATCH)?;
        let RequestedCondition::Batch(number) = batch else { return None };
        Some((Case { conditions, ..self.clone() }, number.get().into()))
    }

    /// Returns why several messages cannot be in one call in this case, if they cannot.
    pub(crate) fn refuse_batch(&self) -> Option<Unavailable> {
        let batch = self.conditions.batch()?;
        let (reason, remedy) = if !self.pattern().is_stream() {
            let reason = format!(
                "--batch {batch} needs messages that are not answered, but got -m {}",
                self.pattern()
            );
            (reason, "ask for -m one-way, or for --batch 1".to_owned())
        } else if self.conditions.has_two_writes() {
            let reason = format!(
                "--{} 2 sends each message in two calls, but --batch {batch} in a part of one",
                WRITES.name
            );
            (reason, "ask for one of the two".to_owned())
        } else if self.conditions.socket_options().contains(&SocketOption::ZeroCopy) {
            let reason =
                format!("--batch {batch} uses its buffer again at once, which zerocopy does not allow");
            (reason, "ask for one of the two".to_owned())
        } else if self.conditions.size_mix().is_some() || self.conditions.service_time().is_some() {
            let reason = format!("--batch {batch} is for messages of one size that are only received");
            (reason, "leave --sizes and --service-time out, or ask for --batch 1".to_owned())
        } else if !self.access.is_copy() {
            let reason = format!("--batch {batch} copies messages, which --access {} does not", self.access);
            (reason, "ask for one of the two".to_owned())
        } else if self.size_bytes.saturating_mul(batch) > MOST_BYTES {
            let reason = format!(
                "{batch} messages of {} are more than the {} of a batch",
                format_bytes(self.size_bytes),
                format_bytes(MOST_BYTES)
            );
            (
                reason,
                format!(
                    "ask for --batch {} or less, or for smaller messages",
                    (MOST_BYTES / self.size_bytes).max(1)
                ),
            )
        } else {
            return None;
        };
        Some(Unavailable::new(reason, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requested_condition::sockets::tests::STREAM;
    use crate::{Calls, ConditionKind, Pattern, Placement, Wait};

    const DATAGRAM: Capabilities = Capabilities {
        boundaries: true,
        calls: Calls::of(&[Call::Once("sendto")], &[Call::Once("recvfrom")]),
        ..STREAM
    };

    #[test]
    fn sweep_is_several_values() {
        let values =
            |text| BATCH.read_axis(text).map(|values| values.iter().map(RequestedCondition::value).collect());
        assert_eq!(values("1..8:x2"), Ok(["1", "2", "4", "8"].map(str::to_owned).to_vec()));
        assert_eq!(values("64"), Ok(vec!["64".to_owned()]));
        for text in ["0", "1025", "+1", "x", "1..2048:x2", "4..1"] {
            let error = values(text).unwrap_err().to_string();
            assert!(error.contains("a number from 1 to 1024"), "{text}: {error}");
        }
    }

    #[test]
    fn batches_apply_to_mechanisms_with_a_call_for_several_messages() {
        let calls = |capabilities: &Capabilities| Role::ALL.map(|role| capabilities.batch_call(role));
        assert_eq!(calls(&STREAM), [Some("write"), Some("read")]);
        assert_eq!(calls(&DATAGRAM), [Some("sendmmsg"), Some("recvmmsg")]);
        let two_calls = Calls::of(&[Call::Once("write"), Call::Once("tee")], &[Call::Once("read")]);
        let library = Capabilities { family: Family::Library, ..Capabilities::DEFAULT };
        assert_eq!(calls(&library), [Some("send_all"), Some("recv_each")]);
        let entered = Calls::of(&[Call::Once("io_uring_enter")], &[Call::Once("io_uring_enter")]);
        let ring = Capabilities { family: Family::IoUring, calls: entered, ..STREAM };
        assert_eq!(calls(&ring), [Some("io_uring_enter"); 2]);
        let others = [
            Capabilities { sharing: Sharing::EveryReceiver, ..DATAGRAM },
            Capabilities { family: Family::Queue, ..DATAGRAM },
            Capabilities { boundaries: true, ..STREAM },
            Capabilities { calls: two_calls, ..STREAM },
        ];
        for capabilities in others {
            assert_eq!(calls(&capabilities), [None; 2], "{capabilities:?}");
        }
    }

    #[test]
    fn impossible_batches_are_refused_with_the_reason() {
        let refusal = |pattern, size_bytes, values: &[(&str, &str)]| {
            let axis =
                |(name, value): &(&str, &str)| vec![ConditionKind::find(name).unwrap().read(value).unwrap()];
            let axes: Vec<_> = values.iter().map(axis).collect();
            let conditions = RequestedConditions::combinations(&axes, &STREAM).remove(0);
            let case = Case::round_trip("tcp", Wait::Block, size_bytes, Placement::SameCore);
            Case { conditions, ..case.with_pattern(pattern) }.refuse_batch().map(|refusal| refusal.reason)
        };
        let batch = ("batch", "64");
        assert_eq!(refusal(Pattern::OneWay, 1 << 20, &[batch]), None);
        assert_eq!(refusal(Pattern::RoundTrip, 128, &[("batch", "1")]), None);
        for (pattern, size_bytes, other, told) in [
            (Pattern::RoundTrip, 128, batch, "got -m round-trip"),
            (Pattern::FanIn, 128, batch, "got -m fan-in"),
            (Pattern::OneWay, 128, ("writes", "2"), "in two calls"),
            (Pattern::OneWay, 128, ("socket-options", "zerocopy"), "zerocopy"),
            (Pattern::OneWay, 128, ("service-time", "fixed:5us"), "only received"),
            (Pattern::OneWay, 128, ("sizes", "64:70,4KiB:30"), "messages of one size"),
            (Pattern::OneWay, (1 << 20) + 1, batch, "more than the 64MiB"),
        ] {
            let reason = refusal(pattern, size_bytes, &[other, batch]).unwrap();
            assert!(reason.contains(told), "{reason}");
        }
    }
}
