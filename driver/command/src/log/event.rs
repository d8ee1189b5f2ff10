//! A line of the kernel's trace, and its text form.
//!
//! Process names can contain any characters, so a line is parsed from its end, which the driver wrote.

use serde_json::json;

/// Text of the kernel for an unknown process name.
const UNKNOWN: &str = "<...>";

/// Content of a trace line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// An event of the driver.
    Event(Event),
    /// Events lost because they arrived faster than they were read.
    Lost {
        /// CPU of the events.
        processor: u32,
        /// Number of lost events, if the kernel knows it.
        events: Option<u64>,
    },
    /// Any other line, unchanged.
    Unknown(String),
}

/// An event of the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Time since the machine started, in microseconds.
    pub time_us: u64,
    /// CPU of the event.
    pub processor: u32,
    /// Name of the process that caused the event, if the kernel still knows it.
    pub process: Option<String>,
    /// PID or thread ID of that process.
    pub pid: u32,
    /// Number of the device.
    pub channel: u32,
    /// Action of the driver.
    pub action: Action,
}

/// Action of the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Accepted or delivered a message.
    Message {
        /// Whether the message was delivered.
        received: bool,
        /// Sequence number of the message in its channel.
        sequence: u64,
        /// Length in bytes.
        length: u32,
        /// The recorded first bytes.
        bytes: Vec<u8>,
    },
    /// Rang a peer.
    Ring {
        /// Number of the peer that rings.
        from: u32,
        /// Number of the peer that is rung.
        to: u32,
    },
}

/// Text form of a message's bytes.
#[derive(Debug, Clone, Copy)]
pub enum ByteFormat {
    /// Text, with all other bytes escaped.
    Text,
    /// Hexadecimal digits.
    Hex,
}

impl Line {
    /// Reads a line; `None` if there is nothing in it.
    pub fn read(line: &str) -> Option<Line> {
        if line.trim().is_empty() {
            return None;
        }
        let known = lost(line).or_else(|| event(line).map(Line::Event));
        Some(known.unwrap_or_else(|| Line::Unknown(line.to_owned())))
    }

    /// Returns the line as text.
    pub fn text(&self, format: ByteFormat) -> String {
        match self {
            Line::Event(event) => event.text(format),
            Line::Lost { processor, events } => {
                let events = events.map_or_else(|| "some".to_owned(), |events| events.to_string());
                format!("lost {events} events on CPU {processor}: they arrived faster than they were read")
            }
            Line::Unknown(line) => format!("unknown line: {}", printable(line.as_bytes())),
        }
    }

    /// Returns the line as JSON.
    pub fn json(&self) -> String {
        match self {
            Line::Event(event) => event.json(),
            Line::Lost { processor, events } => {
                json!({"what": "lost", "processor": processor, "events": events})
            }
            Line::Unknown(line) => json!({"what": "unknown", "line": line}),
        }
        .to_string()
    }
}

impl Event {
    /// Returns the name of the device without the common prefix.
    fn device(&self) -> String {
        let kind = if matches!(self.action, Action::Ring { .. }) { "shm" } else { "message" };
        format!("{kind}{}", self.channel)
    }

    fn text(&self, format: ByteFormat) -> String {
        let time = format!("{}.{:06}", self.time_us / 1_000_000, self.time_us % 1_000_000);
        let process = self.process.as_ref().map_or_else(|| "?".to_owned(), |name| printable(name.as_bytes()));
        let process = format!("{process} {}", self.pid);
        let action = match &self.action {
            Action::Ring { from, to } => format!("ring     {from} -> {to}"),
            Action::Message { received, sequence, length, bytes } => {
                let verb = if *received { "receive" } else { "send" };
                let unit = if *length == 1 { "byte" } else { "bytes" };
                format!("{verb:<7}  #{sequence}  {length} {unit}{}", contents(bytes, *length, format))
            }
        };
        format!("{time:>14}  {process:<22}  {:<9}  {action}", self.device())
    }

    fn json(&self) -> serde_json::Value {
        let mut value = json!({
            "time_us": self.time_us, "processor": self.processor, "process": self.process, "pid": self.pid,
            "device": self.device(), "channel": self.channel,
        });
        match &self.action {
            Action::Ring { from, to } => {
                value["what"] = json!("ring");
                value["from"] = json!(from);
                value["to"] = json!(to);
            }
            Action::Message { received, sequence, length, bytes } => {
                value["what"] = json!(if *received { "receive" } else { "send" });
                value["sequence"] = json!(sequence);
                value["length"] = json!(length);
                value["bytes"] = json!(digits(bytes, ""));
            }
        }
        value
    }
}

/// Formats the recorded contents of a message.
fn contents(bytes: &[u8], length: u32, format: ByteFormat) -> String {
    if bytes.is_empty() {
        return String::new();
    }
    let more = if bytes.len() < length as usize { " …" } else { "" };
    match format {
        ByteFormat::Hex => format!("  {}{more}", digits(bytes, " ")),
        ByteFormat::Text => format!("  \"{}\"{more}", printable(bytes)),
    }
}

fn digits(bytes: &[u8], between: &str) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between)
}

/// Returns text that is safe to print on a terminal: all other characters are escaped.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                c if c.is_ascii() && c.is_control() => text.push_str(&format!("\\x{:02x}", c as u32)),
                // Others that are not seen, or turn around what is.
                c if !c.is_ascii() && !c.is_alphanumeric() => text.extend(c.escape_unicode()),
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// Parses `CPU:1 [LOST 23 EVENTS]`, in which the number is missing if the kernel does not know it.
fn lost(line: &str) -> Option<Line> {
    let (processor, rest) = line.trim().strip_prefix("CPU:")?.split_once(' ')?;
    let events = rest.strip_prefix("[LOST ")?.strip_suffix("EVENTS]")?.trim();
    let events = if events.is_empty() { None } else { Some(events.parse().ok()?) };
    Some(Line::Lost { processor: processor.parse().ok()?, events })
}

/// Parses `bash-71 [000] ..... 12.345678: message_send: channel=0 sequence=0 length=6 bytes=68656c6c6f0a`.
fn event(line: &str) -> Option<Event> {
    let mut parts = line.rsplitn(3, ": ");
    let (fields, name, head) = (parts.next()?, parts.next()?, parts.next()?);
    let field = |name: &str| {
        fields.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('=')).map(str::trim_end)
    };
    let number = |name: &str| field(name)?.parse().ok();
    let action = match name {
        "shm_ring" => Action::Ring { from: number("from")?, to: number("to")? },
        "message_send" | "message_receive" => Action::Message {
            received: name == "message_receive",
            sequence: field("sequence")?.parse().ok()?,
            length: number("length")?,
            bytes: bytes(field("bytes")?)?,
        },
        _ => return None,
    };
    let (head, time) = head.rsplit_once(' ')?;
    let (head, _flags) = head.trim_end().rsplit_once(' ')?;
    let (head, processor) = head.trim_end().rsplit_once(' ')?;
    let (process, pid) = without_group(head.trim_end()).rsplit_once('-')?;
    Some(Event {
        time_us: microseconds(time)?,
        processor: processor.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?,
        process: Some(process.trim_start()).filter(|name| *name != UNKNOWN).map(str::to_owned),
        pid: pid.parse().ok()?,
        channel: number("channel")?,
        action,
    })
}

/// Removes the thread group ID, which the kernel adds if an option requests it: `bash-71 (     71)`.
fn without_group(task: &str) -> &str {
    match task.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((task, group)) if group.trim().chars().all(|c| c.is_ascii_digit() || c == '-') => {
            task.trim_end()
        }
        _ => task,
    }
}

fn microseconds(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').filter(|(_, fraction)| fraction.len() == 6)?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction.parse().ok()?)
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let pair = |pair: &[u8]| {
        let [high, low] = [*pair.first()?, *pair.get(1)?].map(|digit| char::from(digit).to_digit(16));
        u8::try_from(high? * 16 + low?).ok()
    };
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of a kernel (Debian's 6.1, in a virtual machine).
    const REAL: [&str; 5] = [
        "            init-1       [001] ...1.     2.596028: message_send: channel=0 sequence=0 length=6 bytes=",
        "            init-1       [001] .....     2.597259: message_receive: channel=0 sequence=0 length=6 bytes=",
        "            init-1       [001] ...1.     2.602873: message_send: channel=0 sequence=1 length=6 bytes=68656c6c6f0a",
        "            init-1       [001] ...1.     2.603723: message_send: channel=1 sequence=0 length=30 bytes=610162202271756f5c74652220c3a420",
        "              sh-98      [000] .....     2.652868: shm_ring: channel=0 from=0 to=1",
    ];

    fn read(line: &str) -> Event {
        match Line::read(line) {
            Some(Line::Event(event)) => event,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn shown(line: &str) -> String {
        Line::read(line).unwrap().text(ByteFormat::Text)
    }

    #[test]
    fn what_a_kernel_wrote_is_shown() {
        assert_eq!(shown(REAL[0]), "      2.596028  init 1                  message0   send     #0  6 bytes");
        assert_eq!(shown(REAL[1]), "      2.597259  init 1                  message0   receive  #0  6 bytes");
        assert!(
            shown(REAL[2]).ends_with(r#"message0   send     #1  6 bytes  "hello\n""#),
            "{}",
            shown(REAL[2])
        );
        let cut = r#"message1   send     #0  30 bytes  "a\x01b \"quo\\te\" ä " …"#;
        assert!(shown(REAL[3]).ends_with(cut), "{}", shown(REAL[3]));
        assert!(
            shown(REAL[4]).ends_with("sh 98                   shm0       ring     0 -> 1"),
            "{}",
            shown(REAL[4])
        );
        let hex = Line::read(REAL[2]).unwrap().text(ByteFormat::Hex);
        assert!(hex.ends_with("6 bytes  68 65 6c 6c 6f 0a"), "{hex}");
    }

    #[test]
    fn programs_read_all_of_it() {
        let json = |line: &str| {
            serde_json::from_str::<serde_json::Value>(&Line::read(line).unwrap().json()).unwrap()
        };
        assert_eq!(
            json(REAL[2]),
            json!({
                "time_us": 2_602_873, "processor": 1, "process": "init", "pid": 1, "device": "message0", "channel": 0,
                "what": "send", "sequence": 1, "length": 6, "bytes": "68656c6c6f0a",
            })
        );
        let ring = json(REAL[4]);
        assert_eq!((&ring["what"], &ring["from"], &ring["to"]), (&json!("ring"), &json!(0), &json!(1)));
        assert_eq!(json("CPU:1 [LOST 23 EVENTS]"), json!({"what": "lost", "processor": 1, "events": 23}));
        assert_eq!(json("CPU:0 [LOST EVENTS]")["events"], json!(null));
        assert_eq!(json("# tracer: nop")["line"], "# tracer: nop");
    }

    #[test]
    fn lost_events_are_said() {
        assert_eq!(Line::read("CPU:1 [LOST 23 EVENTS]"), Some(Line::Lost { processor: 1, events: Some(23) }));
        assert_eq!(Line::read("CPU:12 [LOST EVENTS]\n"), Some(Line::Lost { processor: 12, events: None }));
        assert!(shown("CPU:1 [LOST 23 EVENTS]").starts_with("lost 23 events on CPU 1"));
        assert!(matches!(Line::read("CPU:x [LOST 23 EVENTS]"), Some(Line::Unknown(_))));
    }

    #[test]
    fn names_of_processes_are_what_they_are() {
        let end = "      [001] d....    13.000001: shm_ring: channel=0 from=0 to=1";
        for (task, process, pid) in [
            ("            bench-80", "bench", 80),
            ("   my - prog [x]-7", "my - prog [x]", 7),
            (" shm_ring: a: b-7", "shm_ring: a: b", 7),
            ("           -bash-4194303", "-bash", 4_194_303),
            ("            bash-71    (     71)", "bash", 71),
            ("            bash-71    (-------)", "bash", 71),
            ("           (sd-pam)-9", "(sd-pam)", 9),
        ] {
            let event = read(&format!("{task}{end}"));
            assert_eq!((event.process.as_deref(), event.pid), (Some(process), pid), "{task}");
            assert_eq!((event.time_us, event.processor), (13_000_001, 1));
        }
    }

    #[test]
    fn a_name_that_the_kernel_has_forgotten_is_not_made_up() {
        let line = "           <...>-114     [000] ...1.    15.197276: shm_ring: channel=1 from=0 to=1";
        assert_eq!(read(line).process, None);
        assert!(shown(line).contains("  ? 114 "), "{}", shown(line));
    }

    #[test]
    fn a_name_cannot_command_the_terminal() {
        let line = "    \u{1b}[31m\u{202e}x-71      [000] .....    1.000000: shm_ring: channel=0 from=0 to=1";
        let text = shown(line);
        assert!(text.contains(r"\x1b[31m\u{202e}x 71") && !text.contains('\u{1b}'), "{text}");
        let unknown = shown("what\u{1b}[2J");
        assert_eq!(unknown, r"unknown line: what\x1b[2J");
    }

    #[test]
    fn lines_that_are_damaged_anywhere_are_shown_in_one_line_that_commands_nothing() {
        let replacements = [" ", "-", "=", ":", "\u{1b}", "\u{0}", "ä", "99999999999999999999", ""];
        for line in REAL {
            for at in 0..line.len() {
                let cut = [line[..at].to_owned(), line[at..].to_owned()];
                let replaced = replacements.map(|new| format!("{}{new}{}", &line[..at], &line[at + 1..]));
                let twice = format!("{}{}", &line[..at], line);
                for damaged in cut.iter().chain(&replaced).chain([&twice]) {
                    let Some(read) = Line::read(damaged) else { continue };
                    for format in [ByteFormat::Text, ByteFormat::Hex] {
                        let text = read.text(format);
                        assert!(!text.contains(char::is_control), "{damaged:?}: {text:?}");
                    }
                    let json = read.json();
                    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{damaged:?}: {json}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_a_whole_event_is_shown_as_it_is() {
        for line in [
            "x-1 [000] ..... 1.000000: message_send: channel=0 sequence=0 length=6 bytes=6",
            "x-1 [000] ..... 1.000000: message_send: channel=0 sequence=0 length=6 bytes=zz",
            "x-1 [000] ..... 1.000000: message_send: channel=0 sequence=0 length=6",
            "x-1 [000] ..... 1.000000: message_send: sequence=0 length=6 bytes=",
            "x-1 [000] ..... 1.000000: tracing_mark_write: message_send: channel=0 sequence=0 length=6 bytes=",
            "x-1 [000] ..... 1000000: shm_ring: channel=0 from=0 to=1",
            "x [000] ..... 1.000000: shm_ring: channel=0 from=0 to=1",
            "x-1 [000] ..... 1.000000: shm_ring: channel=99999999999 from=0 to=1",
            "1.000000: shm_ring: channel=0 from=0 to=1",
            "x-1 [000] ..... 99999999999999999999.000000: shm_ring: channel=0 from=0 to=1",
        ] {
            assert_eq!(Line::read(line), Some(Line::Unknown(line.to_owned())));
        }
        assert_eq!(Line::read("  \n"), None);
    }

    #[test]
    fn fields_that_a_later_driver_adds_do_no_harm() {
        let event = read(
            "x-1 [000] ..... 1.000000: message_send: queue=9 channel=2 sequence=3 length=1 bytes=0a more=1",
        );
        assert_eq!(event.channel, 2);
        assert_eq!(
            event.action,
            Action::Message { received: false, sequence: 3, length: 1, bytes: vec![10] }
        );
        assert!(event.text(ByteFormat::Text).ends_with(r#"#3  1 byte  "\n""#));
    }
}
