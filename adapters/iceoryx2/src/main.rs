//! iceoryx2's publish-subscribe: a service for each direction, polled, or with an event to wake the other process. To several
//! receivers the service has a subscriber for each.
//!
//! A message is copied into a loaned sample and out of what came, as everywhere in furlong: zero copy is what an
//! application makes of a sample, and not what it takes to move one.

#[path = "../../rust/protocol.rs"]
mod protocol;
#[cfg(test)]
mod stamps_test;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use protocol::{Failure, Link, SetUp};
use serde_json::json;
use std::hint;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

type Service = ipc::Service;

/// Time that one role waits for the other.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Services with samples of bytes, which are polled.
struct Poll {
    publisher: Publisher<Service, [u8], ()>,
    subscriber: Subscriber<Service, [u8], ()>,
    samples: usize,
    /// Number of receivers of what this role sends.
    receivers: usize,
    node: Node<Service>,
}

/// A link with an event for each message.
struct Event {
    notifier: Notifier<Service>,
    listener: Listener<Service>,
    poll: Poll,
}

/// Waits until the condition holds.
fn until(mut is_so: impl FnMut() -> bool) -> Result<(), Failure> {
    let begin = Instant::now();
    while !is_so() {
        if begin.elapsed() > TIMEOUT {
            return Err(Failure::new(format!("the other role has not come in {TIMEOUT:?}")));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// A direction: its name, and the numbers of its senders and receivers.
#[derive(Clone, Copy)]
struct Direction {
    name: &'static str,
    senders: usize,
    receivers: usize,
}

/// Returns the directions of this role: out and in.
fn directions(set_up: &SetUp) -> [Direction; 2] {
    let there = Direction { name: "there", senders: 1, receivers: set_up.responders };
    let back = Direction { name: "back", senders: set_up.responders, receivers: 1 };
    if set_up.initiator { [there, back] } else { [back, there] }
}

impl Link for Poll {
    fn open(set_up: &SetUp) -> Result<Self, Failure> {
        // A separate instance, with its files in the directory and its shared memory under the name.
        let mut config = Config::default();
        config.global.set_root_path(&Path::new(set_up.folder.as_bytes())?);
        config.global.prefix = FileName::new(format!("{}-", set_up.name).as_bytes())?;
        let node =
            NodeBuilder::new().config(&config).signal_handling_mode(SignalHandlingMode::Disabled).create()?;
        // 2 MiB and at least 4 messages, as the rings of furlong.
        let samples = ((2 << 20) / set_up.own_size.max(set_up.other_size)).clamp(4, 16_384);
        let service = |direction: Direction| {
            let name = ServiceName::new(direction.name).map_err(Failure::from)?;
            let builder = node.service_builder(&name).publish_subscribe::<[u8]>();
            let builder = builder.max_nodes(1 + set_up.responders).enable_safe_overflow(false);
            let builder = builder.max_publishers(direction.senders).max_subscribers(direction.receivers);
            builder.subscriber_max_buffer_size(samples).open_or_create().map_err(Failure::from)
        };
        let [there, back] = directions(set_up);
        let (out, into) = (service(there)?, service(back)?);
        let publisher = out.publisher_builder().initial_max_slice_len(set_up.own_size);
        let publisher =
            publisher.backpressure_strategy(BackpressureStrategy::RetryUntilDelivered).create()?;
        let subscriber = into.subscriber_builder().create()?;
        until(|| {
            out.dynamic_config().number_of_subscribers() == there.receivers
                && into.dynamic_config().number_of_publishers() == back.senders
        })?;
        Ok(Poll { publisher, subscriber, samples, receivers: there.receivers, node })
    }

    fn numbers(&self) -> Vec<(&'static str, u64)> {
        vec![("queue-messages", self.samples as u64)]
    }

    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        let sample = self.publisher.loan_slice_uninit(message.len())?.write_from_slice(message);
        if sample.send()? == self.receivers { Ok(()) } else { Err(Failure::new("the peer has disconnected")) }
    }

    #[inline(always)]
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure> {
        loop {
            if let Some(length) = self.take(message)? {
                return Ok(length);
            }
            hint::spin_loop();
        }
    }
}

impl Poll {
    /// Copies a message, if one is available, and returns its length.
    #[inline(always)]
    fn take(&mut self, message: &mut [u8]) -> Result<Option<usize>, Failure> {
        let Some(sample) = self.subscriber.receive()? else { return Ok(None) };
        let came = sample.payload();
        if came.len() == message.len() {
            message.copy_from_slice(came);
        }
        Ok(Some(came.len()))
    }
}

impl Link for Event {
    fn open(set_up: &SetUp) -> Result<Self, Failure> {
        let poll = Poll::open(set_up)?;
        let service = |direction: Direction| {
            let name = ServiceName::new(direction.name).map_err(Failure::from)?;
            let builder = poll.node.service_builder(&name).event().max_nodes(1 + set_up.responders);
            let builder = builder.max_notifiers(direction.senders).max_listeners(direction.receivers);
            builder.open_or_create().map_err(Failure::from)
        };
        let [there, back] = directions(set_up);
        let (out, into) = (service(there)?, service(back)?);
        let (notifier, listener) = (out.notifier_builder().create()?, into.listener_builder().create()?);
        until(|| {
            out.dynamic_config().number_of_listeners() == there.receivers
                && into.dynamic_config().number_of_notifiers() == back.senders
        })?;
        Ok(Event { notifier, listener, poll })
    }

    fn numbers(&self) -> Vec<(&'static str, u64)> {
        self.poll.numbers()
    }

    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        self.poll.send(message)?;
        self.notifier.notify()?;
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure> {
        loop {
            if let Some(length) = self.poll.take(message)? {
                return Ok(length);
            }
            self.listener.blocking_wait(|_| {})?;
        }
    }
}

fn main() -> ExitCode {
    set_log_level(LogLevel::Error);
    let is_event = std::env::args().nth(1).as_deref() == Some("event");
    let about = |name: &str, summary: &str, wait: &str| {
        json!({
            "name": name,
            "versions": {"iceoryx2": "0.10.0"},
            "claims": {
                "summary": summary,
                "waits": [wait],
                "patterns": ["round-trip", "one-way", "request", "fan-out"],
                "peer_death": "unnoticed",
            },
        })
    };
    let ended = if is_event {
        let summary = "publish-subscribe of iceoryx2, with an event for each message";
        protocol::run::<Event>(about("iceoryx2-event", summary, "block"))
    } else {
        protocol::run::<Poll>(about("iceoryx2-poll", "publish-subscribe of iceoryx2, polled", "spin"))
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            ExitCode::FAILURE
        }
    }
}
