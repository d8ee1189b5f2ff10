//! What surrounds the trials of one test. They share it: under Wine, a janitor for each takes as long as the trial does.

use furlong_bench::ChildProgram;
use furlong_bench::session::{Options, Session};
use libtest_mimic::Failed;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static OPEN: RefCell<Option<Rc<Session>>> = const { RefCell::new(None) };
}

/// The session of the test that runs, in which this binary plays all roles; it is opened for the first trial.
pub fn session() -> Result<Rc<Session>, Failed> {
    if let Some(session) = OPEN.with_borrow(Clone::clone) {
        return Ok(session);
    }
    let program = ChildProgram::own()?;
    let session = Rc::new(Session::open(Options { program, file_folder: None, handle_signals: false })?);
    OPEN.set(Some(session.clone()));
    Ok(session)
}

/// Closes it, if there is one: what a test leaves in its folder is not for the next one.
pub fn close() {
    OPEN.set(None);
}
