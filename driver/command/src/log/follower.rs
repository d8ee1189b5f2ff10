//! Reading lines as they come, until something ends it.

use super::event::Line;
use anyhow::Context;
use furlong_os::clock::now_ns;
use furlong_os::linux::signal;
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::time::Duration;

/// How long to wait for an event at most: some kernels do not wake those who wait for a trace.
const POLL_INTERVAL_MS: u64 = 100;

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// As many lines as were asked for were printed.
    LineLimit,
    /// The time is over.
    TimeLimit,
    /// Nobody reads what is printed any more.
    ReaderGone,
    /// There is nothing to follow any more.
    DriverUnloaded,
    /// This signal came.
    Signal(i32),
}

/// What is read, and how much of it.
#[derive(Debug)]
pub struct Follower {
    pipe: File,
    /// What was read and is no whole line yet.
    rest: Vec<u8>,
    /// How many lines are still to be printed.
    wanted: Option<u64>,
    /// When to end.
    end_ns: Option<u64>,
}

/// Prints a line, and says whether more would be read.
type Print<'a> = dyn FnMut(&Line) -> anyhow::Result<bool> + 'a;

impl Follower {
    /// Follows `pipe`, reads of which do not wait, for so many lines and until then.
    pub fn new(pipe: File, wanted: Option<u64>, end_ns: Option<u64>) -> Follower {
        Follower { pipe, rest: Vec::new(), wanted, end_ns }
    }

    /// Prints lines until something ends it: a signal that can be read from `shutdown_signals`, or that nothing `is_there` to
    /// follow.
    ///
    /// # Errors
    /// Lines can neither be read nor printed.
    pub fn follow(
        &mut self,
        shutdown_signals: BorrowedHandle<'_>,
        is_there: impl Fn() -> bool,
        print: &mut Print<'_>,
    ) -> anyhow::Result<EndReason> {
        loop {
            let ready = wait_any(&[shutdown_signals], 0).context("cannot wait for signals")?;
            if ready == [true] {
                let (signal, _) = signal::read_signalfd(shutdown_signals).context("cannot read a signal")?;
                return Ok(EndReason::Signal(signal));
            }
            if self.left_ms() == 0 {
                return Ok(EndReason::TimeLimit);
            }
            let (some, ended) = self.read_some(print)?;
            if let Some(ended) = ended {
                return Ok(ended);
            }
            if !some {
                if !is_there() {
                    return Ok(EndReason::DriverUnloaded);
                }
                self.wait(shutdown_signals)?;
            }
        }
    }

    /// Prints what is there already.
    ///
    /// # Errors
    /// As [`Follower::follow`].
    pub fn drain(&mut self, print: &mut Print<'_>) -> anyhow::Result<()> {
        while let (true, None) = self.read_some(print)? {}
        Ok(())
    }

    /// Sleeps until there may be something to read.
    fn wait(&self, shutdown_signals: BorrowedHandle<'_>) -> anyhow::Result<()> {
        let before = now_ns();
        let limit = self.left_ms().min(POLL_INTERVAL_MS);
        let ready = wait_any(&[self.pipe.as_handle(), shutdown_signals], limit);
        ready.context("cannot wait for events")?;
        // A trace whose end was reached is ready at once, again and again.
        if now_ns() - before < 1_000_000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// How many milliseconds are left, rounded up.
    fn left_ms(&self) -> u64 {
        self.end_ns.map_or(u64::MAX, |end| end.saturating_sub(now_ns()).div_ceil(1_000_000))
    }

    /// Reads once and prints the whole lines: whether there was something to read, and what ended it.
    fn read_some(&mut self, print: &mut Print<'_>) -> anyhow::Result<(bool, Option<EndReason>)> {
        let mut buffer = [0; 1 << 16];
        let count = match self.pipe.read(&mut buffer) {
            Ok(0) => return Ok((false, None)),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok((false, None));
            }
            // The driver was unloaded.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok((false, Some(EndReason::DriverUnloaded)));
            }
            Err(error) => return Err(error).context("cannot read the trace"),
        };
        self.rest.extend_from_slice(&buffer[..count]);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let text: Vec<_> = self.rest.drain(..=end).collect();
            let Some(line) = Line::read(String::from_utf8_lossy(&text).trim_end_matches('\n')) else {
                continue;
            };
            if !print(&line)? {
                return Ok((true, Some(EndReason::ReaderGone)));
            }
            if let Some(wanted) = &mut self.wanted {
                *wanted = wanted.saturating_sub(1);
                if *wanted == 0 {
                    return Ok((true, Some(EndReason::LineLimit)));
                }
            }
        }
        Ok((true, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_os::handle::set_non_blocking;
    use furlong_os::{AsHandle, Handle};
    use std::io::{PipeWriter, Write, pipe};

    /// What is followed, where it is written, and a stand-in for signals that never come.
    fn followed(wanted: Option<u64>, end_ns: Option<u64>) -> (Follower, PipeWriter, (Handle, PipeWriter)) {
        let ((reader, writer), (silence, keep)) = (pipe().unwrap(), pipe().unwrap());
        set_non_blocking(reader.as_handle(), true).unwrap();
        let following = Follower::new(Handle::from(reader).into(), wanted, end_ns);
        (following, writer, (silence.into(), keep))
    }

    fn ring(to: u32) -> String {
        format!("  x-1  [000] ..... 1.000000: shm_ring: channel=0 from=0 to={to}\n")
    }

    /// Follows and keeps what is printed.
    fn keep(following: &mut Follower, shutdown_signals: &Handle, is_there: bool) -> (EndReason, Vec<Line>) {
        let mut lines = Vec::new();
        let ended = following.follow(shutdown_signals.as_handle(), || is_there, &mut |line| {
            lines.push(line.clone());
            Ok(true)
        });
        (ended.unwrap(), lines)
    }

    #[test]
    fn lines_are_printed_whole_and_as_many_as_were_asked_for() {
        let (mut following, mut writer, (shutdown_signals, _keep)) = followed(Some(3), None);
        let text = format!("{}CPU:0 [LOST 5 EVENTS]\n{}{}", ring(1), ring(2), ring(3));
        let thread = std::thread::spawn(move || {
            for part in text.as_bytes().chunks(7) {
                writer.write_all(part).unwrap();
                std::thread::sleep(Duration::from_micros(100));
            }
            writer
        });
        let (ended, lines) = keep(&mut following, &shutdown_signals, true);
        assert_eq!(ended, EndReason::LineLimit);
        let expected = [ring(1), "CPU:0 [LOST 5 EVENTS]".to_owned(), ring(2)];
        assert_eq!(lines, expected.map(|line| Line::read(line.trim_end_matches('\n')).unwrap()));
        drop(thread.join());
    }

    #[test]
    fn it_ends_when_the_time_is_over_or_nothing_is_there() {
        let (mut following, mut writer, (shutdown_signals, _keep)) =
            followed(None, Some(now_ns() + 30_000_000));
        writer.write_all(ring(1).as_bytes()).unwrap();
        let (ended, mut lines) = keep(&mut following, &shutdown_signals, true);
        // A busy machine may not let this process read before the time is over.
        let drained = following.drain(&mut |line| {
            lines.push(line.clone());
            Ok(true)
        });
        assert_eq!((ended, lines.len(), drained.is_ok()), (EndReason::TimeLimit, 1, true));

        let (mut following, mut writer, (shutdown_signals, _keep)) = followed(None, None);
        writer.write_all(ring(1).as_bytes()).unwrap();
        drop(writer);
        let (ended, lines) = keep(&mut following, &shutdown_signals, false);
        assert_eq!((ended, lines.len()), (EndReason::DriverUnloaded, 1), "what was there is printed before");
    }

    #[test]
    fn it_ends_when_nobody_reads() {
        let (mut following, mut writer, (shutdown_signals, _keep)) = followed(None, None);
        writer.write_all(format!("{}{}", ring(1), ring(2)).as_bytes()).unwrap();
        let mut printed = 0;
        let ended = following.follow(shutdown_signals.as_handle(), || true, &mut |_| {
            printed += 1;
            Ok(false)
        });
        assert_eq!((ended.unwrap(), printed), (EndReason::ReaderGone, 1));
    }

    #[test]
    fn what_is_there_at_the_end_is_drained() {
        let (mut following, mut writer, _wishes) = followed(None, None);
        writer.write_all(format!("{}{}part", ring(1), ring(2)).as_bytes()).unwrap();
        let mut printed = 0;
        following
            .drain(&mut |_| {
                printed += 1;
                Ok(true)
            })
            .unwrap();
        assert_eq!(printed, 2);
    }
}
