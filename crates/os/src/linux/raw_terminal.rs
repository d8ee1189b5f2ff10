//! A terminal that passes on each key at once, and gets its former state back however this process ends.

use crate::error::check;
use crate::linux::handle::read;
use crate::linux::output::write_all;
use crate::linux::pipe::pipe;
use crate::linux::process::{Bond, Child, fork};
use std::io::{self, stderr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Terminal without echo, line buffer, job control keys and flow control keys, until this is dropped. A child process restores it if
/// this process is killed.
pub struct RawTerminal {
    terminal: OwnedFd,
    states: States,
    // The child is killed before its pipe closes, which would make it restore the terminal a second time.
    _keeper: Child,
    _life: OwnedFd,
}

/// State of a terminal before and during its raw mode.
#[derive(Clone, Copy)]
struct States {
    before: libc::termios,
    raw: libc::termios,
    /// Text that undoes the text written at the beginning.
    leave: &'static str,
}

impl RawTerminal {
    /// Changes a terminal, and writes `enter` to it. At the end, `leave` is written.
    ///
    /// # Errors
    /// Returns an error if the descriptor is not a terminal, or the child process cannot be started.
    pub fn new(terminal: BorrowedFd<'_>, enter: &str, leave: &'static str) -> io::Result<RawTerminal> {
        let terminal = terminal.try_clone_to_owned()?;
        let before = state(terminal.as_fd())?;
        let mut raw = before;
        raw.c_iflag &= !libc::IXON;
        raw.c_lflag &= !(libc::ICANON | libc::ECHO);
        for (key, value) in [(libc::VSUSP, 0), (libc::VQUIT, 0), (libc::VMIN, 1), (libc::VTIME, 0)] {
            raw.c_cc[key] = value;
        }
        let states = States { before, raw, leave };
        let (reader, writer) = pipe()?;
        let inherit = [terminal.as_raw_fd(), reader.as_raw_fd()];
        // A separate session, because a background process of the terminal's session would be stopped when it restores the state.
        let keeper = fork(&inherit, stderr().as_fd(), Bond::Outlives, || {
            let _ = read(reader.as_fd(), &mut [0]);
            states.restore(terminal.as_fd());
            0
        })?;
        let raw_terminal = RawTerminal { terminal, states, _keeper: keeper, _life: writer };
        set_state(raw_terminal.terminal.as_fd(), &raw)?;
        // A terminal that is closed now is noticed at the next output.
        let _ = write_all(raw_terminal.terminal.as_fd(), enter.as_bytes());
        Ok(raw_terminal)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        self.states.restore(self.terminal.as_fd());
    }
}

impl States {
    /// Restores the terminal, unless another program, such as the shell, has changed its state in between. A closed terminal has no
    /// state.
    fn restore(&self, terminal: BorrowedFd<'_>) {
        let _ = write_all(terminal, self.leave.as_bytes());
        let form = |state: &libc::termios| (state.c_iflag, state.c_lflag, state.c_cc);
        if state(terminal).is_ok_and(|now| form(&now) == form(&self.raw)) {
            let _ = set_state(terminal, &self.before);
        }
    }
}

fn state(terminal: BorrowedFd<'_>) -> io::Result<libc::termios> {
    let mut state = std::mem::MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: the C library fills the state, for which zeroes are a valid value.
    check(unsafe { libc::tcgetattr(terminal.as_raw_fd(), state.as_mut_ptr()) })?;
    // SAFETY: as above.
    Ok(unsafe { state.assume_init() })
}

/// Sets the state, and drops keys that were not read.
fn set_state(terminal: BorrowedFd<'_>, state: &libc::termios) -> io::Result<()> {
    // SAFETY: the C library only reads the state. TCSAFLUSH would wait for a reader of the output, which may not read.
    check(unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, state) })?;
    // SAFETY: plain integers.
    check(unsafe { libc::tcflush(terminal.as_raw_fd(), libc::TCIFLUSH) }).map(drop)
}
