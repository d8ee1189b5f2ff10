//! Who runs when: most tests beside others, those that compare times or have processes at once of their own alone.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

/// How many wait to be alone before others wait for them. A test that is to be alone waits for the end of all others, in which a
/// processor idles: two that follow each other share that time.
const WAITING_TOGETHER: usize = 2;

/// Tests that are running, and those that wait until none is.
struct Turns {
    running: usize,
    alone: bool,
    waiting_to_be_alone: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { running: 0, alone: false, waiting_to_be_alone: 0 });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// The turn of the test that this thread runs.
    static HELD: RefCell<Weak<Turn>> = const { RefCell::new(Weak::new()) };
}

/// The right to run, until it is dropped.
pub struct Turn {
    alone: bool,
}

impl Turn {
    /// The turn that this test has already, else one beside others.
    pub fn beside_others() -> Arc<Turn> {
        let held = HELD.with_borrow(Weak::upgrade);
        held.unwrap_or_else(|| Turn::take(false))
    }

    /// Waits until no other test runs, and lets none begin.
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
