//! Ends that never wait for long.

use super::{PATIENCE, WAITINGS, repeat, small};
use crate::common::{Process, pair, start};
use crate::expect;
use furlong_channel::{Channel, Error, WaitStrategy};
use std::time::Duration;

/// Returns a channel whose other process was killed.
fn bereaved(waiting: WaitStrategy) -> Channel {
    let (child, end) = start("idle", &small(waiting));
    drop::<Process>(child);
    end
}

fn goes_on(error: &Error) -> bool {
    matches!(error, Error::TimedOut | Error::WouldBlock)
}

#[test]
fn short_timeouts_report_a_death() {
    for waiting in WAITINGS {
        for timeout in [10, 50, 1_000, 10_000, 30_000].map(Duration::from_micros) {
            let mut end = bereaved(waiting);
            let error = repeat(|| end.recv_timeout(&mut [0; 8], timeout), goes_on);
            assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}, {timeout:?}: {error:?}");
            let error = repeat(|| end.send_timeout(&[0; 900], timeout), goes_on);
            assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}, {timeout:?}: {error:?}");
        }
    }
}

#[test]
fn calls_that_do_not_wait_report_a_death() {
    for waiting in WAITINGS {
        let mut end = bereaved(waiting);
        let error = repeat(|| end.try_recv(&mut [0; 8]), goes_on);
        assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}: {error:?}");
        let mut end = bereaved(waiting);
        let error = repeat(|| end.both().1.try_recv_each(8, |_| ()), goes_on);
        assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}: {error:?}");
        for len in [900, 2500] {
            let mut end = bereaved(waiting);
            let error = repeat(|| end.try_send(&vec![0; len]), goes_on);
            assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}, {len}: {error:?}");
        }
        let mut end = bereaved(waiting);
        let error = repeat(|| end.both().0.try_send_all([[0; 900]; 2]), goes_on);
        assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}: {error:?}");
    }
}

#[test]
fn calls_that_do_not_wait_report_an_orderly_close() {
    for waiting in WAITINGS {
        let [mut first, mut second] = pair(&small(waiting));
        first.send(b"last words").unwrap();
        drop(first);
        assert_eq!(second.try_recv(&mut [0; 10]).unwrap(), 10);
        expect!(second.try_recv(&mut [0; 10]), Err(Error::Closed));
        expect!(second.both().1.try_recv_each(2, |_| ()), Err(Error::Closed));
        expect!(second.try_send(&[0; 10]), Err(Error::Closed));
        expect!(second.try_send(&[0; 5000]), Err(Error::Closed));
        expect!(second.both().0.try_send_all([[0; 10]]), Err(Error::Closed));
        expect!(second.send_timeout(&[0; 10], PATIENCE), Err(Error::Closed));
    }
}
