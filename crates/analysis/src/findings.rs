//! Findings: statements about the figures for readers who see them for the first time.
//!
//! A finding that compares benchmarks requires intervals that do not overlap, or that overlap in the case of a tie.

use crate::batch_knee::{batched_rows, knees};
use crate::{
    BatchKnee, BatchedRow, CommonProperties, ConditionEffects, DisturbedRow, Group, Growths, Level,
    PayloadKind, Ratio, Regimes, Row, Verdict,
};
use furlong_model::{Case, Depth, Family, NoiseReading, Placement, SocketOption, WaitKind};
use furlong_stats::{distinct, median, tidy};
use serde::Serialize;
use std::iter;

/// Minimum spread or gap for a finding, as a factor.
const WORTH_SAYING: f64 = 1.2;
/// Capacity of a mailbox.
const ONE: Depth = Depth::Messages(1);
/// Minimum number of benchmarks for a statement about all blocking ones.
const FEW_ROWS: usize = 3;

/// Statement about figures. Factors are ratios of medians.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// The machine was unreliable, which suppresses most other findings.
    Unreliable,
    /// A benchmark is slower, or faster, if it must wake another core.
    WakeUp {
        /// Ratio of cross-core to same-core times: the median over the benchmarks.
        times: f64,
        /// Number of benchmarks with a significant difference.
        rows: usize,
        /// Message size in bytes.
        size_bytes: Option<usize>,
    },
    /// All blocking benchmarks tie across cores.
    SleepersTie {
        /// Number of benchmarks.
        rows: usize,
        /// Median of the fastest, in nanoseconds.
        fastest_ns: f64,
        /// Median of the slowest, in nanoseconds.
        slowest_ns: f64,
        /// Message size in bytes.
        size_bytes: Option<usize>,
    },
    /// Two blocking processes on two cores become slower, or faster, after more time than a trial takes.
    SleepersChange {
        /// Median round trip of a bare pair in the first hundredths of a second, in nanoseconds.
        first_ns: f64,
        /// Median round trip after a tenth of a second, in nanoseconds.
        later_ns: f64,
    },
    /// Blocking benchmarks differ less across cores than on one core.
    SleepersAreCloser {
        /// Ratio of the slowest to the fastest across cores.
        across: f64,
        /// Ratio of the slowest to the fastest on one core.
        within: f64,
        /// Message size in bytes.
        size_bytes: Option<usize>,
    },
    /// The fastest busy-waiting benchmark is faster than the fastest blocking one.
    Spinning {
        /// Benchmark that busy-waits.
        spinner: NamedRow,
        /// Factor by which it is faster.
        times: f64,
        /// Benchmark that blocks.
        sleeper: NamedRow,
        /// Number of other blocking benchmarks that tie with it.
        sleepers_tied: usize,
        /// Message size in bytes.
        size_bytes: Option<usize>,
        /// CPUs that each keeps busy, the busy-waiting one first.
        processors_busy: [f64; 2],
    },
    /// Shared memory is faster than other mechanisms with the same kind of wait strategy. This group has the largest
    /// factor.
    Memory {
        /// Common properties of the benchmarks.
        among: CommonProperties,
        /// Fastest benchmark over shared memory.
        memory: NamedRow,
        /// Factor by which it is faster.
        times: f64,
        /// Fastest benchmark without shared memory.
        rest: NamedRow,
        /// Number of other benchmarks without shared memory that tie with it.
        rest_tied: usize,
    },
    /// Shared memory ties with another mechanism.
    MemoryTies {
        /// Common properties of the benchmarks.
        among: CommonProperties,
        /// Fastest benchmark over shared memory.
        memory: NamedRow,
        /// Fastest benchmark without shared memory.
        rest: NamedRow,
    },
    /// One way, a mechanism that holds one message is slower than one that holds several. This group has the largest
    /// factor.
    OneAtATime {
        /// Common properties of the benchmarks.
        among: CommonProperties,
        /// Fastest benchmark that holds one message.
        one: NamedRow,
        /// Factor by which it is slower.
        times: f64,
        /// Fastest benchmark that holds several.
        several: NamedRow,
        /// Capacity of the latter.
        depth: Depth,
    },
    /// Own programs and their peers use no CPU for most of the time.
    Waits {
        /// The programs.
        programs: Vec<WaitingProgram>,
    },
    /// Effects of the values of a condition.
    Condition(ConditionEffects),
    /// Quotas were used up, or neighbours shared the CPU of a role.
    Environment {
        /// The benchmarks.
        rows: Vec<DisturbedRow>,
    },
    /// The second of two writes waits for a delayed acknowledgement of the first.
    DelayedAcknowledgement {
        /// Slowest such benchmark.
        row: NamedRow,
    },
    /// Sends without a copy were copied, because both ends are on one machine.
    CopiedOverLoopback {
        /// Names of the benchmarks.
        rows: Vec<String>,
    },
    /// Benchmarks carried several messages per call.
    Batches {
        /// The benchmarks.
        rows: Vec<BatchedRow>,
        /// The batch sizes from which on they no longer become faster.
        knees: Vec<BatchKnee>,
    },
    /// The core-to-core time had two levels.
    TwoLevels(Regimes),
    /// The benchmarks had several numbers of pairs, receivers, senders or workers.
    Growth(Growths),
}

/// Own program that waits for something other than its peer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitingProgram {
    /// Benchmark with its placement and its median.
    pub row: NamedRow,
    /// Share of the time in which none of its processes uses a CPU, from 0 to 1.
    pub share: f64,
    /// CPU time of all its processes per exchange, in nanoseconds.
    pub cpu_ns: f64,
}

/// Benchmark with its median.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedRow {
    /// Name of the benchmark: `mechanism/wait`.
    pub row: String,
    /// Median in nanoseconds.
    pub p50_ns: f64,
}

/// Returns all findings of the benchmarks.
pub(crate) fn draw(noise: &Verdict, groups: &[Group], rows: &[Row]) -> Vec<Finding> {
    if rows.is_empty() {
        return Vec::new();
    }
    let race = Race { groups, rows };
    if noise.level == Level::Unreliable {
        let facts = race.delayed_acknowledgement().into_iter().chain(race.waits()).chain(race.environment());
        // Findings from adjusted comparisons within a group are valid on an unreliable machine.
        let within_a_group =
            [race.memory(), race.memory_that_ties(), race.one_at_a_time()].into_iter().flatten();
        let is_adjusted = rows.iter().any(|row| row.comparable.is_some_and(|found| found.adjusted));
        let facts = facts.chain(race.batches(is_adjusted));
        let within_a_group = within_a_group.chain(race.condition_effects()).filter(|_| is_adjusted);
        return iter::once(Finding::Unreliable).chain(within_a_group).chain(facts).collect();
    }
    let findings = [
        race.wake_up(),
        race.sleepers(),
        race.spinning(),
        race.memory(),
        race.memory_that_ties(),
        race.one_at_a_time(),
        race.delayed_acknowledgement(),
        race.copied_over_loopback(),
    ];
    findings
        .into_iter()
        .flatten()
        .chain(race.condition_effects())
        .chain(race.waits())
        .chain(race.environment())
        .chain(race.batches(true))
        .collect()
}

/// Returns whether a blocking bare pair changed its pace after the time of a trial, if there are benchmarks of that kind.
pub(crate) fn sleepers_that_change(
    noise: &[NoiseReading],
    groups: &[Group],
    rows: &[Row],
) -> Option<Finding> {
    let [first_ns, later_ns] = noise.iter().find_map(|reading| reading.sleeping_pair_ns)?;
    let is_changed = (later_ns / first_ns).max(first_ns / later_ns) > WORTH_SAYING;
    let sleeps =
        |group: &Group| (group.placement, group.waiting) == (Placement::OtherCore, WaitKind::Sleeping);
    (is_changed && Race { groups, rows }.data_groups().any(sleeps))
        .then_some(Finding::SleepersChange { first_ns, later_ns })
}

/// Benchmarks by group. Most findings use only those with a payload, the default pattern, one pair, and one message in
/// flight as fast as possible. The others answer another question.
struct Race<'a> {
    groups: &'a [Group],
    rows: &'a [Row],
}

impl<'a> Race<'a> {
    fn data_groups(&self) -> impl Iterator<Item = &'a Group> {
        let plain = |group: &&Group| {
            group.pattern.is_default() && group.arrival.is_closed_loop() && group.parties.get() == 1
        };
        self.groups.iter().filter(|group| group.carries == PayloadKind::Data).filter(plain)
    }

    /// Returns the benchmarks of a group with one message in flight and no think time, the fastest first, without those that a quota or
    /// a neighbour disturbs as requested.
    fn members(&self, group: &Group) -> Vec<&'a Row> {
        let is_plain = |case: &Case| {
            case.window().get() == 1 && case.arrival == group.arrival && !case.conditions.limit_cpu_time()
        };
        self.rows.iter().filter(|row| row.group == group.name && is_plain(&row.case)).collect()
    }

    /// Returns the group that differs from `group` only in these two properties.
    fn sibling(&self, group: &Group, placement: Placement, waiting: WaitKind) -> Option<&'a Group> {
        self.data_groups().find(|other| {
            (other.placement, other.waiting, other.size_bytes) == (placement, waiting, group.size_bytes)
        })
    }

    /// Returns pairs of blocking groups on two cores and on one core, the smallest size first.
    fn sleeping_pairs(&self) -> impl Iterator<Item = (&'a Group, &'a Group)> {
        let across =
            |group: &&Group| (group.placement, group.waiting) == (Placement::OtherCore, WaitKind::Sleeping);
        self.data_groups()
            .filter(across)
            .filter_map(|group| Some((group, self.sibling(group, Placement::SameCore, WaitKind::Sleeping)?)))
    }

    /// Compares benchmarks that wake another core with the same ones on one core.
    fn wake_up(&self) -> Option<Finding> {
        let (across, within) = self.sleeping_pairs().next()?;
        let within = self.members(within);
        let ratio = |row: &Row| {
            let twin = within.iter().find(|twin| twin.case.row() == row.case.row())?;
            row.differs_from(twin).then(|| row.exchange.deciding().ns / twin.exchange.deciding().ns)
        };
        let ratios: Vec<f64> = self.members(across).into_iter().filter_map(ratio).collect();
        let times = median(&ratios).filter(|times| times.max(1.0 / times) > WORTH_SAYING)?;
        Some(Finding::WakeUp { times: tidy(times), rows: ratios.len(), size_bytes: across.size_bytes })
    }

    /// Finds how much the choice of a mechanism matters to blocking benchmarks.
    fn sleepers(&self) -> Option<Finding> {
        let (across, within) = self.sleeping_pairs().next()?;
        let size_bytes = across.size_bytes;
        let (across, within) = (self.members(across), self.members(within));
        if across.len() < FEW_ROWS || within.len() < FEW_ROWS {
            return None;
        }
        if across.iter().all(|row| row.rank == Some(1)) {
            let [fastest_ns, slowest_ns] =
                [across.first()?, across.last()?].map(|row| row.exchange.deciding().ns);
            return Some(Finding::SleepersTie { rows: across.len(), fastest_ns, slowest_ns, size_bytes });
        }
        let (apart, wider) = (spread(&across)?, spread(&within)?);
        (wider > apart * WORTH_SAYING).then(|| Finding::SleepersAreCloser {
            across: tidy(apart),
            within: tidy(wider),
            size_bytes,
        })
    }

    /// Finds the gain and the cost of busy-waiting.
    fn spinning(&self) -> Option<Finding> {
        let pair = |spinners: &Group| {
            let sleepers = self.sibling(spinners, Placement::OtherCore, WaitKind::Sleeping)?;
            let sleepers = self.members(sleepers);
            let sleeper = *sleepers.first()?;
            let tied = tied_with(sleeper, sleepers.iter().copied());
            Some((*self.members(spinners).first()?, sleeper, tied, spinners.size_bytes))
        };
        let spins =
            |group: &&Group| (group.placement, group.waiting) == (Placement::OtherCore, WaitKind::Spinning);
        let (spinner, sleeper, sleepers_tied, size_bytes) =
            self.data_groups().filter(spins).find_map(pair)?;
        let gain = sleeper.exchange.deciding().ns / spinner.exchange.deciding().ns;
        (spinner.differs_from(sleeper) && gain > WORTH_SAYING).then(|| Finding::Spinning {
            spinner: NamedRow::of(spinner),
            times: tidy(gain),
            sleeper: NamedRow::of(sleeper),
            sleepers_tied,
            size_bytes,
            processors_busy: [spinner, sleeper].map(|row| tidy(row.processors_busy())),
        })
    }

    /// Returns for each group the fastest benchmark over shared memory and the fastest over another known family. It also
    /// returns the number of other such benchmarks that tie with the latter.
    fn memory_against_rest(&self) -> impl Iterator<Item = (&'a Group, &'a Row, &'a Row, usize)> {
        self.data_groups().filter_map(|group| {
            let members = self.members(group);
            let is_memory = |family| matches!(family, Family::Memory | Family::Library);
            let memory = members.iter().find(|row| row.family.is_some_and(is_memory))?;
            // The mechanism inside an adapter's program is unknown.
            let is_rest = |family| !is_memory(family) && family != Family::Adapter;
            let mut others = members.iter().copied().filter(|row| row.family.is_some_and(is_rest));
            let rest = others.next()?;
            Some((group, *memory, rest, tied_with(rest, others)))
        })
    }

    /// Finds the largest gap between shared memory and the rest among benchmarks with the same wait strategy.
    fn memory(&self) -> Option<Finding> {
        let differ = |memory: &Row, rest: &Row| !memory.tied_with.contains(&rest.case.row());
        let compared = self.memory_against_rest().filter_map(|(group, memory, rest, tied)| {
            let gain = Ratio::of(rest, memory).times;
            (rest.comparable.is_some() && differ(memory, rest) && gain > WORTH_SAYING)
                .then_some((group, memory, rest, tied, gain))
        });
        let (group, memory, rest, rest_tied, gain) = compared.max_by(|a, b| a.4.total_cmp(&b.4))?;
        Some(Finding::Memory {
            among: CommonProperties::of(group),
            times: tidy(gain),
            memory: NamedRow::of(memory),
            rest: NamedRow::of(rest),
            rest_tied,
        })
    }

    /// Finds a group in which shared memory gains nothing.
    fn memory_that_ties(&self) -> Option<Finding> {
        let ties = |memory: &Row, rest: &Row| memory.tied_with.contains(&rest.case.row());
        let (group, memory, rest, _) =
            self.memory_against_rest().find(|(_, memory, rest, _)| ties(memory, rest))?;
        let (memory, rest) = (NamedRow::of(memory), NamedRow::of(rest));
        Some(Finding::MemoryTies { among: CommonProperties::of(group), memory, rest })
    }

    /// Finds a mechanism whose capacity of one message makes both sides alternate.
    fn one_at_a_time(&self) -> Option<Finding> {
        let one_way = |group: &&Group| {
            group.pattern.is_stream()
                && group.carries == PayloadKind::Data
                && group.arrival.is_closed_loop()
                && group.parties.get() == 1
        };
        let compared = self.groups.iter().filter(one_way).filter_map(|group| {
            let members = self.members(group);
            let depth = |row: &Row| row.depth.map(|[there, _]| there);
            let one = *members.iter().find(|row| depth(row) == Some(ONE))?;
            let several = *members.iter().find(|row| depth(row) > Some(ONE))?;
            let times = Ratio::of(one, several).times;
            let differ = one.comparable.is_some() && !one.tied_with.contains(&several.case.row());
            (differ && times > WORTH_SAYING).then_some((group, one, several, times, depth(several)?))
        });
        let (group, one, several, times, depth) = compared.max_by(|a, b| a.3.total_cmp(&b.3))?;
        Some(Finding::OneAtATime {
            among: CommonProperties::of(group),
            one: NamedRow::of(one),
            times: tidy(times),
            several: NamedRow::of(several),
            depth,
        })
    }
}

impl Race<'_> {
    /// Finds how quotas and neighbours disturbed benchmarks.
    fn environment(&self) -> Option<Finding> {
        let rows: Vec<_> = self.rows.iter().filter_map(DisturbedRow::of).collect();
        (!rows.is_empty()).then_some(Finding::Environment { rows })
    }

    /// Finds the effects of each condition. A delayed acknowledgement explains those of socket options and writes.
    fn condition_effects(&self) -> impl Iterator<Item = Finding> + use<> {
        let is_explained = self.delayed_acknowledgement().is_some();
        let is_its_cause =
            |effect: &ConditionEffects| ["socket-options", "writes"].contains(&effect.condition);
        let effects = ConditionEffects::all(self.groups, self.rows).into_iter();
        effects.filter(move |effect| !(is_explained && is_its_cause(effect))).map(Finding::Condition)
    }

    /// Finds the slowest benchmark whose two messages per round trip each wait as long as Linux delays an acknowledgement.
    fn delayed_acknowledgement(&self) -> Option<Finding> {
        const TWO_DELAYS_NS: f64 = 2.0 * 38e6;
        let waits = |row: &&Row| {
            let (conditions, exchange) = (&row.case.conditions, &row.case.exchange);
            let has_nagle = conditions.socket_options().contains(&SocketOption::Nagle);
            let is_trip = exchange.pattern().is_default() && exchange.window().get() == 1;
            has_nagle && conditions.has_two_writes() && is_trip && row.exchange.ns.p50 >= TWO_DELAYS_NS
        };
        let waiting = self.rows.iter().filter(waits);
        let slowest = waiting.max_by(|a, b| a.exchange.ns.p50.total_cmp(&b.exchange.ns.p50))?;
        Some(Finding::DelayedAcknowledgement { row: NamedRow::of(slowest) })
    }

    /// Finds benchmarks whose data the kernel copied although copies were not requested. It copies the data of every send that
    /// a socket of the same machine receives (Documentation/networking/msg_zerocopy.rst).
    fn copied_over_loopback(&self) -> Option<Finding> {
        let is_copied = |row: &&Row| {
            let has_zero_copy = row.case.conditions.socket_options().contains(&SocketOption::ZeroCopy);
            has_zero_copy && row.case.placement != Placement::OtherHost
        };
        let rows = distinct(self.rows.iter().filter(is_copied).map(|row| row.case.row()));
        (!rows.is_empty()).then_some(Finding::CopiedOverLoopback { rows })
    }

    /// Finds benchmarks with several messages per call, and their knees if those are reliable.
    fn batches(&self, is_reliable: bool) -> Option<Finding> {
        let rows = batched_rows(self.rows);
        let knees = if is_reliable { knees(self.rows) } else { Vec::new() };
        (!rows.is_empty() || !knees.is_empty()).then_some(Finding::Batches { rows, knees })
    }

    /// Finds own programs that wait for something other than each other, such as a timer. Processes that wake each other
    /// use CPU time for most of an exchange.
    fn waits(&self) -> Option<Finding> {
        const MOST_OF_THE_TIME: f64 = 0.9;
        let waiting = |row: &Row| {
            let share = 1.0 - row.processors_busy();
            let name = format!("{} {}", row.case.row(), row.case.placement);
            let named = NamedRow { row: name, ..NamedRow::of(row) };
            let is_waiting = row.programs.is_some() && share > MOST_OF_THE_TIME;
            is_waiting.then(|| WaitingProgram { row: named, share: tidy(share), cpu_ns: row.cpu_ns() })
        };
        let programs: Vec<_> = self.rows.iter().filter_map(waiting).collect();
        (!programs.is_empty()).then_some(Finding::Waits { programs })
    }
}

impl NamedRow {
    fn of(row: &Row) -> Self {
        NamedRow { row: row.case.row(), p50_ns: row.exchange.deciding().ns }
    }
}

/// Returns the number of `others` that tie with a benchmark.
fn tied_with<'a>(row: &Row, others: impl Iterator<Item = &'a Row>) -> usize {
    others.filter(|other| row.tied_with.contains(&other.case.row())).count()
}

/// Returns the ratio of the slowest to the fastest, if they differ.
fn spread(rows: &[&Row]) -> Option<f64> {
    let (fast, slow) = rows.first().zip(rows.last())?;
    fast.differs_from(slow).then(|| slow.exchange.deciding().ns / fast.exchange.deciding().ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture::{by_median, row},
        ranking,
    };
    use furlong_model::{Case, Harness, Pattern, ProgramFacts, Wait};

    /// Returns the findings of these benchmarks on a quiet machine.
    fn found(mut rows: Vec<Row>) -> Vec<Finding> {
        let groups = ranking::rank(&mut rows, &Harness::default(), by_median);
        let quiet = Verdict { level: Level::Quiet, reasons: vec![], core_to_core_ns: None, readings: 0 };
        draw(&quiet, &groups, &rows)
    }

    fn sleeping(placement: Placement, medians_ns: [f64; 3]) -> Vec<Row> {
        let rows = [("posix-mq", Wait::Block), ("posix-shm", Wait::Futex), ("tcp", Wait::Block)];
        let at = |((name, wait), median_ns)| row(name, wait, placement, median_ns);
        rows.into_iter().zip(medians_ns).map(at).collect()
    }

    /// Checks a value within 1 %, the accuracy of histograms.
    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} is not {expected}");
    }

    #[test]
    fn change_of_a_bare_pair_is_said_of_rows_that_sleep_on_two_cores() {
        let said = |placement, sleeping_pair_ns| {
            let mut rows = sleeping(placement, [30e3, 40e3, 50e3]);
            let groups = ranking::rank(&mut rows, &Harness::default(), by_median);
            let first = NoiseReading { sleeping_pair_ns, ..NoiseReading::default() };
            sleepers_that_change(&[first, NoiseReading::default()], &groups, &rows)
        };
        let change = Some([30e3, 42e3]);
        let expected = Finding::SleepersChange { first_ns: 30e3, later_ns: 42e3 };
        assert_eq!(said(Placement::OtherCore, change), Some(expected));
        assert_eq!(said(Placement::SameCore, change), None);
        assert_eq!(said(Placement::OtherCore, Some([30e3, 33e3])), None);
        assert_eq!(said(Placement::OtherCore, None), None);
    }

    #[test]
    fn one_row_says_nothing() {
        assert_eq!(found(vec![row("pipe", Wait::Block, Placement::OtherCore, 5000.0)]), []);
        assert_eq!(found(Vec::new()), []);
    }

    #[test]
    fn room_for_one_message_makes_a_stream_slow() {
        let one_way = |rows: Vec<Row>| {
            let stream = |row: Row| Row { case: row.case.clone().with_pattern(Pattern::OneWay), ..row };
            found(rows.into_iter().map(stream).collect())
        };
        let across = Placement::OtherCore;
        let rows = vec![
            row("posix-shm", Wait::Futex, across, 3_000.0),
            row("pipe", Wait::Block, across, 500.0),
            row("tcp", Wait::Block, across, 900.0),
        ];
        let found_one_way = one_way(rows.clone());
        let [Finding::OneAtATime { one, times, several, depth: Depth::Messages(481), .. }] =
            &found_one_way[..]
        else {
            panic!("{found_one_way:?}");
        };
        assert_eq!([&*one.row, &*several.row], ["posix-shm/futex", "pipe/block"]);
        close(*times, 6.0);
        assert!(
            !found(rows.clone()).iter().any(|one| matches!(one, Finding::OneAtATime { .. })),
            "round trips"
        );
        let unsaid = |row: Row| Row { depth: None, ..row };
        assert_eq!(one_way(rows.into_iter().map(unsaid).collect()), [], "runs of before do not say it");
        let fast = vec![row("posix-shm", Wait::Spin, across, 100.0), row("pipe", Wait::Spin, across, 500.0)];
        assert_eq!(one_way(fast), [], "the mailbox wins");
    }

    #[test]
    fn nothing_is_concluded_on_an_unreliable_machine() {
        let unreliable =
            Verdict { level: Level::Unreliable, reasons: vec![], core_to_core_ns: None, readings: 0 };
        let measured = row("pipe", Wait::Block, Placement::OtherCore, 5000.0);
        assert_eq!(draw(&unreliable, &[], &[measured]), [Finding::Unreliable]);
        assert_eq!(draw(&unreliable, &[], &[]), []);
    }

    #[test]
    fn waking_another_core_has_its_price() {
        let rows = [
            sleeping(Placement::OtherCore, [52_000.0, 54_000.0, 60_000.0]),
            sleeping(Placement::SameCore, [4_000.0, 4_500.0, 10_000.0]),
        ];
        let found = found(rows.concat());
        let [Finding::WakeUp { times, rows: 3, size_bytes: Some(128) }, closer, ..] = &found[..] else {
            panic!("{found:?}");
        };
        close(*times, 12.0);
        let Finding::SleepersAreCloser { across, within, size_bytes: Some(128) } = closer else {
            panic!("{closer:?}")
        };
        close(*across, 60.0 / 52.0);
        close(*within, 2.5);
    }

    #[test]
    fn a_machine_that_wakes_fast_is_not_called_slow() {
        let rows = [
            sleeping(Placement::OtherCore, [2_000.0, 2_200.0, 5_000.0]),
            sleeping(Placement::SameCore, [4_000.0, 4_400.0, 10_000.0]),
        ];
        let found = found(rows.concat());
        let Finding::WakeUp { times, .. } = found[0] else { panic!("{found:?}") };
        close(times, 0.5);
        assert!(!found.iter().any(|one| matches!(one, Finding::SleepersAreCloser { .. })), "{found:?}");
    }

    #[test]
    fn overlapping_rows_are_only_ever_called_a_tie() {
        let rows = [
            sleeping(Placement::OtherCore, [52_000.0, 52_100.0, 52_200.0]),
            sleeping(Placement::SameCore, [51_900.0, 52_000.0, 52_050.0]),
        ];
        let found = found(rows.concat());
        let [Finding::SleepersTie { rows: 3, .. }, Finding::MemoryTies { memory, .. }] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(memory.row, "posix-shm/futex");
    }

    #[test]
    fn delayed_acknowledgement_needs_nagle_two_writes_and_a_wait() {
        let waits = |conditions: &str, median_ns: f64| {
            let row = row("tcp", Wait::Block, Placement::OtherCore, median_ns);
            let conditions = serde_json::from_str(conditions).unwrap();
            let found = found(vec![Row { case: Case { conditions, ..row.case.clone() }, ..row }]);
            found.iter().any(|one| matches!(one, Finding::DelayedAcknowledgement { .. }))
        };
        let nagle = r#"{"socket-options": "nagle", "writes": "2"}"#;
        assert!(waits(nagle, 88e6) && !waits(nagle, 40e6));
        assert!(!waits(r#"{"socket-options": "nodelay", "writes": "2"}"#, 88e6));
        assert!(!waits(r#"{"socket-options": "nagle", "writes": "1"}"#, 88e6));
    }

    #[test]
    fn zero_copy_over_loopback_is_called_a_copy() {
        let is_copied = |conditions: &str, placement| {
            let row = row("udp", Wait::Block, placement, 20_000.0);
            let conditions = serde_json::from_str(conditions).unwrap();
            let found = found(vec![Row { case: Case { conditions, ..row.case.clone() }, ..row }]);
            found.iter().any(|one| matches!(one, Finding::CopiedOverLoopback { .. }))
        };
        let zero_copy = r#"{"socket-options": "zerocopy"}"#;
        assert!(is_copied(zero_copy, Placement::SameCore) && !is_copied(zero_copy, Placement::OtherHost));
        assert!(!is_copied("{}", Placement::SameCore));
    }

    #[test]
    fn program_that_uses_little_cpu_time_waits() {
        let programs = ProgramFacts {
            commands: [String::new(), "./client".to_owned()],
            begins_when_ready: true,
            ends_when_done: true,
            counts: true,
        };
        let busy =
            Row { programs: Some(programs), ..row("client", Wait::Own, Placement::SameCore, 5_000_000.0) };
        let mut waiting = busy.clone();
        (waiting.exchange.cpu_ns.user, waiting.exchange.cpu_ns.system) = (60_000.0, 40_000.0);
        let waits = found(vec![waiting]);
        let [Finding::Waits { programs }] = &waits[..] else { panic!("{waits:?}") };
        close(programs[0].share, 0.98);
        assert_eq!(programs[0].row.row, "client/own same-core");
        let mut busy = busy;
        busy.exchange.cpu_ns.user = 4_000_000.0;
        assert_eq!(found(vec![busy]), []);
    }

    #[test]
    fn spinning_is_shown_with_its_processors() {
        let found = found(vec![
            row("posix-shm", Wait::Spin, Placement::OtherCore, 500.0),
            row("pipe", Wait::Spin, Placement::OtherCore, 2_000.0),
            row("pipe", Wait::Block, Placement::OtherCore, 50_000.0),
        ]);
        let [
            Finding::Spinning { spinner, times, sleeper, processors_busy, .. },
            Finding::Memory { memory, times: gain, rest, .. },
        ] = &found[..]
        else {
            panic!("{found:?}");
        };
        assert_eq!([&spinner.row, &sleeper.row], ["posix-shm/spin", "pipe/block"]);
        assert_eq!([&memory.row, &rest.row], ["posix-shm/spin", "pipe/spin"]);
        close(*times, 100.0);
        close(*gain, 4.0);
        close(processors_busy[0], 2.0);
        close(processors_busy[1], 0.5);
    }
}
