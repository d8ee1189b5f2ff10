//! Import of the output of `strace -f -ttt`. A line names one process and a file descriptor, and never the process at the other end. So
//! the descriptor is a name: `7/fd3`, or the description of `strace -y`, such as `pipe:[5]`.

use crate::lines::Lines;
use crate::message::LONGEST_NAME;
use crate::{ImportedMessage, TraceError};
use furlong_model::is_unseen;
use std::collections::BTreeMap;
use std::io::BufRead;

const SENDS: [&str; 5] = ["write", "writev", "send", "sendto", "sendmsg"];
const RECEIVES: [&str; 5] = ["read", "readv", "recv", "recvfrom", "recvmsg"];

/// Most threads that have a call which has not returned.
const MOST_UNFINISHED: usize = 1 << 16;

/// Calls of strace.
#[derive(Debug)]
pub(crate) struct Strace<R> {
    pub lines: Lines<R>,
    /// Lines that carry no message.
    pub left_out: u64,
    /// Beginning of the call that has not returned, by process.
    unfinished: BTreeMap<String, String>,
}

impl<R: BufRead> Strace<R> {
    pub fn new(lines: Lines<R>) -> Strace<R> {
        Strace { lines, left_out: 0, unfinished: BTreeMap::new() }
    }

    /// Returns the next message; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<ImportedMessage>, TraceError> {
        loop {
            let Some(line) = self.lines.next()? else { return Ok(None) };
            // strace writes its own messages to the same file.
            if line.is_empty() || line.starts_with("strace: ") {
                self.left_out += 1;
                continue;
            }
            let Some((process, time_ns, call)) = split(line) else {
                let what = "not a line of 'strace -f -ttt', such as '7 1700000000.000001 write(3, \"\", 1) = 1'; \
                            other formats are furlong's own and pcap";
                return Err(self.lines.error(what));
            };
            let message = match (call.strip_suffix("<unfinished ...>"), resumed(call)) {
                (Some(beginning), _) if direction(beginning).is_some() => {
                    if self.unfinished.len() >= MOST_UNFINISHED {
                        return Err(self.lines.error("too many calls have not returned"));
                    }
                    self.unfinished.insert(process.to_owned(), beginning.trim_end().to_owned());
                    None
                }
                (None, Some(rest)) => {
                    let beginning = self.unfinished.remove(process);
                    beginning.and_then(|beginning| message(process, time_ns, &(beginning + rest)))
                }
                _ => message(process, time_ns, call),
            };
            if message.is_some() {
                return Ok(message);
            }
            self.left_out += 1;
        }
    }
}

/// Returns the process, the time in nanoseconds since the epoch and the call of a line.
fn split(line: &str) -> Option<(&str, u64, &str)> {
    let line = line.strip_prefix("[pid").map_or(line, str::trim_start);
    let (word, rest) = line.split_once([' ', ']'])?;
    if let Some(time_ns) = time(word) {
        // strace prints no PID while there is one process.
        return Some(("process", time_ns, rest.trim_start()));
    }
    let (seconds, call) = rest.trim_start().split_once(' ')?;
    let is_process = word.bytes().all(|byte| byte.is_ascii_digit()) && (1..=10).contains(&word.len());
    Some((word, time(seconds).filter(|_| is_process)?, call.trim_start()))
}

/// Reads seconds with their fraction, as nanoseconds.
fn time(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) || !(1..=9).contains(&fraction.len()) {
        return None;
    }
    let fraction_ns = fraction.parse::<u64>().ok()? * 10_u64.pow(9 - fraction.len() as u32);
    // Later sums of two times cannot overflow.
    let seconds: u32 = seconds.parse().ok()?;
    Some(u64::from(seconds) * 1_000_000_000 + fraction_ns)
}

/// Returns the rest of a call that returned after others.
fn resumed(call: &str) -> Option<&str> {
    call.strip_prefix("<... ")?.split_once(" resumed>").map(|(_, rest)| rest)
}

/// Returns whether a call sends, and its arguments; `None` for another call.
fn direction(call: &str) -> Option<(bool, &str)> {
    let (name, arguments) = call.split_once('(')?;
    (SENDS.contains(&name) || RECEIVES.contains(&name)).then(|| (SENDS.contains(&name), arguments))
}

/// Returns the message of a call that returned; `None` if it is another call, failed, or transferred nothing.
fn message(process: &str, time_ns: u64, call: &str) -> Option<ImportedMessage> {
    let (sends, arguments) = direction(call)?;
    let (_, result) = call.rsplit_once(") = ").or_else(|| call.rsplit_once(" = "))?;
    let result = result.split(' ').next()?;
    let size_bytes: u32 = result.parse().ok().filter(|size| (1..=1 << 30).contains(size))?;
    let descriptor = descriptor(process, arguments)?;
    let (sender, receiver) =
        if sends { (process.to_owned(), descriptor) } else { (descriptor, process.to_owned()) };
    Some(ImportedMessage { time_ns, sender, receiver, size_bytes })
}

/// Returns the name of the file descriptor that is the first argument.
fn descriptor(process: &str, arguments: &str) -> Option<String> {
    let digits = arguments.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = arguments.split_at(digits);
    if digits == 0 || digits > 10 {
        return None;
    }
    let described = rest.strip_prefix('<').and_then(|rest| rest.split_once(">,")).map(|(text, _)| text);
    let Some(described) = described.filter(|text| !text.is_empty()) else {
        return Some(format!("{process}/fd{number}"));
    };
    let mut name: String = described.chars().filter(|character| !is_unseen(*character)).collect();
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::TraceReader;

    /// Lines of `strace -f -ttt -y`, and of `strace -f -ttt` without `-o`.
    const LINES: &str = r#"100 1700000000.000100 execve("/bin/sh", ["sh"], 0x7ffd /* 20 vars */) = 0
100 1700000000.000200 write(4<pipe:[5]>, "a) = 9, \"x\"..., 3", 128) = 128
101 1700000000.000250 read(3<pipe:[5]>,  <unfinished ...>
100 1700000000.000300 write(4<pipe:[5]>, "b", 1) = -1 EAGAIN (Resource temporarily unavailable)
101 1700000000.000350 <... read resumed>"a"..., 4096) = 128
strace: Process 102 attached
[pid   102] 1700000000.000400 sendmsg(5, {msg_name=NULL, msg_iovlen=1}, 0) = 64
[pid   102] 1700000000.000500 recvfrom(5, "", 64, 0, NULL, NULL) = 0
102 1700000000.000600 sendto(6<TCP:[127.0.0.1:1->127.0.0.1:2]>, "c", 10, MSG_NOSIGNAL, NULL, 0) = 10 <0.000012>
1700000000.000700 write(1, "d", 1) = 1
102 1700000000.000800 --- SIGCHLD {si_signo=SIGCHLD} ---
102 1700000000.000900 +++ exited with 0 +++
"#;

    #[test]
    fn calls_become_messages_with_descriptors_as_names() {
        let mut reader = TraceReader::new(LINES.as_bytes()).unwrap();
        let messages: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        let found: Vec<_> = messages
            .iter()
            .map(|message| (message.time_ns / 1000, message.link(), message.size_bytes))
            .collect();
        let expected = [
            (0, "100->pipe:[5]", 128),
            (150, "pipe:[5]->101", 128),
            (200, "102->102/fd5", 64),
            (400, "102->TCP:[127.0.0.1:1->127.0.0.1:2]", 10),
            (500, "process->process/fd1", 1),
        ];
        let expected = expected.map(|(time, link, size)| (time, link.to_owned(), size));
        assert_eq!(found, expected);
        assert_eq!(reader.left_out(), 7);
    }

    #[test]
    fn times_that_go_back_are_moved_by_a_millisecond_at_most() {
        let lines = |first: &str, second: &str| {
            format!(
                "1 1700000000.{first} write(1, \"\", 1) = 1\n1 1700000000.{second} write(1, \"\", 1) = 1\n"
            )
        };
        let text = lines("000500", "000400");
        let mut reader = TraceReader::new(text.as_bytes()).unwrap();
        assert!(reader.by_ref().all(|message| message.unwrap().time_ns == 0));
        assert_eq!(reader.reordered(), 1);
        let text = lines("005000", "000400");
        let error = TraceReader::new(text.as_bytes()).unwrap().find_map(Result::err).unwrap();
        assert!(error.to_string().starts_with("line 2: the time goes back by 4600000 ns"), "{error}");
    }
}
