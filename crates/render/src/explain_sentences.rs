//! Sentences about a benchmark that is explained, and about one that cannot be explained.

use super::counting::clause;
use super::object::JudgedSentences;
use super::timeline::no_timeline;
use furlong_analysis::text::format_ratio;
use furlong_analysis::{Advice, Explanation, LeftOut, NotExplained, Part, Source};

/// Returns the sentences of an explanation, for programs.
pub(crate) fn explained(explanation: &Explanation) -> [JudgedSentences; 5] {
    let rows = || explanation.rows.iter();
    let unmodelled = explanation.unmodelled.iter().map(|row| not_explained(&row.reason).into());
    let untraced = explanation.untraced.iter().map(|row| no_timeline(&row.reason).into());
    let terms = rows().flat_map(|row| &row.terms);
    [
        JudgedSentences::new("unmodelled.reason_data", "reason", unmodelled),
        JudgedSentences::new("untraced.reason_data", "reason", untraced),
        JudgedSentences::new(
            "rows.left_out_data",
            "left_out",
            rows().map(|row| row.left_out.as_ref().map(left_out).into()),
        ),
        JudgedSentences::new(
            "rows.helps.helps",
            "text",
            rows().flat_map(|row| &row.helps).map(|helps| advice(helps).into()),
        ),
        JudgedSentences::new("rows.terms.source", "how", terms.map(|term| how(term.source).into())),
    ]
}

/// Describes what the model omits.
pub(crate) fn left_out(what: &LeftOut) -> String {
    let sentence = match what {
        LeftOut::Overlap => "The work of the two roles overlaps, which the model does not cover.",
        LeftOut::BuffersOrColdCache => {
            "The model does not cover part of the time: buffers that one core frees and the other reuses, or a cold cache."
        }
        LeftOut::AtTheSameTime => {
            "The parts sum to more than the measured time, because threads of the program, or its two roles, work at \
             the same time."
        }
        LeftOut::ColdCache => "The model does not cover part of the time, such as a cold cache.",
    };
    sentence.to_owned()
}

/// Returns why a benchmark is not explained, in words that need no context.
pub fn not_explained(why: &NotExplained) -> String {
    let reason = match why {
        NotExplained::OneProcess => {
            "both ends are in one process: it is the baseline of the other benchmarks"
        }
        NotExplained::NoMessage => "it carries no message",
        NotExplained::InPlace => "its messages are accessed in place, and the model covers copies only",
        NotExplained::RequestedConditions => {
            "conditions were requested, and the costs were measured under the inherited ones"
        }
        NotExplained::SeveralOutstanding => "several of its messages are in flight, and the model covers one",
        NotExplained::SeveralPairs => "several pairs run in parallel, and the model covers one",
        NotExplained::Paced => {
            "its messages are sent at fixed times, and the model covers messages that follow each other without a pause"
        }
        NotExplained::Free => {
            "the scheduler chose its CPUs, and the model must know whether it used one or two"
        }
        NotExplained::OtherHost => {
            "its responder was on another host, and the model covers the costs of this host only"
        }
        NotExplained::BeyondBoundary => {
            "between network namespaces its messages may cross a virtual Ethernet pair, whose cost the model does not cover"
        }
        NotExplained::YieldsOnOneCore => {
            "on one core the scheduler decides when a yield switches to the other role"
        }
        NotExplained::SpinsOnOneCore => {
            "on one core the waiting role spins until its time slice ends, which the model does not cover"
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
        NotExplained::NoCost { name } => return format!("the run does not contain the cost {name}"),
    };
    reason.to_owned()
}

/// Names the source of a part's count or cost in a few words.
pub(crate) fn how(source: Source) -> &'static str {
    match source {
        Source::BothRoles => "counted in both roles",
        Source::CountedInOneProcess => "counted in one process",
        Source::NothingCopied => "nothing is copied",
        Source::OneCopy => "one copy per message",
        Source::TwoCopies => "two copies per message",
        Source::MeasuredInOneProcess => "measured in one process",
        Source::CountedWhileMeasured => "counted while measured",
        Source::OneAMessage => "one per message",
        Source::ColdReader => "a cold reader, beyond copying",
        Source::SpinningCores => "two cores that spin",
        Source::MoreThanInOneProcess => "more than in one process",
        Source::PricedByKind => "counted in both roles; the cost of its kind",
        Source::LibraryThread => "may run in parallel to the round trip",
        Source::BetweenThreads => "between threads of a role",
        Source::ServersProcessorTime => "its CPU time",
        Source::NoCpuTime => "elapsed time less CPU time",
    }
}

/// Describes an improvement, or a change that would not help.
pub(crate) fn advice(advice: &Advice) -> String {
    if advice.helps {
        what_helps(advice.term, &latency_share(advice.share))
    } else {
        what_does_not(advice.term, &percent(advice.share))
    }
}

/// Returns the share of a cost in the latency, in words. Costs are measured separately, so a cost may exceed the latency.
fn latency_share(share: f64) -> String {
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
            format!("System calls are {share}: spinning over shared memory needs none.")
        }
        Part::Copying => {
            format!("Copying is {share}: a mechanism with one copy or none could save at most that.")
        }
        Part::OwnPath => {
            format!("The mechanism's own path is {share}: compare it with that of other mechanisms.")
        }
        Part::ContextSwitches => {
            format!("Context switches are {share}: spinning on two cores avoids them.")
        }
        Part::WakeUps => {
            format!("Waking a sleeping core is {share}: spinning avoids it, but keeps a CPU busy.")
        }
        Part::CacheLinesAcross => format!(
            "Cache lines that move between cores are {share}: fewer bytes, or cores that share a cache, may reduce that."
        ),
        Part::LibraryThreads => format!(
            "Calls of the library's own threads are {share}: a mechanism without such threads makes none."
        ),
        Part::Program => format!(
            "The program and its libraries are {share}: a program that does less in addition to moving bytes may be faster."
        ),
        Part::Server => {
            format!("A separate server is {share}: a mechanism without a server avoids that.")
        }
        Part::Waiting => format!(
            "Waiting for a timer, a disk, a network or a waking core is {share}. Less work would not shorten it."
        ),
        Part::PageFaults => {
            format!("Page faults are {share}: touch the memory beforehand to avoid them.")
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
            said(Part::WakeUps, 0.83, true).starts_with("Waking a sleeping core is 83.0 % of the latency")
        );
        assert!(said(Part::Copying, 0.6, true).contains("could save at most that"));
        let larger = said(Part::WakeUps, 1.03, true);
        let whole = "Waking a sleeping core is all of the latency (the cost alone is 1.03 times as long): ";
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
            (NotExplained::YieldsOnOneCore, "when a yield switches to the other role"),
            (NotExplained::OneProcess, "it is the baseline of the other benchmarks"),
            (NotExplained::NoMessage, "it carries no message"),
            (NotExplained::InPlace, "the model covers copies only"),
            (NotExplained::RequestedConditions, "the costs were measured under the inherited ones"),
            (NotExplained::SeveralOutstanding, "the model covers one"),
            (NotExplained::SeveralPairs, "the model covers one"),
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
            (
                NotExplained::NoCost { name: "wake-up".to_owned() },
                "the run does not contain the cost wake-up",
            ),
        ] {
            assert!(not_explained(&why).ends_with(said), "{why:?}");
        }
    }
}
