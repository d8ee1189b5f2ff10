//! Both ends in one process: the results and errors of each call.

mod common;

use common::{PATIENCE, WAITINGS, content, length, pair, processor_time};
use furlong_channel::{Channel, Error, LongMessage, Options, TrustedPeer, WaitStrategy};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

fn small() -> Options {
    Options::new().capacity(4096).longest_message(20_000)
}

fn trusted(options: &Options) -> [Channel<TrustedPeer>; 2] {
    // SAFETY: both ends belong to this library.
    pair(options).map(|end| unsafe { end.trust() })
}

/// The next step of a test.
#[derive(Debug, Clone)]
enum Step {
    Send(usize),
    SendAll(Vec<usize>),
    SendWithTimeout(usize),
    Loan { len: usize, is_committed: bool },
    Receive { room: usize },
    ReceiveVec,
    ReceiveEach(usize),
    ReceiveWithTimeout,
    Peek { is_released: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = || prop_oneof![0..64usize, 0..1100usize, 0..6000usize];
    let step = prop_oneof![
        3 => len().prop_map(Step::Send),
        2 => proptest::collection::vec(len(), 0..5).prop_map(Step::SendAll),
        1 => len().prop_map(Step::SendWithTimeout),
        2 => (0..1016usize, any::<bool>()).prop_map(|(len, is_committed)| Step::Loan { len, is_committed }),
        3 => (0..8000usize).prop_map(|room| Step::Receive { room }),
        1 => Just(Step::ReceiveVec),
        1 => (1..5usize).prop_map(Step::ReceiveEach),
        1 => Just(Step::ReceiveWithTimeout),
        2 => any::<bool>().prop_map(|is_released| Step::Peek { is_released }),
    ];
    proptest::collection::vec(step, 1..100)
}

fn starts() -> impl Strategy<Value = u64> {
    let near = |end: u64| (0..4096u64).prop_map(move |back| end.wrapping_sub(8 * back));
    prop_oneof![Just(0), near(1 << 32), near(0)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 3 } else { 200 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any mix of all sending and receiving calls behaves like a queue.
    #[test]
    fn a_channel_is_a_queue_of_messages(start in starts(), steps in steps()) {
        let [mut first, mut second] = trusted(&small().start(start));
        let ((sender, _), (_, receiver)) = (first.both(), second.both());
        let mut model: VecDeque<Vec<u8>> = VecDeque::new();
        // Whether the ring may contain parts of abandoned messages.
        let mut has_parts = false;
        let mut number = 0;
        let mut next = |len: usize| {
            number += 1;
            content(number, len)
        };
        let timeout = Duration::from_nanos(1);
        for step in steps {
            match step {
                Step::Send(len) => {
                    let message = next(len);
                    match sender.try_send(&message) {
                        Ok(()) => model.push_back(message),
                        Err(Error::WouldBlock) => {
                            prop_assert!(!model.is_empty() || has_parts, "an empty ring is full");
                        }
                        Err(Error::TooLong { most, .. }) => prop_assert!(len > most && most > 1016),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                Step::SendAll(lengths) => {
                    let messages: Vec<_> = lengths.iter().map(|len| next(len % 1017)).collect();
                    let sent = sender.try_send_all(&messages).unwrap();
                    prop_assert!(sent > 0 || messages.is_empty() || !model.is_empty() || has_parts);
                    model.extend(messages.into_iter().take(sent));
                }
                Step::SendWithTimeout(len) => {
                    let message = next(len);
                    match sender.send_timeout(&message, timeout) {
                        Ok(()) => model.push_back(message),
                        Err(Error::TimedOut) => {
                            prop_assert!(!model.is_empty() || len > 1016 || has_parts);
                            has_parts = true;
                        }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                Step::Loan { len, is_committed } => match sender.try_loan(len) {
                    Ok(mut loan) => {
                        let message = next(len);
                        loan.copy_from_slice(&message);
                        if is_committed {
                            loan.commit();
                            model.push_back(message);
                        }
                    }
                    Err(Error::WouldBlock) => prop_assert!(!model.is_empty() || has_parts),
                    other => prop_assert!(false, "{other:?}"),
                },
                Step::Receive { room } => {
                    let mut buffer = vec![0; room];
                    match receiver.try_recv(&mut buffer) {
                        Ok(len) => prop_assert_eq!(Some(buffer[..len].to_vec()), model.pop_front()),
                        Err(Error::WouldBlock) => {
                            prop_assert!(model.is_empty());
                            has_parts = false;
                        }
                        Err(Error::BufferTooSmall { len }) => {
                            let is_next = model.front().is_some_and(|front| front.len() == len);
                            prop_assert!(len > room && (is_next || has_parts));
                        }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                Step::ReceiveVec => {
                    if !model.is_empty() {
                        prop_assert_eq!(Some(receiver.recv_vec().unwrap()), model.pop_front());
                    }
                }
                Step::ReceiveEach(most) => {
                    let mut came = Vec::new();
                    match receiver.try_recv_each(most, |message| came.push(message.to_vec())) {
                        Ok(count) => prop_assert!(count == came.len() && count == most.min(model.len())),
                        Err(Error::WouldBlock) => prop_assert!(model.is_empty() && came.is_empty()),
                        other => prop_assert!(false, "{other:?}"),
                    }
                    for message in came {
                        prop_assert_eq!(Some(message), model.pop_front());
                    }
                }
                Step::ReceiveWithTimeout => {
                    let mut buffer = vec![0; 8000];
                    match receiver.recv_timeout(&mut buffer, timeout) {
                        Ok(len) => prop_assert_eq!(Some(buffer[..len].to_vec()), model.pop_front()),
                        Err(Error::TimedOut) => prop_assert!(model.is_empty() || has_parts),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                Step::Peek { is_released } => match receiver.try_peek() {
                    Ok(message) => {
                        prop_assert_eq!(Some(&message[..]), model.front().map(|front| &front[..]));
                        if is_released {
                            message.release();
                            model.pop_front();
                        }
                    }
                    Err(Error::WouldBlock) => prop_assert!(model.is_empty()),
                    other => prop_assert!(false, "{other:?}"),
                },
            }
        }
    }
}

/// A message that is longer than the ring needs a receiver that reads during the call.
#[test]
fn messages_of_any_length_stream_through_a_small_ring() {
    const COUNT: usize = if cfg!(miri) { 30 } else { 1000 };
    for waiting in WAITINGS {
        let [first, second] = pair(&small().waiting(waiting));
        let ((mut sender, _keep), (_keep_too, mut receiver)) = (first.split(), second.split());
        let sending = thread::spawn(move || {
            for number in 0..COUNT / 2 {
                sender.send(&content(number, length(number))).unwrap();
            }
            let all: Vec<_> = (COUNT / 2..COUNT).map(|number| content(number, length(number))).collect();
            sender.send_all(&all).unwrap();
        });
        let mut buffer = vec![0; 20_000];
        for number in 0..COUNT {
            let due = content(number, length(number));
            match number % 3 {
                0 => {
                    let len = receiver.recv(&mut buffer).unwrap();
                    assert_eq!(buffer[..len], due);
                }
                1 => assert_eq!(receiver.recv_vec().unwrap(), due),
                _ => loop {
                    // Parts arrive one at a time.
                    match receiver.recv_timeout(&mut buffer, Duration::from_nanos(1)) {
                        Ok(len) => break assert_eq!(buffer[..len], due),
                        Err(Error::TimedOut) => {}
                        other => panic!("{other:?}"),
                    }
                },
            }
        }
        sending.join().unwrap();
        expect!(receiver.recv(&mut buffer), Err(Error::Closed));
    }
}

#[test]
fn what_was_begun_and_not_sent_in_time_never_arrives() {
    for waiting in WAITINGS {
        let [mut first, mut second] = pair(&small().waiting(waiting));
        first.send(b"before").unwrap();
        expect!(first.send_timeout(&[7; 15_000], Duration::from_millis(5)), Err(Error::TimedOut));
        assert_eq!(second.recv_vec().unwrap(), b"before");
        let mut buffer = [0; 15_000];
        expect!(second.try_recv(&mut buffer), Err(Error::WouldBlock));
        first.send(b"after").unwrap();
        assert_eq!(second.recv_vec().unwrap(), b"after");
    }
}

#[test]
fn a_call_waits_as_long_as_it_was_told_and_no_longer() {
    const TIME: Duration = Duration::from_millis(30);
    for waiting in WAITINGS {
        let [mut first, mut second] = pair(&small().waiting(waiting));
        let begin = Instant::now();
        expect!(second.recv_timeout(&mut [0; 8], TIME), Err(Error::TimedOut));
        assert!(begin.elapsed() >= TIME && begin.elapsed() < PATIENCE);
        while first.try_send(&[1; 500]).is_ok() {}
        let begin = Instant::now();
        expect!(first.send_timeout(&[1; 500], TIME), Err(Error::TimedOut));
        assert!(begin.elapsed() >= TIME && begin.elapsed() < PATIENCE);
    }
}

#[test]
fn who_is_too_long_is_told_by_how_much() {
    let [mut first, mut second] = pair(&small().longest_message(100));
    expect!(first.send(&[0; 101]), Err(Error::TooLong { len: 101, most: 100 }));
    expect!(first.try_send(&[0; 101]), Err(Error::TooLong { len: 101, most: 100 }));
    first.send(&[5; 100]).unwrap();
    expect!(second.recv(&mut [0; 99]), Err(Error::BufferTooSmall { len: 100 }));
    assert_eq!(second.recv_vec().unwrap(), [5; 100]);
    let [mut lender, _other] = trusted(&small());
    let (lender, _) = lender.both();
    assert_eq!(lender.longest_loan(), 1016);
    expect!(lender.try_loan(1017), Err(Error::TooLong { len: 1017, most: 1016 }));
}

#[test]
fn a_batch_fails_where_it_fails_and_not_before() {
    let [mut first, mut second] = pair(&small().longest_message(100));
    let (sender, _) = first.both();
    expect!(sender.send_all([&b"one"[..], b"two", &[0; 101], b"four"]), Err(Error::TooLong { .. }));
    assert_eq!(second.recv_vec().unwrap(), b"one");
    assert_eq!(second.recv_vec().unwrap(), b"two");
    expect!(second.try_recv(&mut [0; 8]), Err(Error::WouldBlock));
}

#[test]
fn batch_that_does_not_fit_in_time_arrives_up_to_a_message() {
    for waiting in WAITINGS {
        let [mut first, mut second] = pair(&small().waiting(waiting));
        let messages = (0..20).map(|number| content(number, if number == 10 { 2000 } else { 500 }));
        let sent = first.both().0.send_all_timeout(messages, Duration::from_millis(5));
        expect!(sent, Err(Error::TimedOut));
        let mut came = 0;
        let mut buffer = [0; 2000];
        while let Ok(len) = second.try_recv(&mut buffer) {
            assert_eq!(buffer[..len], content(came, 500));
            came += 1;
        }
        assert!((5..10).contains(&came), "{came}");
    }
}

#[test]
fn what_was_sent_is_received_before_the_end() {
    for waiting in WAITINGS {
        let [mut first, mut second] = pair(&small().waiting(waiting));
        first.send(b"last words").unwrap();
        drop(first);
        assert_eq!(second.recv_vec().unwrap(), b"last words");
        expect!(second.recv_vec(), Err(Error::Closed));
        let full = loop {
            if let Err(error) = second.send_timeout(&[1; 500], PATIENCE) {
                break error;
            }
        };
        expect!(full, Error::Closed);
    }
}

/// Closes one end while the other one waits.
fn close_while_waiting(waiting: WaitStrategy, wait: fn(&mut Channel) -> Error) {
    let [mut first, second] = pair(&small().waiting(waiting));
    let waiter = thread::spawn(move || wait(&mut first));
    thread::sleep(Duration::from_millis(20));
    drop(second);
    expect!(waiter.join().unwrap(), Error::Closed);
}

#[test]
fn who_waits_hears_that_the_other_end_closes() {
    for waiting in WAITINGS {
        close_while_waiting(waiting, |end| end.recv_timeout(&mut [0; 8], PATIENCE).unwrap_err());
        close_while_waiting(waiting, |end| {
            loop {
                if let Err(error) = end.send_timeout(&[1; 900], PATIENCE) {
                    break error;
                }
            }
        });
    }
}

/// A long wait uses almost no CPU time, and is woken.
#[test]
#[cfg_attr(miri, ignore = "miri does not count processor time")]
fn a_sleeper_uses_no_processor_time() {
    const QUIET: Duration = Duration::from_millis(400);
    for waiting in [WaitStrategy::Park, WaitStrategy::Adaptive] {
        let [mut first, mut second] = pair(&small().waiting(waiting));
        let waiter = thread::spawn(move || {
            let before = processor_time();
            second.recv_vec().unwrap();
            processor_time() - before
        });
        thread::sleep(QUIET);
        first.send(b"wake up").unwrap();
        let used = waiter.join().unwrap();
        assert!(used < QUIET / 20, "{waiting:?}: {used:?} of {QUIET:?}");
    }
}

#[test]
fn both_ways_work_at_once_from_threads_of_their_own() {
    const COUNT: usize = if cfg!(miri) { 20 } else { 300 };
    for waiting in WAITINGS {
        let ends = pair(&small().waiting(waiting));
        let threads: Vec<_> = ends
            .into_iter()
            .map(|end| {
                thread::spawn(move || {
                    let (mut sender, mut receiver) = end.split();
                    let sending = thread::spawn(move || {
                        (0..COUNT).try_for_each(|number| sender.send(&content(number, length(number))))
                    });
                    for number in 0..COUNT {
                        assert_eq!(receiver.recv_vec().unwrap(), content(number, length(number)));
                    }
                    sending.join().unwrap().unwrap();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn long_message_without_waiting_arrives_whole_or_not_at_all() {
    let [mut first, mut second] = pair(&small());
    let (sender, receiver) = (first.both().0, second.both().1);
    let mut buffer = [0; 20_000];
    for number in 0..3 {
        let mut long = LongMessage::new(content(number, 9000 + number));
        assert_eq!(sender.try_send_long(&mut long), Err(Error::WouldBlock));
        if number == 1 {
            // Abandons the message.
            sender.send(&content(7, 100)).unwrap();
            assert_eq!(receiver.recv_vec().unwrap(), content(7, 100));
        }
        while sender.try_send_long(&mut long).is_err() {
            assert_eq!(receiver.try_recv(&mut buffer), Err(Error::WouldBlock));
        }
        assert_eq!(receiver.try_recv(&mut buffer), Ok(9000 + number));
        assert!(buffer[..9000 + number] == content(number, 9000 + number));
    }
}
