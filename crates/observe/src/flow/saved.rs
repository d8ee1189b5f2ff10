//! Observed messages in the form of a trace.

use super::flows::{EndKey, KeptMessage, MOST_KEPT};
use super::links::{Link, Peer};
use furlong_model::is_unseen;
use furlong_os::linux::ipc_call::CallDirection;
use furlong_trace::{MessageKind, TraceMessage};
use std::collections::HashMap;

/// Longest name of a program in a trace, in characters.
const LONGEST: usize = 60;

/// Messages of all links that carry bytes, each from one of its ends.
#[derive(Debug, Default)]
pub struct SavedMessages {
    messages: Vec<KeptMessage>,
    names: HashMap<EndKey, (String, String, MessageKind, Option<String>)>,
    start_ns: u64,
    /// Whether later messages were dropped, because a trace with more cannot be replayed.
    pub is_truncated: bool,
}

impl SavedMessages {
    /// Names the messages. A link counts at its sending end, or at its receiving end if no sender was observed.
    pub fn new(mut messages: Vec<KeptMessage>, links: &[Link], start_ns: u64) -> SavedMessages {
        let mut names = HashMap::new();
        let is_truncated = messages.len() >= MOST_KEPT;
        for link in links {
            let direction =
                if link.senders.is_empty() { CallDirection::Receive } else { CallDirection::Send };
            let (ends, peers, others) = match direction {
                CallDirection::Send => (&link.senders, &link.receivers, &link.other_receivers),
                _ => (&link.receivers, &link.senders, &link.other_senders),
            };
            let peer = match (&peers[..], &others[..]) {
                ([end], _) => named(&end.peer),
                ([], [peer]) => named(peer),
                _ => safe(&format!("{} {}", link.means.words(), link.object)),
            };
            let means = Some(link.means.name());
            for end in ends.iter().map(|end| &end.peer) {
                let is_request = |pid| (pid == end.pid) == (direction == CallDirection::Send);
                let kind = match link.requester.map(is_request) {
                    Some(true) => MessageKind::Request,
                    Some(false) => MessageKind::Response,
                    None => MessageKind::Message,
                };
                let key = EndKey { flow: link.flow, direction, pid: end.pid };
                let names_of_ends = match direction {
                    CallDirection::Send => (named(end), peer.clone(), kind, means.clone()),
                    _ => (peer.clone(), named(end), kind, means.clone()),
                };
                names.insert(key, names_of_ends);
            }
        }
        messages.retain(|message| names.contains_key(&message.end));
        messages.sort_by_key(|message| message.time_ns);
        SavedMessages { messages, names, start_ns, is_truncated }
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the messages in the order of their times.
    pub fn iter(&self) -> impl Iterator<Item = TraceMessage> {
        self.messages.iter().filter_map(|message| {
            let (sender, receiver, kind, means) = self.names.get(&message.end)?.clone();
            let time_ns = message.time_ns.saturating_sub(self.start_ns);
            let size_bytes = u32::try_from(message.bytes).ok()?;
            Some(TraceMessage { time_ns, sender, receiver, size_bytes, kind, means })
        })
    }
}

/// Returns a name for a process.
fn named(peer: &Peer) -> String {
    format!("{}[{}]", safe(&peer.command), peer.pid)
}

fn safe(text: &str) -> String {
    text.chars().take(LONGEST).map(|c| if is_unseen(c) { ' ' } else { c }).collect()
}
