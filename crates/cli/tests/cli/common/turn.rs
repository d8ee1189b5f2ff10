//! Turns of tests: most tests run in parallel. Tests that compare times or count system-wide changes run alone.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

/// The number of tests waiting to run alone that makes new parallel tests wait. A test that runs alone waits for the
/// end of all others, which leaves a CPU idle; two in succession share that time.
const WAITING_TOGETHER: usize = 2;

/// The running tests, and the tests that wait to run alone.
struct Turns {
    running: usize,
    alone: bool,
    waiting_to_be_alone: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { running: 0, alone: false, waiting_to_be_alone: 0 });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// The turn of the test on this thread.
    static HELD: RefCell<Weak<Turn>> = const { RefCell::new(Weak::new()) };
}

/// The right to run, held until it is dropped.
pub struct Turn {
    alone: bool,
}

impl Turn {
    /// Returns the current turn of this test, otherwise a new turn in parallel with other tests.
    pub fn beside_others() -> Arc<Turn> {
        let held = HELD.with_borrow(Weak::upgrade);
        held.unwrap_or_else(|| Turn::take(false))
    }

    /// Waits until no other test runs, and prevents others from starting.
    pub fn alone() -> Arc<Turn> {
        assert!(HELD.with_borrow(Weak::upgrade).is_none(), "ask to be alone before anything is begun");
        Turn::take(true)
    }

    fn take(alone: bool) -> Arc<Turn> {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.waiting_to_be_alone += usize::from(alone);
        let must_wait = |turns: &mut Turns| {
            turns.alone
                || if alone { turns.running > 0 } else { turns.waiting_to_be_alone >= WAITING_TOGETHER }
        };
        turns = CHANGED.wait_while(turns, must_wait).unwrap_or_else(PoisonError::into_inner);
        turns.waiting_to_be_alone -= usize::from(alone);
        turns.running += 1;
        turns.alone = alone;
        let turn = Arc::new(Turn { alone });
        HELD.set(Arc::downgrade(&turn));
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.running -= 1;
        turns.alone &= !self.alone;
        CHANGED.notify_all();
    }
}
