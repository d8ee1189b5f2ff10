//! The session of the trials of one test. They share it because under Wine the start of a cleanup process takes as long
//! as a trial.

use furlong_bench::ChildProgram;
use furlong_bench::session::{Options, Session};
use libtest_mimic::Failed;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static OPEN: RefCell<Option<Rc<Session>>> = const { RefCell::new(None) };
}

/// Returns the session of the current test, in which this binary runs all roles. The first trial opens it.
pub fn session() -> Result<Rc<Session>, Failed> {
    if let Some(session) = OPEN.with_borrow(Clone::clone) {
        return Ok(session);
    }
    let program = ChildProgram::own()?;
    let session = Rc::new(Session::open(Options { program, file_folder: None, handle_signals: false })?);
    OPEN.set(Some(session.clone()));
    Ok(session)
}

/// Closes the session, if it is open: the next test must not see the files in its directory.
pub fn close() {
    OPEN.set(None);
}
