//! What the figures say, in sentences for somebody who sees them for the first time.
//!
//! A sentence is drawn only when its rows were measured and their intervals are apart (or, for a tie, overlap).

use crate::{Carries, Group, Level, Row, Verdict, ranking::describe_placement};
use furlong_model::{Family, Pattern, Placement, WaitKind, format_bytes, format_ns};
use furlong_stats::median;

/// A spread or gap below this factor is not worth a sentence.
const WORTH_SAYING: f64 = 1.2;
/// Rows that a statement about "the sleeping rows" needs.
const FEW_ROWS: usize = 3;

/// All sentences that these rows carry.
pub(crate) fn draw(noise: &Verdict, groups: &[Group], rows: &[Row]) -> Vec<String> {
    if noise.level == Level::Unreliable {
        let sentence =
            "The machine was unreliable during this run, so no conclusion is drawn from its figures.";
        return vec![sentence.to_owned()];
    }
    let race = Race { groups, rows };
    let findings = [race.wake_up(), race.sleepers(), race.spinning(), race.memory(), race.memory_that_ties()];
    findings.into_iter().flatten().collect()
}

/// The rows that carry data, by group. Those at a pace or in a pattern of their own are left out:
/// they answer another question.
struct Race<'a> {
    groups: &'a [Group],
    rows: &'a [Row],
}

impl<'a> Race<'a> {
    fn data_groups(&self) -> impl Iterator<Item = &'a Group> {
        let plain = |group: &&Group| group.pattern == Pattern::RoundTrip && group.arrival.is_closed_loop();
        self.groups.iter().filter(|group| group.carries == Carries::Data).filter(plain)
    }

    /// The rows of a group, the fastest first.
    fn members(&self, group: &Group) -> Vec<&'a Row> {
        self.rows.iter().filter(|row| row.group == group.name).collect()
    }

    /// The group that differs from `group` in these two only.
    fn sibling(&self, group: &Group, placement: Placement, waiting: WaitKind) -> Option<&'a Group> {
        self.data_groups().find(|other| {
            (other.placement, other.waiting, other.size_bytes) == (placement, waiting, group.size_bytes)
        })
    }

    /// Pairs of sleeping groups on two cores and on one, the smallest size first.
    fn sleeping_pairs(&self) -> impl Iterator<Item = (&'a Group, &'a Group)> {
        let across =
            |group: &&Group| (group.placement, group.waiting) == (Placement::OtherCore, WaitKind::Sleeping);
        self.data_groups()
            .filter(across)
            .filter_map(|group| Some((group, self.sibling(group, Placement::SameCore, WaitKind::Sleeping)?)))
    }

    /// How much longer the same row takes when it must wake another core.
    fn wake_up(&self) -> Option<String> {
        let (across, within) = self.sleeping_pairs().next()?;
        let within = self.members(within);
        let ratio = |row: &Row| {
            let twin = within.iter().find(|twin| twin.case.row() == row.case.row())?;
            row.differs_from(twin).then(|| row.exchange.ns.p50 / twin.exchange.ns.p50)
        };
        let ratios: Vec<f64> = self.members(across).into_iter().filter_map(ratio).collect();
        let middle = median(&ratios)?;
        let of =
            if ratios.len() == 1 { "one row".to_owned() } else { format!("median of {} rows", ratios.len()) };
        if middle > WORTH_SAYING {
            Some(format!(
                "A row that sleeps takes {} times as long across two cores as on one ({of}, {}): the price is \
                 the wake-up of another core, paid twice a round trip.",
                factor(middle),
                size(across),
            ))
        } else {
            (middle < 1.0 / WORTH_SAYING).then(|| {
                let middle = factor(1.0 / middle);
                format!(
                    "A row that sleeps is {middle} times as fast across two cores as on one ({of}, {}).",
                    size(across)
                )
            })
        }
    }

    /// How much the choice of a mechanism matters to rows that sleep.
    fn sleepers(&self) -> Option<String> {
        let (across, within) = self.sleeping_pairs().next()?;
        let (across, within) = (self.members(across), self.members(within));
        if across.len() < FEW_ROWS || within.len() < FEW_ROWS {
            return None;
        }
        if across.iter().all(|row| row.rank == 1) {
            let range = range(&across);
            let count = across.len();
            return Some(format!(
                "All {count} sleeping rows across two cores tie ({range}): there the mechanism hardly matters."
            ));
        }
        let (apart, wider) = (spread(&across)?, spread(&within)?);
        (wider > apart * WORTH_SAYING).then(|| {
            format!(
                "Which mechanism it is matters less across cores: the slowest row that sleeps takes {} times as \
                 long as the fastest there, and {} times on one core.",
                factor(apart),
                factor(wider),
            )
        })
    }

    /// What spinning buys and what it costs.
    fn spinning(&self) -> Option<String> {
        let pair = |spinners: &Group| {
            let sleepers = self.sibling(spinners, Placement::OtherCore, WaitKind::Sleeping)?;
            Some((*self.members(spinners).first()?, *self.members(sleepers).first()?, size(spinners)))
        };
        let spins =
            |group: &&Group| (group.placement, group.waiting) == (Placement::OtherCore, WaitKind::Spinning);
        let (spinner, sleeper, size) = self.data_groups().filter(spins).find_map(pair)?;
        let gain = sleeper.exchange.ns.p50 / spinner.exchange.ns.p50;
        (spinner.differs_from(sleeper) && gain > WORTH_SAYING).then(|| {
            format!(
                "Spinning buys speed with processors: {} is {} times as fast as {}, the fastest that sleeps \
                 ({size}). It keeps {:.1} processors busy, the other {:.1}.",
                named(spinner),
                factor(gain),
                named(sleeper),
                spinner.processors_busy(),
                sleeper.processors_busy(),
            )
        })
    }

    /// The fastest row over shared memory and the fastest over anything else known, in each group.
    fn memory_against_rest(&self) -> impl Iterator<Item = (&'a Group, &'a Row, &'a Row)> {
        self.data_groups().filter_map(|group| {
            let members = self.members(group);
            let memory = members.iter().find(|row| row.family == Some(Family::Memory))?;
            let rest =
                members.iter().find(|row| row.family.is_some_and(|family| family != Family::Memory))?;
            Some((group, *memory, *rest))
        })
    }

    /// The largest gap between shared memory and the rest among rows that wait the same way.
    fn memory(&self) -> Option<String> {
        let gain = |memory: &Row, rest: &Row| rest.exchange.ns.p50 / memory.exchange.ns.p50;
        let (group, memory, rest) = self
            .memory_against_rest()
            .filter(|(_, memory, rest)| memory.differs_from(rest) && gain(memory, rest) > WORTH_SAYING)
            .max_by(|a, b| gain(a.1, a.2).total_cmp(&gain(b.1, b.2)))?;
        Some(format!(
            "Among rows {}, shared memory gains the most: {} is {} times as fast as {}, the best without it.",
            place(group),
            named(memory),
            factor(gain(memory, rest)),
            named(rest),
        ))
    }

    /// Where shared memory gains nothing.
    fn memory_that_ties(&self) -> Option<String> {
        let ties = |memory: &Row, rest: &Row| memory.tied_with.contains(&rest.case.row());
        let (group, memory, rest) =
            self.memory_against_rest().find(|(_, memory, rest)| ties(memory, rest))?;
        Some(format!(
            "Among rows {}, shared memory gains nothing that shows: {} ties with {}.",
            place(group),
            named(memory),
            named(rest),
        ))
    }
}

/// A row with its median.
fn named(row: &Row) -> String {
    format!("{} ({})", row.case.row(), format_ns(row.exchange.ns.p50))
}

fn size(group: &Group) -> String {
    group.size_bytes.map_or_else(String::new, format_bytes)
}

/// The group in a few words.
fn place(group: &Group) -> String {
    let waits = match group.waiting {
        WaitKind::Sleeping => "sleeping",
        WaitKind::Spinning => "spinning",
    };
    format!("{waits} on {} ({})", describe_placement(group.placement), size(group))
}

/// From the fastest to the slowest.
fn range(rows: &[&Row]) -> String {
    let ends = rows.first().zip(rows.last());
    ends.map_or_else(String::new, |(fast, slow)| {
        format!("{} to {}", format_ns(fast.exchange.ns.p50), format_ns(slow.exchange.ns.p50))
    })
}

/// The slowest over the fastest, if they differ.
fn spread(rows: &[&Row]) -> Option<f64> {
    let (fast, slow) = rows.first().zip(rows.last())?;
    fast.differs_from(slow).then(|| slow.exchange.ns.p50 / fast.exchange.ns.p50)
}

/// Two digits for small factors, whole numbers for large ones.
fn factor(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::row, ranking};
    use furlong_model::{Harness, Wait};

    /// What these rows teach on a quiet machine.
    fn taught(mut rows: Vec<Row>) -> String {
        let groups = ranking::rank(&mut rows, &Harness::default());
        let quiet = Verdict { level: Level::Quiet, reasons: vec![], core_to_core_ns: None, readings: 0 };
        draw(&quiet, &groups, &rows).join("\n")
    }

    fn sleeping(placement: Placement, medians_ns: [f64; 3]) -> Vec<Row> {
        let rows = [("posix-mq", Wait::Block), ("posix-shm", Wait::Futex), ("tcp", Wait::Block)];
        let at = |((name, wait), median_ns)| row(name, wait, placement, median_ns);
        rows.into_iter().zip(medians_ns).map(at).collect()
    }

    #[test]
    fn one_row_teaches_nothing() {
        assert_eq!(taught(vec![row("pipe", Wait::Block, Placement::OtherCore, 5000.0)]), "");
        assert_eq!(taught(Vec::new()), "");
    }

    #[test]
    fn an_unreliable_machine_teaches_nothing() {
        let unreliable =
            Verdict { level: Level::Unreliable, reasons: vec![], core_to_core_ns: None, readings: 0 };
        assert!(draw(&unreliable, &[], &[])[0].contains("no conclusion"));
    }

    #[test]
    fn waking_another_core_has_its_price() {
        let rows = [
            sleeping(Placement::OtherCore, [52_000.0, 54_000.0, 60_000.0]),
            sleeping(Placement::SameCore, [4_000.0, 4_500.0, 10_000.0]),
        ];
        let taught = taught(rows.concat());
        assert!(
            taught.contains("takes 12 times as long across two cores as on one (median of 3 rows"),
            "{taught}"
        );
        assert!(
            taught.contains("1.2 times as long as the fastest there, and 2.5 times on one core"),
            "{taught}"
        );
    }

    #[test]
    fn a_machine_that_wakes_fast_is_not_called_slow() {
        let rows = [
            sleeping(Placement::OtherCore, [2_000.0, 2_200.0, 5_000.0]),
            sleeping(Placement::SameCore, [4_000.0, 4_400.0, 10_000.0]),
        ];
        let taught = taught(rows.concat());
        assert!(taught.contains("2.0 times as fast across two cores as on one"), "{taught}");
        assert!(!taught.contains("matters less"), "{taught}");
    }

    #[test]
    fn overlapping_rows_are_only_ever_called_a_tie() {
        let rows = [
            sleeping(Placement::OtherCore, [52_000.0, 52_100.0, 52_200.0]),
            sleeping(Placement::SameCore, [51_900.0, 52_000.0, 52_050.0]),
        ];
        let taught = taught(rows.concat());
        assert!(taught.contains("All 3 sleeping rows across two cores tie"), "{taught}");
        assert!(taught.contains("shared memory gains nothing"), "{taught}");
        assert!(!taught.contains("as fast") && !taught.contains("as long"), "{taught}");
    }

    #[test]
    fn spinning_is_shown_with_its_processors() {
        let taught = taught(vec![
            row("posix-shm", Wait::Spin, Placement::OtherCore, 500.0),
            row("pipe", Wait::Spin, Placement::OtherCore, 2_000.0),
            row("pipe", Wait::Block, Placement::OtherCore, 50_000.0),
        ]);
        assert!(
            taught.contains("posix-shm/spin (500 ns) is 100 times as fast as pipe/block (50.0 us)"),
            "{taught}"
        );
        assert!(taught.contains("It keeps 2.0 processors busy, the other 0.5."), "{taught}");
        assert!(
            taught.contains("posix-shm/spin (500 ns) is 4.0 times as fast as pipe/spin (2.00 us)"),
            "{taught}"
        );
    }
}
