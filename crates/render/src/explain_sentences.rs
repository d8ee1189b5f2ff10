//! Sentences about a benchmark that is explained, and about one that cannot be explained.

use super::counting::clause;
use super::object::Said;
use furlong_analysis::text::format_ratio;
use furlong_analysis::{Advice, Explanation, LeftOut, NotExplained, Part, Source};

/// Returns the sentences of an explanation, for programs.
pub(crate) fn explained(explanation: &Explanation) -> [Said; 4] {
    let rows = || explanation.rows.iter();
    let unmodelled = explanation.unmodelled.iter().map(|row| not_explained(&row.reason).into());
    let terms = rows().flat_map(|row| &row.terms);
    [
        Said::new("unmodelled.reason_data", "reason", unmodelled),
        Said::new(
            "rows.left_out_data",
            "left_out",
            rows().map(|row| row.left_out.as_ref().map(left_out).into()),
        ),
        Said::new(
            "rows.helps.helps",
            "text",
            rows().flat_map(|row| &row.helps).map(|helps| advice(helps).into()),
        ),
        Said::new("rows.terms.source", "how", terms.map(|term| how(term.source).into())),
    ]
}

/// Describes what the model omits.
pub(crate) fn left_out(what: &LeftOut) -> String {
    let sentence = match what {
        LeftOut::Overlap => "The two roles' work overlaps, which the model does not know.",
        LeftOut::BuffersOrColdCache => {
            "Something takes time that the model does not know: buffers that one core frees and the other takes, or a cold \
             cache."
        }
        LeftOut::AtTheSameTime => {
            "The parts are more than was measured: threads of the program, or its two roles, work at the same time, which a sum \
             does not know."
        }
        LeftOut::ColdCache => "Something takes time that the model does not know, such as a cold cache.",
    };
    sentence.to_owned()
}

/// Returns why a benchmark is not explained, in words that need no context.
pub fn not_explained(why: &NotExplained) -> String {
    let reason = match why {
        NotExplained::OneProcess => "both ends are in one process: it is what the others are compared with",
        NotExplained::NoMessage => "it passes no message",
        NotExplained::InPlace => "its messages are written and read in place, and the model is of copies",
        NotExplained::SeveralOutstanding => {
            "several of its messages are outstanding, and the model is of one"
        }
        NotExplained::SeveralPairs => "several pairs do the same at once, and the model is of one",
        NotExplained::Paced => {
            "its messages are sent at fixed times, and the model covers messages that follow each other without a pause"
        }
        NotExplained::Free => {
            "the scheduler chose its processors, and the model needs to know whether they were one or two"
        }
        NotExplained::OtherHost => {
            "its responder was on another host, and the model knows the costs of this one alone"
        }
        NotExplained::BeyondBoundary => {
            "between network namespaces a virtual Ethernet pair may be on the way of its messages, whose costs the model does not know"
        }
        NotExplained::YieldsOnOneCore => {
            "on one core the scheduler decides when a role that yields really gives way"
        }
        NotExplained::SpinsOnOneCore => {
            "on one core the role that waits spins until its time slice ends, which the model does not cover"
        }
        NotExplained::NotInOneProcess => "it was not measured with both ends in one process",
        NotExplained::SkippedInOneProcess { status, reason } => {
            return format!("with both ends in one process it is {}: {reason}", status.name());
        }
        NotExplained::NotCounted { why } if why.is_empty() => "its system calls were not counted",
        NotExplained::NotCounted { why } => {
            let why: Vec<_> = why.iter().map(|why| clause(why)).collect();
            return format!("its system calls were not counted: {}", why.join("; "));
        }
        NotExplained::NotCountedInOneProcess => {
            "its system calls with both ends in one process were not counted"
        }
        NotExplained::NoCost { name } => return format!("the run does not tell the cost {name}"),
    };
    reason.to_owned()
}

/// Names the source of a part's count or cost in a few words.
pub(crate) fn how(source: Source) -> &'static str {
    match source {
        Source::BothRoles => "counted in both roles",
        Source::CountedInOneProcess => "counted in one process",
        Source::NothingCopied => "nothing is copied",
        Source::OneCopy => "one copy a message",
        Source::TwoCopies => "two copies a message",
        Source::MeasuredInOneProcess => "measured in one process",
        Source::CountedWhileMeasured => "counted while measured",
        Source::OneAMessage => "one a message",
        Source::ColdReader => "a cold reader, beyond copying",
        Source::SpinningCores => "two cores that spin",
        Source::MoreThanInOneProcess => "more than in one process",
        Source::PricedByKind => "counted in both roles; the cost of its kind",
        Source::LibraryThread => "may run in parallel to the round trip",
        Source::BetweenThreads => "between threads of a role",
        Source::ServersProcessorTime => "its processor time",
        Source::NoCpuTime => "elapsed time less CPU time",
    }
}

/// Describes an improvement, or a change that would not help.
pub(crate) fn advice(advice: &Advice) -> String {
    if advice.helps {
        what_helps(advice.term, &of_latency(advice.share))
    } else {
        what_does_not(advice.term, &percent(advice.share))
    }
}

/// Returns the share of a cost in the latency, in words. Costs are measured separately, so a cost may exceed the latency.
fn of_latency(share: f64) -> String {
    if share * 100.0 < 100.05 {
        format!("{} of the latency", percent(share))
    } else {
        format!("all of the latency (the cost alone is {} times as long)", format_ratio(share))
    }
}

/// Formats a share as in the table. The smallest shares are not 0, because "at most 0.0 %" would exclude them.
fn percent(share: f64) -> String {
    format!("{:.1} %", (share * 100.0).max(0.1))
}

fn what_helps(part: Part, share: &str) -> String {
    match part {
        Part::SystemCalls => {
            format!("System calls are {share}: a row over shared memory that spins needs none.")
        }
        Part::Copying => format!(
            "Copying is {share}: a mechanism that copies once, or not at all, could save at most that."
        ),
        Part::OwnPath => format!(
            "The mechanism's own path is {share}: another mechanism may have a shorter one, so compare \
             theirs."
        ),
        Part::ContextSwitches => {
            format!("Context switches are {share}: roles on two cores that spin do without.")
        }
        Part::WakeUps => format!(
            "Waking a core that sleeps is {share}: a row that spins does without, at the price of a busy \
             processor."
        ),
        Part::CacheLinesAcross => format!(
            "Cache lines on their way from core to core are {share}: fewer bytes, or cores that share a \
             cache, may need less."
        ),
        Part::LibraryThreads => format!(
            "Calls of the library's own threads are {share}: a mechanism without such threads makes none."
        ),
        Part::Program => format!(
            "The program and its libraries are {share}: a row that does less work in addition to moving bytes may need less."
        ),
        Part::Server => {
            format!("A separate server is {share}: a mechanism without a server avoids that.")
        }
        Part::Waiting => format!(
            "Waiting is {share}: for a timer, a disk, a network or a core that wakes up. Less work would not shorten it."
        ),
        Part::PageFaults => {
            format!("Page faults are {share}: memory that was touched before has none.")
        }
    }
}

fn what_does_not(part: Part, share: &str) -> String {
    match part {
        Part::Copying => format!("A faster copy, or one copy less, would save at most {share}."),
        part => format!("Faster {}, or fewer, would save at most {share}.", part.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_part_and_its_share() {
        let said = |term, share, helps| advice(&Advice { term, share, helps });
        assert!(
            said(Part::WakeUps, 0.83, true).starts_with("Waking a core that sleeps is 83.0 % of the latency")
        );
        assert!(said(Part::Copying, 0.6, true).contains("could save at most that"));
        let larger = said(Part::WakeUps, 1.03, true);
        let whole =
            "Waking a core that sleeps is all of the latency (the cost alone is 1.03 times as long): ";
        assert!(larger.starts_with(whole), "{larger}");
        let vain = said(Part::Copying, 0.004, false);
        assert_eq!(vain, "A faster copy, or one copy less, would save at most 0.4 %.");
        let calls = said(Part::SystemCalls, 0.06, false);
        assert_eq!(calls, "Faster system calls, or fewer, would save at most 6.0 %.");
        assert!(said(Part::SystemCalls, 0.0001, false).ends_with("at most 0.1 %."));
    }

    #[test]
    fn what_is_left_out_is_said() {
        assert!(left_out(&LeftOut::Overlap).contains("overlaps"));
        assert!(left_out(&LeftOut::BuffersOrColdCache).contains("buffers"));
        assert!(left_out(&LeftOut::ColdCache).ends_with("such as a cold cache."));
    }

    #[test]
    fn what_is_not_explained_has_its_reason() {
        for (why, said) in [
            (NotExplained::SpinsOnOneCore, "until its time slice ends, which the model does not cover"),
            (NotExplained::YieldsOnOneCore, "when a role that yields really gives way"),
            (NotExplained::OneProcess, "it is what the others are compared with"),
            (NotExplained::NoMessage, "it passes no message"),
            (NotExplained::InPlace, "the model is of copies"),
            (NotExplained::SeveralOutstanding, "the model is of one"),
            (NotExplained::SeveralPairs, "the model is of one"),
            (NotExplained::Paced, "covers messages that follow each other without a pause"),
            (NotExplained::NotInOneProcess, "it was not measured with both ends in one process"),
            (
                NotExplained::SkippedInOneProcess {
                    status: furlong_analysis::SkippedStatus::Refused,
                    reason: "it is too large".to_owned(),
                },
                "with both ends in one process it is refused: it is too large",
            ),
            (NotExplained::NotCounted { why: Vec::new() }, "its system calls were not counted"),
            (
                NotExplained::NotCounted {
                    why: vec!["no tracepoint: none.".into(), "no ptrace: EPERM".into()],
                },
                "its system calls were not counted: no tracepoint: none; no ptrace: EPERM",
            ),
            (NotExplained::NotCountedInOneProcess, "with both ends in one process were not counted"),
            (NotExplained::NoCost { name: "wake-up".to_owned() }, "the run does not tell the cost wake-up"),
        ] {
            assert!(not_explained(&why).ends_with(said), "{why:?}");
        }
    }
}
