//! Tests of both ends of a ring.

use super::producer::STREAM_PART_BYTES;
use super::*;
use crate::error::Result;
use crate::memory::Lane;
use proptest::prelude::*;
use std::collections::VecDeque;

const CAPACITY: usize = 4096;
const LONGEST: usize = 10_000;

fn ring(start: u64) -> (Producer, Consumer, Lane) {
    let [lane, _] = Lane::private(CAPACITY);
    let (consumer, shared) = (lane.again(), lane.again());
    (Producer::new(lane, start), Consumer::new(consumer, start, LONGEST), shared)
}

/// Returns start positions, some of them shortly before the overflow of 32 and 64 bits.
fn starts() -> impl Strategy<Value = u64> {
    let near = |end: u64| (0..2 * CAPACITY as u64 / 8).prop_map(move |back| end.wrapping_sub(8 * back));
    prop_oneof![Just(0), near(1 << 32), near(0)]
}

/// The next step of one of the ends.
#[derive(Debug, Clone)]
enum Step {
    /// Sends messages of these lengths, which become visible together.
    Send(Vec<usize>),
    /// Sends the parts of a message, and optionally abandons it before the last part.
    SendParts { parts: Vec<usize>, gives_up: bool },
    /// Receives this number of records.
    Receive(usize),
    /// Reports the position to the sender.
    Release,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = || prop_oneof![0..64usize, 0..=longest_record(CAPACITY)];
    let parts = proptest::collection::vec(LEAST_PART_BYTES..=longest_record(CAPACITY), 2..5);
    let step = prop_oneof![
        3 => proptest::collection::vec(len(), 1..4).prop_map(Step::Send),
        1 => (parts, any::<bool>()).prop_map(|(parts, gives_up)| Step::SendParts { parts, gives_up }),
        6 => (1..6usize).prop_map(Step::Receive),
        1 => Just(Step::Release),
    ];
    proptest::collection::vec(step, 1..200)
}

fn content(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + seed * 7 + at / 256) as u8).collect()
}

fn put(producer: &mut Producer, bytes: &[u8], kind: Kind, message: usize) -> bool {
    let Some(place) = producer.place(bytes.len()).unwrap() else { return false };
    producer.fill(place, bytes);
    producer.stage(place, kind, message);
    true
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// All messages arrive in order, whole and once, and abandoned messages do not arrive.
    #[test]
    fn a_ring_is_a_queue_of_records(start in starts(), steps in steps()) {
        let (mut producer, mut consumer, _) = ring(start);
        let mut model: VecDeque<(Kind, usize, Vec<u8>)> = VecDeque::new();
        let mut number = 0;
        for step in steps {
            match step {
                Step::Send(lengths) => {
                    for len in lengths {
                        let bytes = content(len, number);
                        if !put(&mut producer, &bytes, Kind::Whole, len) { break }
                        model.push_back((Kind::Whole, len, bytes));
                        number += 1;
                    }
                    producer.publish();
                }
                Step::SendParts { parts, gives_up } => {
                    let mut rest: usize = parts.iter().sum();
                    let mut kind = Kind::First;
                    for (at, len) in parts.iter().enumerate() {
                        let bytes = content(*len, number);
                        let is_last = at + 1 == parts.len();
                        if rest > LONGEST { break }
                        if (is_last && gives_up) || !put(&mut producer, &bytes, kind, rest) {
                            if kind == Kind::Rest {
                                producer.abort();
                                model.push_back((Kind::Abort, 0, Vec::new()));
                            }
                            break;
                        }
                        producer.publish();
                        model.push_back((kind, rest, bytes));
                        (kind, rest, number) = (Kind::Rest, rest - len, number + 1);
                    }
                }
                Step::Receive(count) => for _ in 0..count {
                    let Some(record) = consumer.look().unwrap() else {
                        prop_assert!(model.is_empty(), "{:?} is missing", model.front());
                        break;
                    };
                    let mut bytes = vec![0; record.len];
                    consumer.copy_out(&record, &mut bytes);
                    prop_assert_eq!(Some((record.kind, record.message, bytes)), model.pop_front());
                    consumer.pass(&record);
                    consumer.release_much();
                },
                Step::Release => _ = consumer.release(),
            }
        }
    }

    /// Every header is a record inside the ring, or an error. After an error, the ring stays broken.
    #[test]
    fn what_the_sender_writes_is_checked(
        start in 0..CAPACITY as u64 / 8,
        headers in proptest::collection::vec(any_header(), 1..20),
    ) {
        let (_, mut consumer, shared) = ring(8 * start);
        let mut is_broken = false;
        for header in headers {
            let offset = consumer.offset();
            shared.publish_header(offset, header);
            match consumer.look() {
                Ok(Some(record)) => {
                    prop_assert!(!is_broken && record.offset + HEADER_BYTES + record.len <= CAPACITY);
                    prop_assert!(record.message <= LONGEST && record.len <= record.message);
                    let mut bytes = vec![0; record.len];
                    consumer.copy_out(&record, &mut bytes);
                    consumer.pass(&record);
                }
                Ok(None) => prop_assert!(!is_broken),
                Err(_) => is_broken = true,
            }
        }
    }

    /// For every position that the receiver writes, the sender never finds more room than the ring has.
    #[test]
    fn what_the_receiver_writes_is_checked(reads in proptest::collection::vec(any_position(), 1..20)) {
        let (mut producer, _, shared) = ring(0);
        let mut is_broken = false;
        for read in reads {
            shared.publish_read(read);
            loop {
                match producer.place(500) {
                    Ok(None) => break,
                    Ok(Some(place)) => {
                        prop_assert!(!is_broken);
                        producer.fill(place, &[1; 500]);
                        producer.stage_whole(place);
                        producer.publish();
                    }
                    Err(_) => {
                        is_broken = true;
                        break;
                    }
                }
            }
            prop_assert!(producer.written.wrapping_sub(producer.read) <= CAPACITY as u64);
        }
    }
}

/// Returns random headers and almost valid ones.
fn any_header() -> impl Strategy<Value = u64> {
    let kind = prop_oneof![0..7u64, any::<u64>()];
    let len = prop_oneof![0..2000u64, any::<u64>()];
    let message = prop_oneof![0..5000u64, any::<u64>()];
    let near = (kind, len, message, any::<bool>()).prop_map(|(kind, len, message, is_whole)| {
        let message = if is_whole { len } else { message };
        kind << 56 | (len & 0xff_ffff) << 32 | (message & 0xffff_ffff)
    });
    prop_oneof![near, any::<u64>()]
}

fn any_position() -> impl Strategy<Value = u64> {
    prop_oneof![0..20_000u64, any::<u64>(), (0..100u64).prop_map(|back| 0u64.wrapping_sub(back))]
}

/// A repeated header is a message only at a place where a message may begin and has room.
#[test]
fn a_header_as_before_is_checked_as_the_first_one() {
    let whole = header(Kind::Whole, 600, 600);
    let next = |consumer: &mut Consumer, shared: &Lane, header: u64| {
        shared.publish_header(consumer.offset(), header);
        let record = consumer.take()?;
        consumer.pass(&record);
        Ok(record.len)
    };
    let seen_once = || {
        let (_, mut consumer, shared) = ring(0);
        let len: Result<usize> = next(&mut consumer, &shared, whole);
        assert_eq!(len.unwrap(), 600);
        (consumer, shared)
    };
    let (mut consumer, shared) = seen_once();
    let fit = CAPACITY / record_bytes(600);
    assert!((1..fit).all(|_| next(&mut consumer, &shared, whole).unwrap() == 600));
    assert!(next(&mut consumer, &shared, whole).is_err(), "beyond the end");
    assert!(next(&mut consumer, &shared, whole).is_err(), "after an error");
    let (mut consumer, shared) = seen_once();
    assert_eq!(next(&mut consumer, &shared, header(Kind::First, 512, 1112)).unwrap(), 512);
    assert!(next(&mut consumer, &shared, whole).is_err(), "within a message");
    let (mut consumer, shared) = seen_once();
    shared.publish_header(consumer.offset(), 0);
    assert!(consumer.take().is_err() && consumer.has_header(), "went away");
    assert!(next(&mut consumer, &shared, whole).is_err(), "after it went away");
}

#[test]
fn a_ring_holds_as_many_as_it_says() {
    for len in [0, 1, 8, 100, 500, longest_record(CAPACITY), 1500, 5000] {
        for start in (0..CAPACITY as u64).step_by(if cfg!(miri) { 2056 } else { 104 }) {
            let (mut producer, mut consumer, _) = ring(start);
            // The receiver may have read up to an eighth of the ring that it has not reported yet.
            while consumer.position - start < (CAPACITY / RELEASES - 8) as u64 {
                assert!(put(&mut producer, &[], Kind::Whole, 0));
                producer.publish();
                let record = consumer.look().unwrap().unwrap();
                consumer.pass(&record);
                assert!(!consumer.release_much());
            }
            for sent in 0..depth(CAPACITY, len) {
                let part = producer.undivided();
                let mut rest = len;
                while rest > 0 || len == 0 {
                    let this = rest.min(part);
                    let kind = if rest == len { Kind::First } else { Kind::Rest };
                    assert!(put(&mut producer, &vec![0; this], kind, rest), "{sent} of {len} bytes");
                    producer.publish();
                    rest -= this;
                    if len == 0 {
                        break;
                    }
                }
            }
        }
    }
    assert!(depth(CAPACITY, 8) > 100 && depth(CAPACITY, 5000) == 0);
}

#[test]
fn a_message_goes_at_once_if_it_is_not_longer_than_is_said() {
    for start in (0..CAPACITY as u64).step_by(if cfg!(miri) { 1032 } else { 8 }) {
        let (mut producer, _, _) = ring(start);
        let (len, part) = (producer.longest_at_once(), producer.longest_record());
        assert!(len > part && producer.has_room_for_parts(len, part).unwrap());
        let mut rest = len;
        while rest > 0 {
            let this = rest.min(part);
            assert!(put(&mut producer, &vec![0; this], Kind::First, rest), "from {start}");
            producer.publish();
            rest -= this;
        }
    }
}

/// One thread reads the data of another one, several times round the ring. For miri and ThreadSanitizer, which report
/// every unordered byte as an error.
#[test]
fn two_threads_see_what_was_written() {
    const COUNT: usize = if cfg!(miri) { 12 } else { 10_000 };
    let lengths = || (0..COUNT).map(|number| [900, 0, 17, 1016][number % 4]);
    let (mut producer, mut consumer, _) = ring(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (number, len) in lengths().enumerate() {
                let bytes = content(len, number);
                if number % 2 == 0 && producer.send_at_once(&bytes) {
                    continue;
                }
                while !put(&mut producer, &bytes, Kind::Whole, len) {
                    std::thread::yield_now();
                }
                producer.publish();
            }
        });
        for (number, len) in lengths().enumerate() {
            while !consumer.has_header() {
                std::thread::yield_now();
            }
            let record = consumer.take().unwrap();
            let mut bytes = vec![0; len];
            consumer.copy_out(&record, &mut bytes);
            assert_eq!((record.len, bytes), (len, content(len, number)));
            consumer.pass(&record);
            consumer.release_much();
        }
    });
}

#[test]
fn records_are_counted_up_to_the_last_one_published() {
    let (mut producer, mut consumer, _) = ring(CAPACITY as u64 - 64);
    for (sent, len) in [10, 100, 0, 900].into_iter().enumerate() {
        // The second message follows a record that skips the end of the ring.
        let records = sent + usize::from(sent > 1);
        assert!(!consumer.has_records(records + 1));
        assert!(put(&mut producer, &content(len, len), Kind::Whole, len));
        producer.publish();
        assert!(consumer.has_records(records + 1));
    }
    while let Some(record) = consumer.look().unwrap() {
        consumer.pass(&record);
    }
    assert!(!consumer.has_records(1));
}

#[test]
fn parts_are_small_only_if_the_receiver_waits_for_them() {
    let [lane, _] = Lane::private(1 << 20);
    let mut producer = Producer::new(lane, 0);
    assert_eq!(producer.part_bytes(false).unwrap(), PART_BYTES);
    assert_eq!(producer.part_bytes(true).unwrap(), STREAM_PART_BYTES);
    while producer.written <= (1 << 20) / RELEASES as u64 + PART_BYTES as u64 {
        assert!(put(&mut producer, &[0; PART_BYTES], Kind::Whole, PART_BYTES));
    }
    assert_eq!(producer.part_bytes(false).unwrap(), STREAM_PART_BYTES);
}

#[test]
fn a_batch_becomes_visible_together() {
    let (mut producer, mut consumer, _) = ring(8);
    for len in [10, 900, 900, 900] {
        assert!(put(&mut producer, &content(len, len), Kind::Whole, len));
        assert_eq!(consumer.look().unwrap(), None);
    }
    producer.publish();
    for len in [10, 900, 900, 900] {
        let record = consumer.look().unwrap().unwrap();
        assert_eq!(record.len, len);
        consumer.pass(&record);
    }
}
