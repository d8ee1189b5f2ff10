//! A stack that does not depend on RLIMIT_STACK, for programs that were started with a small limit.

use crate::linux::limits::{Resource, current};
use crate::linux::memory::{Pages, page_bytes};
use std::mem::MaybeUninit;

/// Smallest sufficient RLIMIT_STACK. Building the command of clap needs 500 KiB without optimisations.
const ENOUGH: u64 = 2 << 20;

/// Size of the stack that replaces a small one.
const BYTES: usize = 4 << 20;

/// Work that is passed to the other stack, and its result.
struct Task<F, T> {
    work: Option<F>,
    result: Option<T>,
}

/// Calls `work`, on a stack of 4 MiB if RLIMIT_STACK is below 2 MiB. It starts no thread, because only a process with one thread
/// can enter namespaces. Children would also be killed when the thread that has started them exits.
pub fn with_enough<F: FnOnce() -> T, T>(work: F) -> T {
    let is_small = current(Resource::Stack).is_ok_and(|bytes| bytes < ENOUGH);
    let stack = if is_small { Pages::new(BYTES).ok() } else { None };
    let Some(mut stack) = stack else { return work() };
    let mut task = Task { work: Some(work), result: None };
    switched(&mut stack, &mut task);
    // If the other stack cannot be allocated, the small one is used.
    let Task { work, result } = task;
    result.unwrap_or_else(|| work.expect("work that was not called")())
}

/// Calls the task's work on this stack, if the switch succeeds.
fn switched<F: FnOnce() -> T, T>(stack: &mut Pages, task: &mut Task<F, T>) {
    let address = std::ptr::from_mut(task).expose_provenance() as u64;
    let [mut here, mut there] = [const { MaybeUninit::<libc::ucontext_t>::uninit() }; 2];
    // SAFETY: `begin` is called with the two halves of the task's address, on memory that outlives the call; it returns to
    // `here`, which is filled when the stacks are switched. The lowest page of the stack is a guard.
    unsafe {
        libc::mprotect(stack.as_mut_ptr().cast(), page_bytes(), libc::PROT_NONE);
        if libc::getcontext(there.as_mut_ptr()) != 0 {
            return;
        }
        let context = &mut *there.as_mut_ptr();
        context.uc_stack.ss_sp = stack.as_mut_ptr().cast();
        context.uc_stack.ss_size = stack.len();
        context.uc_link = here.as_mut_ptr();
        let begin: extern "C" fn(u32, u32) = begin::<F, T>;
        let begin = std::mem::transmute::<extern "C" fn(u32, u32), extern "C" fn()>(begin);
        libc::makecontext(context, begin, 2, address as u32, (address >> 32) as u32);
        libc::swapcontext(here.as_mut_ptr(), context);
    }
}

/// Runs the task on the other stack.
extern "C" fn begin<F: FnOnce() -> T, T>(low: u32, high: u32) {
    let address = u64::from(high) << 32 | u64::from(low);
    let task = std::ptr::with_exposed_provenance_mut::<Task<F, T>>(address as usize);
    // SAFETY: this is the address of a task that the caller of `swapcontext` borrows until this function returns.
    let task = unsafe { &mut *task };
    task.result = task.work.take().map(|work| work());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses 16 KiB of stack per level.
    fn deep(levels: usize) -> usize {
        let filled = std::hint::black_box([levels as u8; 16 << 10]);
        if levels == 0 { 0 } else { usize::from(filled[levels] == levels as u8) + deep(levels - 1) }
    }

    #[test]
    fn work_returns_its_result_from_the_other_stack() {
        let mut stack = Pages::new(BYTES).unwrap();
        let mut task = Task { work: Some(|| deep(100)), result: None };
        switched(&mut stack, &mut task);
        assert_eq!((task.result, task.work.is_none()), (Some(100), true));
        assert_eq!(with_enough(|| deep(10)), 10);
    }
}
