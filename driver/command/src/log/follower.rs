//! Reads trace lines as they arrive, until a limit, a signal or another reason ends it.

use super::event::Line;
use anyhow::Context;
use furlong_os::clock::now_ns;
use furlong_os::linux::signal;
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::time::Duration;

/// Longest wait for an event, because some kernels do not wake readers that poll a trace.
const POLL_INTERVAL_MS: u64 = 100;

/// Reason for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The requested number of lines was printed.
    LineLimit,
    /// The requested time has passed.
    TimeLimit,
    /// The reader of standard output has closed it.
    ReaderGone,
    /// The driver was unloaded.
    DriverUnloaded,
    /// Number of the received signal.
    Signal(i32),
}

/// Reader of a trace pipe, with its limits.
#[derive(Debug)]
pub struct Follower {
    pipe: File,
    /// Bytes of an incomplete line.
    rest: Vec<u8>,
    /// Number of lines still to be printed.
    wanted: Option<u64>,
    /// Time of the end, in nanoseconds of the monotonic clock.
    end_ns: Option<u64>,
}

/// Prints a line, and returns whether to continue.
type Print<'a> = dyn FnMut(&Line) -> anyhow::Result<bool> + 'a;

impl Follower {
    /// Creates a follower of the non-blocking `pipe` that ends after `wanted` lines or at `end_ns`.
    pub fn new(pipe: File, wanted: Option<u64>, end_ns: Option<u64>) -> Follower {
        Follower { pipe, rest: Vec::new(), wanted, end_ns }
    }

    /// Prints lines until a limit, a signal in `shutdown_signals`, or until `is_there` reports that the driver was
    /// unloaded.
    ///
    /// # Errors
    /// Returns an error if lines cannot be read or printed.
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

    /// Prints the events that have already been recorded.
    ///
    /// # Errors
    /// Returns the errors of [`Follower::follow`].
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
        // A trace at its end always polls as readable, so sleep to avoid a busy loop.
        if now_ns() - before < 1_000_000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Returns the remaining milliseconds, rounded up.
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

    /// Returns a follower, the end that the trace is written to, and a signal descriptor that never becomes readable.
    fn followed(wanted: Option<u64>, end_ns: Option<u64>) -> (Follower, PipeWriter, (Handle, PipeWriter)) {
        let ((reader, writer), (silence, keep)) = (pipe().unwrap(), pipe().unwrap());
        set_non_blocking(reader.as_handle(), true).unwrap();
        let following = Follower::new(Handle::from(reader).into(), wanted, end_ns);
        (following, writer, (silence.into(), keep))
    }

    fn ring(to: u32) -> String {
        format!("  x-1  [000] ..... 1.000000: shm_ring: channel=0 from=0 to={to}\n")
    }

    /// Follows, and collects the printed lines.
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
        assert_eq!((ended, lines.len()), (EndReason::DriverUnloaded, 1), "earlier events are printed before");
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
