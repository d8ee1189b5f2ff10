//! The evidence of probes of meanings, in words.

use super::figures::thousands;
use furlong_analysis::is_kept;
use furlong_analysis::text::plain;
use furlong_model::{Evidence, Meaning, format_bytes};

/// Describes the evidence for or against a promise.
pub(crate) fn evidence(meaning: Meaning, evidence: &Evidence) -> String {
    let is_kept = is_kept(evidence);
    match evidence {
        Evidence::Lengths { sent, received } => format!("{} arrived as {}", lengths(sent), lengths(received)),
        Evidence::Order { .. } if is_kept && meaning == Meaning::KeepsPriority => {
            "the message with the higher priority arrived first, although it was sent last".to_owned()
        }
        Evidence::Order { expected, .. } if is_kept => {
            format!("{} messages arrived in the order of sending", expected.len())
        }
        Evidence::Order { expected, received } => {
            format!("messages arrived in the order {}, not {}", numbers(received), numbers(expected))
        }
        Evidence::Counts { sent, received, waited } => {
            let [sent, received] = [sent, received].map(|count| thousands(f64::from(*count)));
            let waited = if *waited { "waited" } else { "did not wait" };
            format!("{received} of {sent} messages arrived, and their fast sender {waited}")
        }
        Evidence::Number { received, error, .. } => {
            let error = error.as_deref().map(|error| format!(": {}", plain(error)));
            let what = if is_kept { arrived(meaning) } else { not_arrived(meaning, received.is_some()) };
            what.to_owned() + &error.unwrap_or_default()
        }
        Evidence::Death { error: Some(error), .. } => {
            format!("the waiting receiver got an error when its peer exited: {}", plain(error))
        }
        Evidence::Death { error: None, within_ms } => {
            format!("the receiver still waited {} s after its peer had exited", *within_ms as f64 / 1000.0)
        }
        Evidence::Sizes { arrived, rejected: Some(error) } => {
            let arrived = thousands(*arrived as f64);
            format!("{arrived} bytes arrived, and one byte more was rejected: {}", plain(error))
        }
        Evidence::Sizes { arrived, rejected: None } => {
            format!("a message of {} arrived, and no limit is known", format_bytes(*arrived))
        }
        Evidence::Disk { in_memory: true, .. } => {
            "the bytes stayed in memory, because the file system has no device".to_owned()
        }
        Evidence::Disk { .. } if is_kept => {
            "the bytes were read from the device after they had left memory".to_owned()
        }
        Evidence::Disk { .. } => "the device did not have the bytes after they had left memory".to_owned(),
        Evidence::Absent => absent(meaning).to_owned(),
    }
}

/// Describes messages by their lengths: `2 messages of 5 bytes`.
fn lengths(lengths: &[u32]) -> String {
    match lengths {
        [] => "no message".to_owned(),
        [one] => format!("1 message of {one} bytes"),
        [first, rest @ ..] if rest.iter().all(|length| length == first) => {
            format!("{} messages of {first} bytes", lengths.len())
        }
        several => format!("messages of {} bytes", numbers(several)),
    }
}

fn numbers(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Describes a message that a promise is about, and that arrived.
fn arrived(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Persists => "a third process read the message after both processes had exited",
        Meaning::SurvivesCreator => {
            "two processes exchanged a message through it after its creator had exited"
        }
        Meaning::HasName => "a process that inherits nothing opened it by its name",
        Meaning::OutlivesSender => "the message arrived after its sender had exited",
        Meaning::CopiesMessage => {
            "the message arrived as it was sent, although its sender changed the buffer"
        }
        Meaning::CarriesDescriptors => "a process read from a pipe whose descriptor it had received",
        Meaning::CrossesUsers => "a process of another user received the message",
        _ => "the message arrived",
    }
}

/// Describes a message that did not arrive, or that `is_other` than the sent one.
fn not_arrived(meaning: Meaning, is_other: bool) -> &'static str {
    match meaning {
        Meaning::CopiesMessage if is_other => {
            "the message arrived with the bytes that its sender wrote later"
        }
        Meaning::Persists => "a third process found no message after both processes had exited",
        Meaning::SurvivesCreator => "no process could use it after its creator had exited",
        Meaning::HasName => "a process that inherits nothing could not open it by its name",
        Meaning::OutlivesSender => "the message did not arrive after its sender had exited",
        Meaning::CarriesDescriptors => "no descriptor arrived",
        Meaning::CrossesUsers => "a process of another user received nothing",
        _ => "the message did not arrive",
    }
}

fn absent(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::KeepsPriority => "its messages have no priorities",
        Meaning::ReachesDisk => "it has no file",
        _ => "it has no name by which a later process could open it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_say_how_messages_merged() {
        let merged = Evidence::Lengths { sent: vec![5, 5], received: vec![10] };
        let said = evidence(Meaning::KeepsBoundaries, &merged);
        assert_eq!(said, "2 messages of 5 bytes arrived as 1 message of 10 bytes");
    }

    #[test]
    fn lost_message_is_described_with_its_error() {
        let lost = |error: Option<&str>| Evidence::Number {
            sent: 7,
            received: None,
            error: error.map(str::to_owned),
        };
        let said = |error| evidence(Meaning::Persists, &lost(error));
        assert_eq!(said(None), "a third process found no message after both processes had exited");
        assert!(said(Some("connect: refused")).ends_with("had exited: connect: refused"));
    }

    #[test]
    fn priority_and_order_differ() {
        let order = |received: Vec<u32>| Evidence::Order { expected: vec![1, 2], received };
        let said = |meaning, received| evidence(meaning, &order(received));
        assert!(said(Meaning::KeepsPriority, vec![1, 2]).contains("higher priority"));
        assert!(said(Meaning::KeepsOrder, vec![1, 2]).contains("order of sending"));
        assert_eq!(said(Meaning::KeepsOrder, vec![2, 1]), "messages arrived in the order 2, 1, not 1, 2");
    }
}
