//! Asynchronous calls: order under load, cancelled futures, deaths, and closed ends.

use furlong_channel::tokio::{Channel, Listener, Receiver, Sender};
use furlong_channel::{Error, OneWayDescriptors, Options, WaitStrategy};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

const PATIENCE: Duration = Duration::from_secs(60);

fn name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("@furlong-channel-futures-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn options() -> Options {
    Options::new().capacity(8192).longest_message(40_000)
}

fn length(number: usize) -> usize {
    let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (mixed % if number.is_multiple_of(7) { 40_000 } else { 300 }) as usize
}

fn content(number: usize) -> Vec<u8> {
    (0..length(number)).map(|at| (at * 31 + at / 256 + number * 7) as u8).collect()
}

fn runtimes() -> [Runtime; 2] {
    let one = Builder::new_current_thread().enable_all().build();
    let several = Builder::new_multi_thread().worker_threads(3).enable_all().build();
    [one.expect("a runtime"), several.expect("a runtime")]
}

/// Runs a test in each kind of runtime, for a limited time.
fn run<F: Future<Output = ()>>(test: impl Fn() -> F) {
    for runtime in runtimes() {
        runtime.block_on(async { tokio::time::timeout(PATIENCE, test()).await.expect("the test hangs") });
    }
}

fn one_way(options: &Options) -> (Sender, Receiver) {
    let [one, other] = OneWayDescriptors::pair(options).expect("a pair");
    let sender = furlong_channel::Sender::from_descriptors(one, options).and_then(Sender::new);
    let receiver = furlong_channel::Receiver::from_descriptors(other, options).and_then(Receiver::new);
    (sender.expect("a sender"), receiver.expect("a receiver"))
}

async fn connected() -> (Channel, Channel) {
    let name = name();
    let listener = Listener::bind(&name, &options()).expect("a listener");
    let connecting = tokio::spawn(async move { Channel::connect(&name, &options()).await });
    let end = listener.accept().await.expect("a client");
    (end, connecting.await.expect("no panic").expect("a channel"))
}

/// Polls a future `polls` times, and drops it if it is not ready then.
async fn cancelled<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

#[test]
fn messages_of_any_length_arrive_in_order_in_many_channels() {
    const CHANNELS: usize = 20;
    run(|| async {
        let tasks: Vec<_> = (0..CHANNELS)
            .flat_map(|channel| {
                let (mut sender, mut receiver) = one_way(&options());
                let sending = tokio::spawn(async move {
                    for number in channel..channel + 500 {
                        sender.send(&content(number)).await.expect("room");
                    }
                });
                let receiving = tokio::spawn(async move {
                    let mut buffer = vec![0; 40_000];
                    for number in channel..channel + 500 {
                        let message = match number % 2 {
                            0 => receiver.recv_vec().await.expect("a message"),
                            _ => receiver
                                .recv(&mut buffer)
                                .await
                                .map(|len| buffer[..len].to_vec())
                                .expect("one"),
                        };
                        assert!(message == content(number), "message {number} of {channel}");
                    }
                    assert_eq!(receiver.recv_vec().await, Err(Error::Closed));
                });
                [sending, receiving]
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
}

/// Futures are dropped at many moments. Each sent message arrives once, and no other message arrives.
#[test]
fn dropped_futures_lose_and_repeat_no_message() {
    run(|| async {
        let (mut sender, mut receiver) = one_way(&options());
        let sending = tokio::spawn(async move {
            let mut dropped = 0;
            for number in 0..2000 {
                // A long message needs more polls.
                let mut polls = 1 + number % 3;
                while cancelled(sender.send(&content(number)), polls).await.is_none() {
                    dropped += 1;
                    polls *= 2;
                    // The receiver must not get the abandoned message that this one replaces.
                    if number % 5 == 0 {
                        sender.send(b"between").await.expect("room");
                    }
                }
            }
            dropped
        });
        let (mut dropped, mut number) = (0, 0);
        while number < 2000 {
            match cancelled(receiver.recv_vec(), 1 + number % 2).await {
                None => dropped += 1,
                Some(message) => {
                    let message = message.expect("a message");
                    if message != b"between" {
                        assert!(message == content(number), "message {number}");
                        number += 1;
                    }
                }
            }
        }
        let dropped_sending = sending.await.expect("no panic");
        assert!(dropped > 0 && dropped_sending > 0, "{dropped} {dropped_sending}");
        assert_eq!(receiver.recv_vec().await, Err(Error::Closed));
    });
}

#[test]
fn close_is_reported_to_either_end() {
    run(|| async {
        let (mut end, other) = connected().await;
        let (mut sender, mut receiver) = end_of(other);
        end.send(b"last words").await.expect("room");
        let closed = tokio::spawn(async move { sender.closed().await });
        tokio::task::yield_now().await;
        drop(end);
        closed.await.expect("no panic").expect("the end");
        assert_eq!(receiver.recv_vec().await.expect("a message"), b"last words");
        assert_eq!(receiver.recv_vec().await, Err(Error::Closed));
        let (mut sender, receiver) = one_way(&options());
        let sending = tokio::spawn(async move { sender.send(&[0; 30_000]).await });
        tokio::task::yield_now().await;
        drop(receiver);
        assert_eq!(sending.await.expect("no panic"), Err(Error::Closed));
    });
}

fn end_of(channel: Channel) -> (Sender, Receiver) {
    channel.split()
}

#[test]
fn end_that_busy_waits_is_rejected() {
    run(|| async {
        let options = options().waiting(WaitStrategy::Spin);
        let [one, _other] = OneWayDescriptors::pair(&options).expect("a pair");
        let end = furlong_channel::Sender::from_descriptors(one, &options).expect("an end");
        assert!(matches!(Sender::new(end), Err(Error::System(_))));
    });
}

/// An endless stream in one task does not starve the other tasks of its thread.
#[test]
fn busy_channel_lets_other_tasks_run() {
    let [runtime, _] = runtimes();
    runtime.block_on(async {
        let (mut sender, mut receiver) = one_way(&options());
        let sending = std::thread::spawn(move || {
            let end = sender.get_mut();
            while end.send(&[0; 100]).is_ok() {}
        });
        let receiving = tokio::spawn(async move { while receiver.recv_vec().await.is_ok() {} });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        receiving.abort();
        let _ = receiving.await;
        sending.join().expect("no panic");
    });
}

#[test]
fn one_way_clients_are_accepted() {
    run(|| async {
        let (name, options) = (name(), options());
        let listener = Listener::bind(&name, &options).expect("a listener");
        let connecting =
            tokio::task::spawn_blocking(move || furlong_channel::Sender::connect(&name, &options));
        let mut receiver = Receiver::new(listener.accept_one_way().await.expect("a client")).expect("an end");
        let mut sender = Sender::new(connecting.await.expect("no panic").expect("an end")).expect("an end");
        sender.send(b"hello").await.expect("room");
        assert_eq!(receiver.recv_vec().await.expect("a message"), b"hello");
        let end = sender.into_inner();
        assert!(!end.is_closed());
        drop(receiver.into_inner());
        assert!(end.is_closed());
    });
}

/// The ring has room for the whole message, so the sender never waits for the receiver.
#[test]
fn long_message_lets_other_tasks_run() {
    run(|| async {
        let (mut sender, mut receiver) = one_way(&Options::new().capacity(16 << 20));
        let message = vec![7; 12 << 20];
        assert!(cancelled(sender.send(&message), 1).await.is_none(), "one poll has sent all");
        let receiving = tokio::spawn(async move { receiver.recv_vec().await });
        sender.send(&message).await.expect("room");
        assert!(receiving.await.expect("no panic").expect("a message") == message);
    });
}
