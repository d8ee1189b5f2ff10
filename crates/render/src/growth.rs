//! Reports how far throughput grows in proportion to the number of pairs, receivers, senders or workers, and what
//! limits it.

use super::words::alike;
use furlong_analysis::text::{decimals, listed, plain};
use furlong_analysis::{Bottleneck, Growth, GrowthLimit, Growths, Unit};
use furlong_model::{Pattern, Role, format_ns};
use std::mem::discriminant;
use std::num::NonZeroU32;

/// Rows that are named one by one.
const NAMED: usize = 4;

/// Returns one sentence for the benchmarks whose growth ends at an equal number for an equal reason.
pub(crate) fn growth(Growths { pattern, among, rows }: &Growths) -> String {
    let mut alike_rows: Vec<Vec<&Growth>> = Vec::new();
    for row in rows {
        match alike_rows.iter_mut().find(|known| ends_like(known[0], row)) {
            Some(known) => known.push(row),
            None => alike_rows.push(vec![row]),
        }
    }
    let sentences: Vec<_> = alike_rows.iter().map(|rows| sentence(*pattern, rows)).collect();
    let what = format!("Scaling with the number of {}, among benchmarks {}", pattern.several(), alike(among));
    format!("{what}: {}.", sentences.join(". "))
}

/// Returns whether both sentences are equal except for their figures.
fn ends_like(one: &Growth, other: &Growth) -> bool {
    let ends = |row: &Growth| {
        let beyond = row.beyond.as_ref();
        let reasons = beyond.map(|beyond| beyond.held_by.iter().map(discriminant).collect::<Vec<_>>());
        (row.in_proportion_to, beyond.map(|beyond| beyond.parties), reasons)
    };
    ends(one) == ends(other)
}

fn sentence(pattern: Pattern, rows: &[&Growth]) -> String {
    let names: Vec<String> = rows.iter().map(|row| plain(&row.row)).collect();
    let names = listed(&names, NAMED);
    let (first, to, several) = (rows[0], rows[0].in_proportion_to, pattern.several());
    let grow = if rows.len() == 1 { "grows" } else { "grow" };
    let Some(GrowthLimit { parties, held_by }) = &first.beyond else {
        return format!("{names} {grow} in proportion up to {to} {several}, the highest number requested");
    };
    let how_far = if to == NonZeroU32::MIN {
        format!("{names} {grow} less than in proportion already with {parties} {several}")
    } else {
        format!("{names} {grow} in proportion up to {to} {several}, but not with {parties}")
    };
    if held_by.is_empty() {
        return format!("{how_far}, and no figure shows why");
    }
    let reasons: Vec<_> = (0..held_by.len()).map(|at| reason(pattern, rows, at)).collect();
    format!("{how_far}: {}", reasons.join(", and "))
}

/// Describes one of the common reasons of `rows`, with the figures of each.
fn reason(pattern: Pattern, rows: &[&Growth], at: usize) -> String {
    let held = rows.iter().filter_map(|row| Some((row, row.beyond.as_ref()?.held_by.get(at)?)));
    let held: Vec<(&&Growth, &Bottleneck)> = held.collect();
    let changed = |(row, holds): &(&&Growth, &Bottleneck)| {
        let change = match holds {
            Bottleneck::Switches { from, to } | Bottleneck::Calls { from, to } => {
                format!("{} to {}", decimals(Some(*from)), decimals(Some(*to)))
            }
            Bottleneck::Kernel { from_ns, to_ns } => {
                format!("{} to {}", format_ns(*from_ns), format_ns(*to_ns))
            }
            Bottleneck::Processors { .. } | Bottleneck::OneProcess { .. } => String::new(),
        };
        if rows.len() > 1 { format!("{} {change}", plain(&row.row)) } else { change }
    };
    let changes = listed(&held.iter().map(changed).collect::<Vec<_>>(), NAMED);
    let unit = Unit::of(pattern).word();
    match held.first().map(|(_, holds)| holds) {
        Some(Bottleneck::Processors { processors: 1 }) => "the CPU is busy".to_owned(),
        Some(Bottleneck::Processors { processors: 2 }) => "both CPUs are busy".to_owned(),
        Some(Bottleneck::Processors { processors }) => format!("all {processors} CPUs are busy"),
        Some(Bottleneck::OneProcess { role }) => {
            let one = if *role == Role::Initiator { "sender" } else { "receiver" };
            format!("the single {one} is always busy")
        }
        Some(Bottleneck::Switches { .. }) => format!("a {unit} has more context switches ({changes})"),
        Some(Bottleneck::Calls { .. }) => format!("a {unit} makes more system calls ({changes})"),
        Some(Bottleneck::Kernel { .. }) => format!(
            "a {unit} takes longer in the kernel ({changes}) without more switches or calls: a lock there, or memory \
             that CPUs contend for"
        ),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::CommonProperties;
    use furlong_model::{Placement, WaitKind};

    /// A benchmark, the number up to which it grows, and the limits with the number from which they apply.
    type GrowthCase<'a> = (&'a str, u32, Option<(u32, Vec<Bottleneck>)>);

    fn said(pattern: Pattern, rows: &[GrowthCase<'_>]) -> String {
        let number = |number: u32| NonZeroU32::new(number).unwrap();
        let row = |(row, to, beyond): &GrowthCase<'_>| Growth {
            row: (*row).to_owned(),
            in_proportion_to: number(*to),
            beyond: beyond
                .clone()
                .map(|(parties, held_by)| GrowthLimit { parties: number(parties), held_by }),
        };
        let among = CommonProperties {
            waiting: WaitKind::Sleeping,
            placement: Placement::Spread,
            size_bytes: Some(128),
        };
        growth(&Growths { pattern, among, rows: rows.iter().map(row).collect() })
    }

    #[test]
    fn what_carries_nothing_has_no_size() {
        let among =
            CommonProperties { waiting: WaitKind::Sleeping, placement: Placement::Spread, size_bytes: None };
        assert_eq!(alike(&among), "blocking on all cores in turn (they carry nothing)");
    }

    #[test]
    fn rows_that_end_alike_share_a_sentence_with_the_figures_of_each() {
        let busy = Bottleneck::Processors { processors: 2 };
        let held = |to| Some((4, vec![busy, Bottleneck::Switches { from: 2.0, to }]));
        assert_eq!(
            said(
                Pattern::RoundTrip,
                &[("pipe/block", 2, held(3.5)), ("fifo/block", 2, None), ("tcp/block", 2, held(4.0))]
            ),
            "Scaling with the number of pairs, among benchmarks blocking on all cores in turn (128B): pipe/block, tcp/block \
             grow in proportion up to 2 pairs, but not with 4: both CPUs are busy, and a round trip has more context switches \
             (pipe/block 2.00 to 3.50, tcp/block 2.00 to 4.00). fifo/block grows in proportion up to 2 pairs, the highest \
             number requested."
        );
    }

    #[test]
    fn every_reason_is_said_and_so_is_that_there_is_none() {
        for (pattern, holds, words) in [
            (
                Pattern::FanOut,
                Bottleneck::OneProcess { role: Role::Initiator },
                "with 2 receivers: the single sender is always busy.",
            ),
            (
                Pattern::FanIn,
                Bottleneck::OneProcess { role: Role::Responder },
                "with 2 senders: the single receiver is always busy",
            ),
            (Pattern::Work, Bottleneck::Processors { processors: 1 }, "with 2 workers: the CPU is busy."),
            (
                Pattern::FanIn,
                Bottleneck::Calls { from: 2.0, to: 4.004 },
                "with 2 senders: a message makes more system calls (2.00 to 4.00).",
            ),
            (
                Pattern::FanIn,
                Bottleneck::Kernel { from_ns: 500.0, to_ns: 6_000.0 },
                "a message takes longer in the kernel (500 ns to 6.00 us) without more",
            ),
        ] {
            let sentence = said(pattern, &[("pipe/block", 1, Some((2, vec![holds])))]);
            assert!(
                sentence.contains("pipe/block grows less than in proportion already with 2 "),
                "{sentence}"
            );
            assert!(sentence.contains(words), "{sentence}");
        }
        let nothing = said(Pattern::Work, &[("pipe/block", 4, Some((8, vec![])))]);
        assert!(
            nothing
                .ends_with("grows in proportion up to 4 workers, but not with 8, and no figure shows why."),
            "{nothing}"
        );
    }
}
