//! The live view on the terminal: draws an interval after the other, and obeys keys.

use super::live_frame::{LinkOrder, frame};
use super::observation::Observation;
use furlong_console::output::print_more;
use furlong_os::linux::handle::read;
use furlong_os::linux::raw_terminal::RawTerminal;
use furlong_os::wait::is_readable;
use furlong_os::{AsHandle, BorrowedHandle, clock, terminal};
use std::io::{self, Stdin, stdin, stdout};

/// Length of an interval.
const STEP_NS: u64 = 1_000_000_000;

/// The second screen of the terminal, without a cursor. At the end, the first one reappears.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Ctrl-C of a terminal that makes no signal of it.
const CONTROL_C: u8 = 3;

/// Terminal with the live view, until it is dropped.
pub struct Screen {
    keys: Stdin,
    order: LinkOrder,
    shown: Option<Observation>,
    due_ns: u64,
    /// Whether the user has left, or the terminal is closed.
    has_ended: bool,
    _terminal: RawTerminal,
}

impl Screen {
    /// Shows the view.
    ///
    /// # Errors
    /// Returns an error if stdout is not a terminal.
    pub fn open() -> io::Result<Screen> {
        let mut screen = Screen {
            keys: stdin(),
            order: LinkOrder::Cpu,
            shown: None,
            due_ns: clock::now_ns() + STEP_NS,
            has_ended: false,
            _terminal: RawTerminal::new(stdout().as_handle(), ENTER, LEAVE)?,
        };
        screen.draw();
        Ok(screen)
    }

    /// Returns a handle that is readable when a key was pressed.
    pub fn keys(&self) -> BorrowedHandle<'_> {
        self.keys.as_handle()
    }

    /// Returns whether the interval is over.
    pub fn is_due(&self) -> bool {
        clock::now_ns() >= self.due_ns
    }

    /// Shows the interval that is over.
    pub fn show(&mut self, found: Observation) {
        self.shown = Some(found);
        self.due_ns = clock::now_ns() + STEP_NS;
        self.draw();
    }

    /// Obeys the keys that were pressed. Returns whether the view continues.
    pub fn obey(&mut self) -> bool {
        let mut pressed = [0; 64];
        if is_readable(self.keys()) {
            let count = read(self.keys(), &mut pressed).unwrap_or_default();
            self.has_ended |= count == 0;
            for key in &pressed[..count] {
                match key {
                    b'c' => self.order = LinkOrder::Cpu,
                    b'r' => self.order = LinkOrder::Rate,
                    b'l' => self.order = LinkOrder::Latency,
                    b'q' | &CONTROL_C => self.has_ended = true,
                    _ => {}
                }
            }
            self.draw();
        }
        !self.has_ended
    }

    fn draw(&mut self) {
        let size = |measure: fn(BorrowedHandle<'_>) -> Option<usize>| measure(stdout().as_handle());
        let (columns, lines) = (size(terminal::columns).unwrap_or(80), size(terminal::lines).unwrap_or(24));
        // Each line ends with the removal of its former rest. The last one has no end of a line, which would scroll the screen.
        let text = frame(self.shown.as_ref(), self.order, columns, lines).join("\x1b[K\r\n");
        let is_drawn = self.has_ended || print_more(&format!("\x1b[H{text}\x1b[K\x1b[J")).unwrap_or(false);
        self.has_ended |= !is_drawn;
    }
}
