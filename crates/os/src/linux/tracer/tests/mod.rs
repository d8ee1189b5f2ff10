//! The tracer, with children whose system calls are known.

mod attaching;
mod calls;
mod refusals;
mod signals;

use super::{Caller, Tracer};
use crate::clock;
use crate::linux::process::{Child, Exit};

/// Attends until `over` returns `true`, for at most ten seconds.
fn attend_until(tracer: &mut Tracer, mut each: impl FnMut(Caller, i64), mut over: impl FnMut() -> bool) {
    let deadline_ns = clock::now_ns() + 10_000_000_000;
    while !over() {
        assert!(clock::now_ns() < deadline_ns, "this takes too long");
        tracer.attend(&mut each).unwrap();
        std::thread::yield_now();
    }
}

fn ended(tracer: &mut Tracer, child: &mut Child) -> Option<Exit> {
    attend_until(tracer, |_, _| (), || child.try_wait().is_some());
    child.try_wait()
}

/// Returns a field of the kernel's status of a process.
fn status(pid: i32, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    text.lines().find_map(|line| line.strip_prefix(field)).unwrap().trim().to_owned()
}
