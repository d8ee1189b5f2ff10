//! Groups of comparable benchmarks, and the order within a group.
//!
//! A group contains only benchmarks with the same work, rate, kind of wait strategy and placement. They are in the order of
//! `p50`. Two benchmarks tie if the interval of their ratio contains 1. The interval always contains the quotient of the
//! printed medians, so that order, ratio, interval and tie agree.

use crate::{ComparableInterval, Ratio, Row};
use furlong_model::{
    Arrival, Case, Family, FanInOptions, Harness, Links, Pattern, Placement, Request, SizeMix, WaitKind,
    format_bytes, format_exact_ns, format_ns, format_rate,
};
use furlong_stats::{SortedMap, sort_by};
use serde::Serialize;
use std::num::NonZeroU32;

/// Group of comparable benchmarks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Group {
    /// Payload of the messages.
    pub carries: PayloadKind,
    /// Pattern of the messages.
    pub pattern: Pattern,
    /// Whether receivers may lose messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loses: bool,
    /// Request, if the pattern has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// Message size in bytes; `None` for notifications, whose payload is fixed.
    pub size_bytes: Option<usize>,
    /// Placement of the roles.
    pub placement: Placement,
    /// Kind of wait strategy.
    pub waiting: WaitKind,
    /// Time at which the initiator sends the next message, apart from a think time.
    #[serde(skip_serializing_if = "Arrival::is_closed_loop")]
    pub arrival: Arrival,
    /// Number of pairs that run in parallel.
    #[serde(skip_serializing_if = "furlong_model::is_one")]
    pub parties: NonZeroU32,
    /// Name in records, for example `other-core/sleeping/128B` or `other-core/sleeping/128B/every-100us`.
    pub name: String,
    /// Title for users.
    pub title: String,
    /// Part of the title that is equal in all placements and wait strategies.
    #[serde(skip)]
    pub subject: String,
}

/// Payload of a benchmark's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadKind {
    /// The requested number of bytes.
    Data,
    /// A wake-up of 0 to 8 bytes.
    Notification,
    /// No message: the loop without a mechanism.
    Nothing,
    /// Unknown messages of unmodified programs, which report their number.
    Unknown,
    /// All work of unmodified programs in a run, because they report no number of messages.
    WholeRun,
}

impl Group {
    pub(crate) fn of(case: &Case, family: Option<Family>) -> Self {
        Group::for_payload(
            case,
            match family {
                Some(Family::Floor) => PayloadKind::Nothing,
                Some(Family::Notification) => PayloadKind::Notification,
                Some(Family::Programs) => PayloadKind::Unknown,
                _ => PayloadKind::Data,
            },
        )
    }

    pub(crate) fn from_row(row: &Row) -> Self {
        match &row.programs {
            Some(programs) if !programs.counts => Group::for_payload(&row.case, PayloadKind::WholeRun),
            _ => Group::of(&row.case, row.family).if_losing(row.lost_share.is_some()),
        }
    }

    /// Adds to the group that receivers may lose messages, if `loses` is set.
    pub(crate) fn if_losing(self, loses: bool) -> Self {
        if !loses {
            return self;
        }
        const MAY_LOSE: &str = ", which may be lost";
        let [title, subject] = [&self.title, &self.subject].map(|text| text.clone() + MAY_LOSE);
        Group { loses, name: format!("{}/losing", self.name), title, subject, ..self }
    }

    fn for_payload(case: &Case, carries: PayloadKind) -> Self {
        let size_bytes =
            matches!(carries, PayloadKind::Data | PayloadKind::Nothing).then_some(case.size_bytes);
        let (placement, waiting) = (case.placement, case.wait.kind());
        let arrival = case.arrival.without_think_time().at_fixed_times();
        let waits = match waiting {
            WaitKind::Sleeping => "sleeping",
            WaitKind::Adaptive => "adaptive",
            WaitKind::Spinning => "spinning",
            WaitKind::Unknown => "own",
        };
        let carried = match (carries, size_bytes.map(format_bytes)) {
            (PayloadKind::Unknown, _) => "programs".to_owned(),
            (PayloadKind::WholeRun, _) => "programs-whole-run".to_owned(),
            (PayloadKind::Nothing, size) => format!("floor-{}", size.unwrap_or_default()),
            (_, Some(_)) => sizes(case, "-"),
            (_, None) => "notification".to_owned(),
        };
        let (suffix, addition) = describe_pace(arrival);
        let parties = case.parties();
        let several = case.pattern().several();
        let (several_suffix, several_addition) = match (furlong_model::is_one(&parties), several) {
            (true, "pairs") => Default::default(),
            (true, _) => (String::new(), format!(", 1 {}", several.trim_end_matches('s'))),
            (false, _) => {
                let at_once = if several == "pairs" { " at once" } else { "" };
                (format!("/{parties}-{several}"), format!(", {parties} {several}{at_once}"))
            }
        };
        let (own_suffix, own_addition) = case.exchange.in_group();
        let (access_suffix, access_addition) = match case.access.is_of_every_byte() {
            true => (String::new(), ""),
            false => (format!("/{}", case.access), ", of which the first and the last 8 bytes are touched"),
        };
        let (pattern, request) = (case.pattern(), case.exchange.request().cloned());
        let (prefix, what) = describe_pattern(case);
        let name = format!(
            "{placement}/{waits}/{prefix}{carried}{suffix}{several_suffix}{own_suffix}{access_suffix}"
        );
        let sizes = size_bytes.map(|_| sizes(case, " to "));
        let (subject, place) = title((pattern, carries), what, sizes, placement, waiting);
        let additions = [&*addition, &several_addition, &own_addition, access_addition].concat();
        Group {
            carries,
            pattern,
            loses: false,
            request,
            size_bytes,
            placement,
            waiting,
            arrival,
            parties,
            name,
            title: format!("{subject}{place}{additions}"),
            subject: subject + &additions,
        }
    }

    /// Returns what groups have in common that differ at most in their placement and their wait strategy.
    pub fn exchange(&self) -> (PayloadKind, Pattern, Option<usize>, &str) {
        (self.carries, self.pattern, self.size_bytes, &self.subject)
    }
}

/// Returns the pattern's part of a group's name, and its messages in the title.
fn describe_pattern(case: &Case) -> (String, String) {
    let (pattern, messages) = (case.pattern(), case.pattern().facts().messages);
    match case.exchange.request() {
        Some(Request { size_bytes, by }) => {
            let request = |to| from_smallest(case.conditions.request_mix(), *size_bytes, to);
            let (suffix, carrier) =
                by.as_ref().map_or_else(Default::default, |by| (format!("-by-{by}"), format!(" by {by}")));
            (
                format!("{pattern}-{}{suffix}/", request("-")),
                format!("{messages} to {} requests{carrier}", request(" to ")),
            )
        }
        None if pattern.is_default() => (String::new(), messages.to_owned()),
        None if case.exchange.fan_in() != FanInOptions::default() => {
            (format!("{pattern}/"), "messages of each sender to every receiver of its group".to_owned())
        }
        None => (format!("{pattern}/"), messages.to_owned()),
    }
}

/// Returns the suffixes of a group's name and title for its arrival of messages.
fn describe_pace(arrival: Arrival) -> (String, String) {
    match arrival {
        Arrival::Interval(ns) => {
            (format!("/every-{}", format_exact_ns(ns)), format!(", at {}", format_rate(1e9 / ns as f64)))
        }
        Arrival::Trace { interval_ns, .. } => (
            format!("/trace-{}", format_exact_ns(interval_ns)),
            format!(", at the times of a trace, one every {} on average", format_ns(interval_ns as f64)),
        ),
        // Other paces belong to the benchmarks of the group.
        _ => (String::new(), String::new()),
    }
}

/// Returns the placement of the roles in words.
pub fn describe_placement(placement: Placement) -> String {
    match placement {
        Placement::OtherCore => "two cores".to_owned(),
        Placement::SameCore => "one core".to_owned(),
        Placement::OneProcess => "one core, both ends in one process".to_owned(),
        Placement::Free => "CPUs that the scheduler chooses".to_owned(),
        Placement::OtherHost => "two hosts".to_owned(),
        Placement::Spread => "all cores in turn".to_owned(),
        Placement::Packed => "all cores, neighbours together".to_owned(),
        Placement::List(list) => format!("CPUs {list} in turn", list = Placement::List(list)),
        Placement::Related(pair) => pair.description().to_owned(),
        Placement::Explicit(initiator, responder) => format!("CPUs {initiator} and {responder}"),
    }
}

/// Returns the size of the messages of a case, or the smallest and the largest size of a mix.
fn sizes(case: &Case, to: &str) -> String {
    from_smallest(case.conditions.size_mix(), case.size_bytes, to)
}

/// Returns the largest size, and before it the smallest one of a mix.
fn from_smallest(mix: Option<&SizeMix>, largest_bytes: usize, to: &str) -> String {
    let largest = format_bytes(largest_bytes);
    match mix.map(SizeMix::smallest_bytes) {
        Some(smallest) if smallest < largest_bytes => format!("{}{to}{largest}", format_bytes(smallest)),
        _ => largest,
    }
}

/// Returns the two parts of a title: its subject, and its placement and wait strategy.
fn title(
    (pattern, carries): (Pattern, PayloadKind),
    what: String,
    sizes: Option<String>,
    placement: Placement,
    waiting: WaitKind,
) -> (String, String) {
    // The observed CPUs are printed below the table, because a program may move its processes.
    let of_programs = |what: &str| {
        let place = format!(", --place {placement}: {what}; messages not verified");
        ("Own programs".to_owned(), place)
    };
    let carried = match (carries, sizes) {
        (PayloadKind::Unknown, _) => return of_programs("exchanges that they count, mean of a trial"),
        (PayloadKind::WholeRun, _) => return of_programs("a whole run"),
        (PayloadKind::Data, Some(sizes)) => format!("{sizes} {what}"),
        (PayloadKind::Nothing, _) => "No mechanism".to_owned(),
        _ => match pattern.facts().links {
            Links::PerMessage => what.replacen("messages", "Notifications", 1),
            Links::Shared => {
                format!("{} (they carry nothing)", what.replacen("messages", "Notifications", 1))
            }
            Links::PerParty | Links::Watched => "Notifications alone (they carry 0 to 8 bytes)".to_owned(),
        },
    };
    let wait = match (waiting, placement) {
        (WaitKind::Sleeping | WaitKind::Adaptive, Placement::OneProcess) => "calls that may block",
        (WaitKind::Spinning, Placement::OneProcess) => "calls that retry",
        (WaitKind::Sleeping, _) => "blocking",
        (WaitKind::Adaptive, _) => "adaptive (busy-waiting for a moment, then blocking)",
        (WaitKind::Spinning, Placement::SameCore) => "retrying instead of blocking",
        (WaitKind::Unknown, _) => "with their own wait strategy",
        (WaitKind::Spinning, _) => "busy-waiting (keeps a CPU busy)",
    };
    (carried, format!(" on {}, {wait}", describe_placement(placement)))
}

impl Ratio {
    /// Returns the ratio of the median of `row` to that of `first`.
    pub(crate) fn of(row: &Row, first: &Row) -> Ratio {
        let intervals = row.comparable.zip(first.comparable);
        Ratio::from_figures(
            [row, first].map(|row| row.exchange.deciding().ns),
            intervals.map(|(row, first)| [row, first].map(|found| found.interval_ns)),
        )
    }
}

/// Sorts `rows` by group and median, and compares the members of each group with `compare`. Returns the groups in order.
pub(crate) fn rank(
    rows: &mut Vec<Row>,
    harness: &Harness,
    compare: impl Fn(&[Row]) -> Vec<Option<ComparableInterval>>,
) -> Vec<Group> {
    let mut by_group: SortedMap<Group, Vec<Row>> = SortedMap::default();
    for row in std::mem::take(rows) {
        by_group.or_default(Group::from_row(&row)).push(row);
    }
    let mut groups = Vec::new();
    for (group, mut members) in by_group {
        let comparables = compare(&members);
        for (row, found) in members.iter_mut().zip(comparables) {
            row.comparable = resolved(row, found, harness);
        }
        sort_by(&mut members, |a, b| {
            a.exchange.deciding().ns.total_cmp(&b.exchange.deciding().ns).then(a.case.cmp(&b.case))
        });
        let ties: Vec<Vec<bool>> =
            members.iter().map(|row| members.iter().map(|other| tie(row, other)).collect()).collect();
        let places = places(&ties);
        let names: Vec<String> = members.iter().map(|row| row.case.row()).collect();
        let ratios: Vec<Ratio> = members.iter().map(|row| Ratio::of(row, &members[0])).collect();
        let is_first_known = members[0].comparable.is_some();
        for (at, row) in members.iter_mut().enumerate() {
            row.group.clone_from(&group.name);
            let is_compared = row.comparable.is_some() && is_first_known;
            row.rank = Some(places[at]).filter(|_| is_compared || names.len() == 1);
            let others = (0..names.len()).filter(|other| *other != at && ties[at][*other]);
            row.tied_with = others.map(|other| names[other].clone()).collect();
            row.vs_first = Some(ratios[at]).filter(|_| at > 0 && is_compared);
        }
        groups.push(group);
        rows.extend(members);
    }
    groups
}

/// Returns the places of benchmarks, from 1. A benchmark shares the place of the one before it if it ties with every
/// benchmark of that place.
pub(crate) fn places(ties: &[Vec<bool>]) -> Vec<usize> {
    let mut first = 0;
    let mut place = |at: usize| {
        if !(first..at).all(|other| ties[at][other]) {
            first = at;
        }
        first + 1
    };
    (0..ties.len()).map(&mut place).collect()
}

/// Whether two benchmarks are not significantly different.
pub(crate) fn tie(a: &Row, b: &Row) -> bool {
    Ratio::of(a, b).is_tie()
}

/// Widens a comparison to the resolution of the clock and the histogram.
pub(crate) fn resolved(
    row: &Row,
    found: Option<ComparableInterval>,
    harness: &Harness,
) -> Option<ComparableInterval> {
    let resolution =
        resolution_ns(row, harness) / row.exchange.deciding().ns.max(crate::comparable::LEAST_NS);
    found.map(|found| found.resolved(resolution.min(1.0), row.exchange.ns.min))
}

/// Returns the resolution of medians in nanoseconds: the larger of 0.1 % (the width of a histogram bucket) and a step of
/// the clock divided by the round trips of a sample.
pub(crate) fn resolution_ns(row: &Row, harness: &Harness) -> f64 {
    let step_ns = harness.clock_step_ns / f64::from(row.exchange.per_sample.max(1));
    (row.exchange.deciding().ns / 1000.0).max(step_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{by_median, row};
    use furlong_model::{Exchange, Wait, printed_ns};

    /// Returns a blocking cross-core benchmark with this interval around its middle.
    fn at(name: &str, low: f64, high: f64) -> Row {
        let mut row = row(name, Wait::Block, Placement::OtherCore, f64::midpoint(low, high));
        row.exchange.ns.median_ci95 = Some([low, high]);
        row.exchange.ns.min = low;
        row
    }

    fn ranked(mut rows: Vec<Row>) -> Vec<(String, usize, String)> {
        rank(&mut rows, &Harness::default(), by_median);
        rows.into_iter()
            .map(|row| (row.case.mechanism, row.rank.unwrap_or_default(), row.tied_with.join(" ")))
            .collect()
    }

    fn expect(rows: Vec<Row>, expected: &[(&str, usize, &str)]) {
        let ranked = ranked(rows);
        let borrowed: Vec<_> = ranked.iter().map(|(name, rank, ties)| (&**name, *rank, &**ties)).collect();
        assert_eq!(borrowed, expected);
    }

    #[test]
    fn rows_apart_are_ranked_one_by_one() {
        let rows = vec![at("c", 300.0, 310.0), at("a", 100.0, 110.0), at("b", 200.0, 210.0)];
        expect(rows, &[("a", 1, ""), ("b", 2, ""), ("c", 3, "")]);
    }

    #[test]
    fn ties_are_not_chained() {
        let rows = vec![at("a", 100.0, 120.0), at("b", 115.0, 135.0), at("c", 130.0, 150.0)];
        expect(rows, &[("a", 1, "b/block"), ("b", 1, "a/block c/block"), ("c", 3, "b/block")]);
    }

    #[test]
    fn rows_with_equal_printed_medians_tie() {
        let rows =
            vec![at("a", 10_000.0, 10_000.0), at("b", 10_008.0, 10_008.0), at("c", 10_130.0, 10_130.0)];
        expect(rows, &[("a", 1, "b/block"), ("b", 1, "a/block"), ("c", 3, "")]);
    }

    #[test]
    fn every_pair_of_a_place_ties() {
        // The benchmark with the widest interval ties with the first, but not with the second.
        let rows = vec![at("a", 90.0, 130.0), at("b", 108.0, 114.0), at("c", 118.0, 140.0)];
        expect(rows, &[("a", 1, "b/block c/block"), ("b", 1, "a/block"), ("c", 3, "a/block")]);
    }

    /// Returns benchmarks with random medians and comparison intervals that may contradict them. Some lack an interval.
    fn random_rows(random: &mut fastrand::Rng) -> Vec<Row> {
        let mut rows: Vec<Row> = (0..random.usize(2..9))
            .map(|number| {
                let (low, wide) = (100.0 + 60.0 * random.f64(), random.f64() * 40.0);
                let mut row = at(&format!("row{number}"), low, low + wide);
                row.exchange.ns.p50 = low + wide * random.f64();
                row
            })
            .collect();
        // Comparison intervals come from other trials than the printed medians.
        for row in &mut rows {
            let shift = 0.8 + 0.4 * random.f64();
            row.exchange.ns.median_ci95 = row
                .exchange
                .ns
                .median_ci95
                .map(|ends| ends.map(|end| end * shift))
                .filter(|_| random.u8(..) > 20);
            row.exchange.ns.min = furlong_stats::tidy(50.0 + 60.0 * random.f64());
        }
        rows
    }

    #[test]
    fn order_ratio_interval_and_tie_never_contradict_each_other() {
        let mut random = fastrand::Rng::with_seed(41);
        for _ in 0..500 {
            let mut rows = random_rows(&mut random);
            rank(&mut rows, &Harness::default(), by_median);
            assert!(rows.is_sorted_by_key(|row| row.exchange.ns.p50), "ordered by the printed figure");
            let first = rows[0].clone();
            for row in &rows[1..] {
                let Some(ratio) = row.vs_first else { continue };
                let [low, high] = ratio.interval.unwrap();
                let printed = printed_ns(row.exchange.ns.p50) / printed_ns(first.exchange.ns.p50);
                assert!(low <= printed && printed <= high, "{printed} outside {low}-{high}");
                assert!(low <= ratio.times && ratio.times <= high);
                assert_eq!(low <= 1.0, row.tied_with.contains(&first.case.row()), "{ratio:?}");
                let comparable = row.comparable.unwrap();
                let [from, to] = comparable.interval_ns;
                assert!(from <= to && from >= row.exchange.ns.min, "{comparable:?}");
            }
            for one in &rows {
                for other in rows.iter().filter(|other| other.case != one.case) {
                    let ties = one.tied_with.contains(&other.case.row());
                    assert_eq!(ties, other.tied_with.contains(&one.case.row()));
                    assert!(
                        ties || one.rank.is_none() || one.rank != other.rank,
                        "{} and {}",
                        one.case.row(),
                        other.case.row()
                    );
                }
            }
        }
    }

    #[test]
    fn row_without_interval_has_no_place_ratio_or_tie() {
        let mut lone = at("b", 105.0, 106.0);
        lone.exchange.ns.median_ci95 = None;
        let rows = vec![at("a", 100.0, 110.0), lone, at("c", 104.0, 112.0)];
        expect(rows, &[("a", 1, "c/block"), ("b", 0, ""), ("c", 3, "a/block")]);
        let mut few = vec![at("a", 100.0, 110.0), at("b", 200.0, 210.0)];
        few.iter_mut().for_each(|row| row.exchange.ns.median_ci95 = None);
        rank(&mut few, &Harness::default(), by_median);
        assert!(few.iter().all(|row| row.rank.is_none() && row.vs_first.is_none()), "{few:?}");
    }

    #[test]
    fn only_like_is_ranked_with_like() {
        let mut rows = vec![
            row("pipe", Wait::Block, Placement::OtherCore, 5000.0),
            row("pipe", Wait::Spin, Placement::OtherCore, 1000.0),
            row("pipe", Wait::Block, Placement::SameCore, 3000.0),
            row("pipe", Wait::Block, Placement::Explicit(0, 3), 3000.0),
            Row {
                family: Some(Family::Notification),
                ..row("eventfd", Wait::Eventfd, Placement::OtherCore, 4000.0)
            },
            Row { family: Some(Family::Floor), ..row("null", Wait::Spin, Placement::OtherCore, 30.0) },
        ];
        let groups = rank(&mut rows, &Harness::default(), by_median);
        let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "other-core/sleeping/128B",
                "other-core/spinning/128B",
                "same-core/sleeping/128B",
                "0:3/sleeping/128B",
                "other-core/sleeping/notification",
                "other-core/spinning/floor-128B",
            ]
        );
        assert!(rows.iter().all(|row| row.rank == Some(1)));
        assert_eq!(groups[3].title, "128B messages on CPUs 0 and 3, blocking");
    }

    #[test]
    fn rows_that_may_lose_messages_are_ranked_by_themselves() {
        let to_three = |lost_share| {
            let mut row = row("ring", Wait::Futex, Placement::Spread, 5000.0);
            let receivers = NonZeroU32::new(3).unwrap();
            row.case.exchange = Exchange::of(Pattern::FanOut).with_parties(receivers);
            Row { lost_share, ..row }
        };
        let mut rows = vec![to_three(Some(0.0)), to_three(None), to_three(Some(0.5))];
        let groups = rank(&mut rows, &Harness::default(), by_median);
        let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
        let all = "spread/sleeping/fan-out/128B/3-receivers";
        assert_eq!(names, [all, &format!("{all}/losing")]);
        assert!(groups[1].title.ends_with("3 receivers, which may be lost"), "{}", groups[1].title);
        let of_each: Vec<_> = rows.iter().map(|row| (row.lost_share, row.tied_with.len())).collect();
        assert_eq!(of_each, [(None, 0), (Some(0.0), 1), (Some(0.5), 1)]);
    }

    #[test]
    fn a_heading_says_how_many_and_what_they_exchange() {
        let heading = |pattern, parties, family| {
            let mut row = row("eventfd", Wait::Block, Placement::Spread, 5000.0);
            row.case.exchange = Exchange::of(pattern).with_parties(NonZeroU32::new(parties).unwrap());
            Group::of(&row.case, Some(family)).title
        };
        let (data, nothing) = (Family::Socket, Family::Notification);
        let heading_of = |said: (Pattern, u32, Family)| heading(said.0, said.1, said.2);
        for (case, first, last) in [
            ((Pattern::Ready, 1, data), "128B messages by one of all links", "blocking, 1 link"),
            ((Pattern::FanOut, 1, data), "128B messages to every receiver", "blocking, 1 receiver"),
            ((Pattern::RoundTrip, 1, data), "128B messages on", "blocking"),
            ((Pattern::RoundTrip, 2, data), "128B messages on", "blocking, 2 pairs at once"),
            (
                (Pattern::Work, 4, nothing),
                "Notifications, each to one worker (they carry nothing) on",
                ", 4 workers",
            ),
        ] {
            let title = heading_of(case);
            assert!(title.starts_with(first) && title.ends_with(last), "{title}");
        }
    }

    #[test]
    fn windows_and_think_times_are_in_one_ranking() {
        let with = |(window, arrival)| {
            let mut row = row("pipe", Wait::Block, Placement::OtherCore, 5000.0);
            row.case = Case { arrival, ..row.case }.with_window(NonZeroU32::new(window).unwrap());
            row
        };
        let paces = [(1, Arrival::ClosedLoop), (16, Arrival::ClosedLoop), (1, Arrival::ThinkTime(1_500_000))];
        let mut rows: Vec<Row> = paces.map(with).into();
        let groups = rank(&mut rows, &Harness::default(), by_median);
        let [group] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(group.name, "other-core/sleeping/128B");
        let names: Vec<_> = rows.iter().map(|row| row.case.row()).collect();
        assert_eq!(names, ["pipe/block", "pipe/block (think-time 1500us)", "pipe/block (window 16)"]);
    }

    #[test]
    fn each_rate_is_ranked_by_itself() {
        let paced = |arrival| {
            let mut row = row("pipe", Wait::Block, Placement::OtherCore, 5000.0);
            row.case.arrival = arrival;
            row
        };
        let poisson = Arrival::Poisson(100_000);
        let paces = [Arrival::Interval(100_000), Arrival::ClosedLoop, Arrival::Interval(1_500), poisson];
        let mut rows: Vec<Row> = paces.map(paced).into();
        let groups = rank(&mut rows, &Harness::default(), by_median);
        let names: Vec<_> =
            groups.iter().map(|group| group.name.trim_start_matches("other-core/sleeping/")).collect();
        assert_eq!(names, ["128B", "128B/every-1500ns", "128B/every-100us"]);
        let [.., fixed, random] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((&*random.case.row(), &random.group), ("pipe/block (arrival poisson)", &fixed.group));
        assert!(rows.iter().all(|row| row.rank == Some(1)) && rows[0].tied_with.is_empty());
        assert!(groups[2].title.ends_with("blocking, at 10k/s"), "{}", groups[2].title);
    }
}
