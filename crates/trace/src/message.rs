//! A message of a trace, which is one line of JSON.

use furlong_model::is_unseen;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Longest name of a sender or receiver, in bytes.
pub(crate) const LONGEST_NAME: usize = 256;

/// Largest message of a trace, in bytes.
const MOST_BYTES: u32 = 1 << 30;

/// Latest time of a message, in nanoseconds: 36 days.
const LATEST_NS: u64 = 3_200_000_000_000_000;

/// A message of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceMessage {
    /// Nanoseconds since the trace began.
    pub time_ns: u64,
    /// Name of the sender.
    pub sender: String,
    /// Name of the receiver.
    pub receiver: String,
    /// Size in bytes, at least 1.
    pub size_bytes: u32,
    /// Kind of message.
    #[serde(default)]
    pub kind: MessageKind,
    /// Means of communication as `furlong observe` names it, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub means: Option<String>,
}

/// Kind of message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    /// Message that is not known to be answered.
    #[default]
    Message,
    /// Message that is answered.
    Request,
    /// Answer to a request.
    Response,
}

impl TraceMessage {
    /// Reads a line.
    ///
    /// # Errors
    /// Returns the reason why the line is not a message.
    pub(crate) fn read(line: &str) -> Result<TraceMessage, String> {
        let message: TraceMessage = serde_json::from_str(line).map_err(|error| {
            // Every line is parsed alone, so the parser's own line number would be wrong.
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            let example = r#"{"time_ns":0,"sender":"a","receiver":"b","size_bytes":64}"#;
            format!("not a message of a trace: {reason} (column {}); write {example}", error.column())
        })?;
        message.check().map(|()| message)
    }

    /// Checks the size, the time and the names.
    ///
    /// # Errors
    /// Returns the valid range if a value is outside it.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=MOST_BYTES).contains(&self.size_bytes) {
            return Err(format!("size_bytes must be between 1 and {MOST_BYTES}, got {}", self.size_bytes));
        }
        if self.time_ns > LATEST_NS {
            return Err(format!("time_ns must be at most {LATEST_NS} (36 days), got {}", self.time_ns));
        }
        let names = [
            ("sender", Some(&self.sender)),
            ("receiver", Some(&self.receiver)),
            ("means", self.means.as_ref()),
        ];
        for (key, name) in names {
            let Some(name) = name else { continue };
            if !(1..=LONGEST_NAME).contains(&name.len()) || name.chars().any(is_unseen) {
                return Err(format!(
                    "{key} must have 1 to {LONGEST_NAME} bytes without invisible characters"
                ));
            }
        }
        Ok(())
    }

    /// Returns the name of the link, `SENDER->RECEIVER`.
    pub fn link(&self) -> String {
        format!("{}->{}", self.sender, self.receiver)
    }

    /// Returns whether the message uses this link, `SENDER->RECEIVER`. Names may contain `->`.
    pub(crate) fn is_on(&self, link: &str) -> bool {
        let rest = link.strip_prefix(&*self.sender).and_then(|rest| rest.strip_prefix("->"));
        rest == Some(&*self.receiver)
    }
}

impl fmt::Display for TraceMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_written() {
        let line = r#"{"time_ns":7,"sender":"a->b","receiver":"c","size_bytes":64,"kind":"request"}"#;
        let message = TraceMessage::read(line).unwrap();
        assert_eq!((message.to_string().as_str(), message.kind), (line, MessageKind::Request));
        assert!(message.is_on("a->b->c") && !message.is_on("a->b") && !message.is_on("a->b->"));
        let short = line.replace(r#","kind":"request""#, "");
        assert_eq!(TraceMessage::read(&short).unwrap().kind, MessageKind::Message);
    }

    #[test]
    fn invalid_messages_are_rejected_with_a_reason() {
        let line = r#"{"time_ns":7,"sender":"a","receiver":"b","size_bytes":64}"#;
        for (from, to, why) in [
            ("64", "0", "size_bytes must be between 1 and 1073741824, got 0"),
            ("64", "-1", "not a message of a trace: invalid value"),
            ("\"a\"", "\"\"", "sender must have 1 to 256 bytes"),
            ("\"b\"", r#""\u001b[2J""#, "receiver must have 1 to 256 bytes without invisible characters"),
            ("time_ns", "time", "missing field `time_ns`"),
            ("}", r#","means":"a\u202eb"}"#, "means must have 1 to 256 bytes without invisible characters"),
            ("}", r#","means":7}"#, "not a message of a trace: invalid type: integer `7`, expected a string"),
            ("7", "3200000000000001", "time_ns must be at most"),
            ("}", "", "EOF while parsing an object (column"),
        ] {
            let error = TraceMessage::read(&line.replace(from, to)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
