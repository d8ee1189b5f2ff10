//! Selection of cases by the rows on the command line.

use crate::arguments::{CaseOptions, PatternOptions};
use crate::nearest::nearest;
use fast_glob::glob_match;
use furlong_bench::{MechanismEntry, role_boundary};
use furlong_console::exit::Usage;
use furlong_model::{
    Access, Arrival, Boundary, Capabilities, Case, Copies, Exchange, Family, KernelBuffer, Links, Pattern,
    Placement, Request, RequestedCondition, RequestedConditions, Sizes, Start, Unavailable, Wait, WaitKind,
    is_one, row_name,
};
use furlong_stats::distinct;

/// The maximum number of mechanisms that are suggested for a part of their names.
const MOST_MEANT: usize = 6;

/// Returns all rows, in the order of the list: the capabilities of a mechanism and one of its wait strategies.
pub fn rows(mechanisms: &[MechanismEntry]) -> impl Iterator<Item = (&'static Capabilities, Wait)> {
    mechanisms
        .iter()
        .flat_map(|entry| entry.capabilities.waits.iter().map(|wait| (entry.capabilities, *wait)))
}

/// Returns a mechanism's default wait strategy: the first in its list.
fn usual_wait(mechanisms: &[MechanismEntry], mechanism: &str) -> Option<Wait> {
    rows(mechanisms).find(|(capabilities, _)| capabilities.name == mechanism).map(|(_, wait)| wait)
}

/// A row as typed.
struct TypedRow<'a> {
    text: &'a str,
    /// Whether the text names a wait strategy after a slash. Otherwise the default wait strategy is meant.
    names_wait: bool,
}

impl<'a> TypedRow<'a> {
    fn parse(text: &'a str) -> anyhow::Result<TypedRow<'a>> {
        fast_glob::validate(text)
            .map_err(|error| Usage(format!("'{text}' is not a valid benchmark: {error}")))?;
        Ok(TypedRow { text, names_wait: text.contains('/') })
    }

    fn matches(&self, mechanism: &str, wait: Wait, usual: bool) -> bool {
        if self.names_wait {
            glob_match(self.text, format!("{mechanism}/{wait}"))
        } else {
            usual && glob_match(self.text, mechanism)
        }
    }
}

/// The common properties of the cases of a selection, apart from rows, sizes and places.
#[derive(Debug, Clone)]
pub struct CaseTemplate {
    /// The exchange of messages between the roles.
    pub exchange: Exchange,
    /// The times at which messages are sent.
    pub arrival: Arrival,
    /// Whether it is compared with several pairs, so that it is placed on the same CPUs as they are.
    pub is_beside_several: bool,
    /// Requested sizes of buffers in bytes: capacities of pipes, sizes of each socket buffer, and sizes of each ring. Each size
    /// makes separate cases of the mechanisms that have such a buffer.
    pub buffers: Vec<(KernelBuffer, Vec<usize>)>,
    /// The requested values of each kind of condition; each combination makes separate cases.
    pub conditions: Vec<Vec<RequestedCondition>>,
    /// The kinds of access to the bytes of messages; each makes separate cases.
    pub accesses: Vec<Access>,
}

impl Default for CaseTemplate {
    /// Returns closed-loop round trips with default buffer sizes.
    fn default() -> Self {
        CaseTemplate {
            exchange: Exchange::of(Pattern::default()),
            arrival: Arrival::ClosedLoop,
            is_beside_several: false,
            buffers: Vec::new(),
            conditions: Vec::new(),
            accesses: vec![Access::Copy],
        }
    }
}

impl CaseTemplate {
    /// Returns the template for these options, exchange and pace.
    pub fn new(options: &PatternOptions, exchange: Exchange, arrival: Arrival) -> CaseTemplate {
        let accesses = &options.accesses;
        CaseTemplate {
            exchange,
            arrival,
            buffers: requested_buffers(options).map(|(kind, _, sizes)| (kind, sizes)).into(),
            accesses: if accesses.is_empty() { vec![Access::Copy] } else { accesses.clone() },
            ..CaseTemplate::default()
        }
    }

    /// Returns the cases of one row, size and place: one for each access, buffer and combination of conditions. The user's
    /// own programs determine their exchange themselves.
    fn cases(
        &self,
        (capabilities, wait): (&Capabilities, Wait),
        size_bytes: usize,
        placement: Placement,
    ) -> Vec<Case> {
        let plain = Case::round_trip(capabilities.name, wait, size_bytes, placement);
        let combinations = RequestedConditions::combinations(&self.conditions, capabilities);
        let with_conditions = |case: Case| {
            let with = move |conditions: &RequestedConditions| Case {
                size_bytes: conditions.largest_bytes().unwrap_or(case.size_bytes),
                exchange: match (conditions.request_mix(), case.exchange.request()) {
                    (Some(mix), Some(request)) => {
                        let request = Request { size_bytes: mix.largest_bytes(), ..request.clone() };
                        case.exchange.clone().with_request(Some(request))
                    }
                    _ => case.exchange.clone(),
                },
                conditions: conditions.clone(),
                ..case.clone()
            };
            combinations.iter().map(with)
        };
        if capabilities.family == Family::Programs {
            return with_conditions(plain).collect();
        }
        let asked =
            self.buffers.iter().find(|(kind, sizes)| *kind == capabilities.buffer && !sizes.is_empty());
        let buffers =
            asked.map_or_else(|| vec![None], |(_, sizes)| sizes.iter().copied().map(Some).collect());
        let case = |access: Access, buffer_bytes: Option<usize>| Case {
            exchange: self.exchange.clone(),
            arrival: self.arrival,
            buffer_bytes,
            access,
            ..plain.clone()
        };
        let accesses = self.accesses.iter();
        let cases = accesses.flat_map(|access| buffers.iter().map(|buffer| case(*access, *buffer)));
        cases.flat_map(with_conditions).collect()
    }
}

/// Returns the requested sizes in bytes of each kind of buffer, with its option.
pub fn requested_buffers(options: &PatternOptions) -> [(KernelBuffer, &'static str, Vec<usize>); 3] {
    [
        (KernelBuffer::Pipe, "--pipe-size", &options.pipe_sizes),
        (KernelBuffer::Socket, "--socket-buffer", &options.socket_buffers),
        (KernelBuffer::Ring, "--ring-size", &options.ring_sizes),
    ]
    .map(|(kind, option, sizes)| {
        (kind, option, distinct(sizes.iter().flat_map(|sizes: &Sizes| &sizes.0).map(|size| size.0)))
    })
}

/// Rows and wait strategies as typed, for one pattern.
struct Filter<'a> {
    wanted: Vec<TypedRow<'a>>,
    waits: &'a [Wait],
    /// Whether messages are copied in any of the cases.
    copies: bool,
    pattern: Pattern,
}

impl Filter<'_> {
    /// Returns whether a benchmark of a mechanism was asked for.
    fn accepts(&self, mechanisms: &[MechanismEntry], capabilities: &Capabilities, wait: Wait) -> bool {
        let links = self.pattern.facts().links;
        let can_be_watched = capabilities.can_be_watched() && !capabilities.notifies_only();
        // With `--wait`, a row without a slash means every wait strategy that passes, and so does a pattern that
        // compares wait strategies.
        let usual = if !self.waits.is_empty() {
            true
        } else if links == Links::Watched && can_be_watched {
            Wait::FOR_SEVERAL.contains(&wait)
        } else {
            usual_wait(mechanisms, capabilities.name) == Some(wait)
        };
        let can_carry = match links {
            Links::Shared => capabilities.sharing.goes_to_one(),
            Links::Watched => can_be_watched,
            Links::PerParty | Links::PerMessage => true,
        };
        let by_row = if self.wanted.is_empty() {
            usual && can_carry && (self.copies || capabilities.copies == Copies::TwoOrNone)
        } else {
            self.wanted.iter().any(|row| row.matches(capabilities.name, wait, usual))
        };
        by_row && (self.waits.is_empty() || self.waits.contains(&wait))
    }
}

/// Returns these rows as typed.
///
/// # Errors
/// Returns the first row without a benchmark, and similar names.
fn known<'a>(typed: &'a [String], mechanisms: &[MechanismEntry]) -> anyhow::Result<Vec<TypedRow<'a>>> {
    let wanted: Vec<_> = typed.iter().map(|row| TypedRow::parse(row)).collect::<Result<_, _>>()?;
    let is_known = |row: &&TypedRow<'_>| {
        rows(mechanisms).any(|(capabilities, wait)| row.matches(capabilities.name, wait, true))
    };
    let Some(row) = wanted.iter().find(|row| !is_known(row)) else { return Ok(wanted) };
    let names = rows(mechanisms)
        .flat_map(|(capabilities, wait)| [capabilities.name.to_owned(), row_name(capabilities.name, wait)]);
    let meant = meant(row.text, names.collect());
    let why = format!("no benchmark matches '{}'; {meant}run 'furlong list' to see all mechanisms", row.text);
    Err(Usage(why).into())
}

/// Returns the mechanisms of the requested rows, or all if none is requested.
///
/// # Errors
/// Returns the errors of [`known`].
pub fn requested(mechanisms: Vec<MechanismEntry>, typed: &[String]) -> anyhow::Result<Vec<MechanismEntry>> {
    let wanted = known(typed, &mechanisms)?;
    let is_wanted = |name: &str, wait| wanted.iter().any(|row| row.matches(name, wait, true));
    let names: Vec<_> = rows(&mechanisms)
        .filter(|(capabilities, wait)| wanted.is_empty() || is_wanted(capabilities.name, *wait))
        .map(|(capabilities, _)| capabilities.name)
        .collect();
    Ok(mechanisms.into_iter().filter(|entry| names.contains(&entry.capabilities.name)).collect())
}

/// Returns the requested cases.
///
/// # Errors
/// Returns a usage error if a row does not exist, or if no requested row has the wait strategy or a condition.
pub fn select(
    mechanisms: &[MechanismEntry],
    options: &CaseOptions,
    template: &CaseTemplate,
) -> anyhow::Result<Vec<Case>> {
    let filter = Filter {
        wanted: known(&options.rows, mechanisms)?,
        waits: &options.waits,
        copies: template.accesses.contains(&Access::Copy),
        pattern: template.exchange.pattern(),
    };
    let is_of_several = !is_one(&template.exchange.parties()) || template.is_beside_several;
    let usual = if is_of_several { Placement::Spread } else { Placement::OtherCore };
    let wanted_places = options.places_or(filter.pattern.facts().placement.unwrap_or(usual));
    let mut cases = Vec::new();
    for (capabilities, wait) in rows(mechanisms) {
        if !filter.accepts(mechanisms, capabilities, wait) {
            continue;
        }
        let sizes: Vec<usize> = match capabilities.fixed_size_bytes {
            Some(size) => vec![size],
            None => options.sizes.iter().flat_map(|sizes| &sizes.0).map(|size| size.0).collect(),
        };
        for &size_bytes in &sizes {
            for &placement in places(capabilities, &wanted_places) {
                for case in template.cases((capabilities, wait), size_bytes, placement) {
                    add(&mut cases, case);
                }
            }
        }
    }
    if cases.is_empty() {
        let waits = options.waits.iter().map(|wait| wait.name()).collect::<Vec<_>>().join(" or ");
        let reason = format!(
            "none of these mechanisms supports the wait strategy {waits}; run 'furlong list' to see which strategies each supports"
        );
        return Err(Usage(reason).into());
    }
    let is_unused = |value: &&RequestedCondition| {
        value.kind().has_option()
            && cases.iter().flat_map(|case| case.conditions.iter()).all(|condition| condition != *value)
    };
    if let Some(unused) = template.conditions.iter().flatten().find(is_unused) {
        return Err(Usage(format!(
            "--{unused}: none of these benchmarks can have this condition (see furlong run --help)"
        ))
        .into());
    }
    Ok(cases)
}

/// Returns a question with the name that was probably meant: the most similar one, or names whose mechanism contains the typed one.
fn meant(typed: &str, names: Vec<String>) -> String {
    fn parts(name: &str) -> (&str, Option<&str>) {
        name.split_once('/').map_or((name, None), |(mechanism, wait)| (mechanism, Some(wait)))
    }
    let (part, wait) = parts(typed);
    let contains = |name: &&String| {
        let (mechanism, of_name) = parts(name);
        part.len() > 1 && mechanism.contains(part) && of_name == wait
    };
    let containing = distinct(names.iter().filter(contains).cloned());
    let likely = nearest(typed, names.into_iter()).map_or(containing, |name| vec![name]);
    match &likely[..likely.len().min(MOST_MEANT)] {
        [] => String::new(),
        [name] => format!("did you mean {name}? "),
        [names @ .., last] => format!("did you mean {} or {last}? ", names.join(", ")),
    }
}

/// Returns the rows that measure a context switch and a wake-up, with the roles in each of `places` and in one
/// process. These mechanisms carry almost no data, block, and always make the same system calls.
pub fn references(mechanisms: &[MechanismEntry], places: &[Placement]) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in mechanisms {
        let capabilities = entry.capabilities;
        let Some(size_bytes) = capabilities.fixed_size_bytes else { continue };
        let wait = capabilities.waits[0];
        let calls = capabilities.declared_calls(wait, size_bytes);
        if wait.kind() == WaitKind::Sleeping && calls.values().all(|bounds| bounds.most == Some(bounds.least))
        {
            for &placement in places.iter().chain(&[Placement::OneProcess]) {
                add(&mut cases, Case::round_trip(capabilities.name, wait, size_bytes, placement));
            }
        }
    }
    cases
}

/// The message size of the quick set in bytes.
const QUICK_BYTES: usize = 128;

/// Returns the quick set: every common mechanism with its default wait strategy, cross-core and same-core. It also
/// has busy-waiting on memory and, for comparison, on the first mechanism of each other family. Busy-waiting is
/// measured cross-core only, because on one core a busy-waiting process waits for the end of its time slice.
pub fn quick(mechanisms: &[MechanismEntry]) -> Vec<Case> {
    let both = [Placement::OtherCore, Placement::SameCore];
    let first_of_family = |capabilities: &Capabilities| {
        let first = rows(mechanisms).find(|(other, _)| other.family == capabilities.family);
        first.is_some_and(|(first, _)| first.name == capabilities.name)
    };
    let mut cases = Vec::new();
    let common: Vec<_> = mechanisms.iter().filter(|entry| entry.is_common).copied().collect();
    for (capabilities, wait) in rows(&common) {
        let size_bytes = capabilities.fixed_size_bytes.unwrap_or(QUICK_BYTES);
        let usual = usual_wait(mechanisms, capabilities.name) == Some(wait);
        let polled = wait == Wait::Spin
            && !capabilities.notifies_only()
            && (matches!(capabilities.family, Family::Memory | Family::Library)
                || first_of_family(capabilities));
        if !usual && !polled {
            continue;
        }
        let spins = wait.kind() == WaitKind::Spinning;
        for &placement in places(capabilities, if spins { &both[..1] } else { &both }) {
            add(&mut cases, Case::round_trip(capabilities.name, wait, size_bytes, placement));
        }
    }
    cases
}

/// Returns the places of a mechanism. One without a second role has the same cost in every place.
fn places<'a>(capabilities: &Capabilities, places: &'a [Placement]) -> &'a [Placement] {
    if capabilities.start == Start::Alone { &places[..1] } else { places }
}

/// Adds a case unless it is already in the list.
pub fn add(cases: &mut Vec<Case>, case: Case) {
    if !cases.contains(&case) {
        cases.push(case);
    }
}

/// Returns why a boundary is not possible here, with the remedy.
///
/// # Errors
/// Returns a usage error if its seccomp profile is invalid.
pub fn refused_boundary(boundary: &Boundary) -> Result<Option<String>, Usage> {
    let refusal = role_boundary::impossible(boundary);
    let refusal = refusal.map(|Unavailable { reason, remedy }| format!("{reason}; {remedy}"));
    match (boundary, refusal) {
        (Boundary::Seccomp(_), Some(reason)) => Err(Usage(reason)),
        (_, refusal) => Ok(refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use clap::Parser;
    use furlong_bench::registry;

    fn selected(line: &str) -> anyhow::Result<Vec<String>> {
        let words = ["furlong", "run"].into_iter().chain(line.split_whitespace());
        match Arguments::try_parse_from(words)?.verb {
            Some(Verb::Run(options)) => Ok(select(&registry(), &options.cases, &CaseTemplate::default())?
                .iter()
                .map(|case| case.row())
                .collect()),
            _ => unreachable!("the verb is run"),
        }
    }

    #[test]
    fn a_mechanism_alone_means_its_usual_wait() {
        assert_eq!(selected("pipe").unwrap(), ["pipe/block"]);
        assert_eq!(selected("posix-shm").unwrap(), ["posix-shm/futex"]);
    }

    #[test]
    fn globs_name_several_rows() {
        assert_eq!(
            selected("unix-*").unwrap(),
            [
                "unix-stream/block",
                "unix-seqpacket/block",
                "unix-dgram/block",
                "unix-accept/block",
                "unix-dgram-to-all/block"
            ]
        );
        assert_eq!(selected("pipe/*").unwrap().len(), 8);
        assert!(selected("*/spin").unwrap().iter().all(|row| row.ends_with("/spin")));
    }

    #[test]
    fn waits_filter() {
        assert_eq!(selected("pipe --wait spin --wait poll").unwrap(), ["pipe/spin", "pipe/poll"]);
        assert!(selected("pipe --wait futex").is_err());
    }

    #[test]
    fn notifications_come_once_whatever_sizes_are_asked() {
        assert_eq!(
            selected("eventfd pipe -s 1 -s 2").unwrap(),
            ["pipe/block", "pipe/block", "eventfd/block"]
        );
    }

    #[test]
    fn short_lived_links_are_in_one_process() {
        let cases = |line: &str| {
            let words = ["furlong", "run", "pipe", "eventfd", "-m", "connect"];
            let words = words.into_iter().chain(line.split_whitespace());
            let Some(Verb::Run(options)) = Arguments::try_parse_from(words)?.verb else { unreachable!() };
            let exchange = options.exchange_options().exchanges().map_err(|why| Usage(why.to_string()))?;
            let template = CaseTemplate::new(&options.pattern, exchange[0].clone(), Arrival::ClosedLoop);
            select(&registry(), &options.cases, &template)
        };
        for case in cases("").unwrap() {
            assert_eq!((case.pattern(), case.placement), (Pattern::Connect, Placement::OneProcess));
        }
        for refused in ["--place same-core", "--place 0:1", "--window 2"] {
            assert!(cases(refused).is_err(), "{refused}");
        }
        assert_eq!(cases("--place one-process").unwrap().len(), 2);
    }

    #[test]
    fn where_an_end_is_shared_only_rows_that_can_are_meant() {
        let rows = |line: &str| {
            let words = ["furlong", "run", "-m", "work"].into_iter().chain(line.split_whitespace());
            let Some(Verb::Run(options)) = Arguments::try_parse_from(words)?.verb else { unreachable!() };
            let exchange = options.exchange_options().exchanges().map_err(|why| Usage(why.to_string()))?;
            let template = CaseTemplate::new(&options.pattern, exchange[0].clone(), Arrival::ClosedLoop);
            let cases = select(&registry(), &options.cases, &template)?;
            anyhow::Ok(cases.into_iter().map(|case| case.mechanism).collect::<Vec<_>>())
        };
        let sockets = ["unix-stream", "unix-seqpacket", "unix-dgram", "socketpair"];
        let queues = [&["pipe", "fifo"], &sockets[..], &["posix-mq", "sysv-mq", "driver-message"]].concat();
        let semaphores = ["eventfd-semaphore", "posix-semaphore", "sysv-semaphore"];
        let sharing = [&queues[..], &semaphores, &["unix-accept", "tcp-accept"]].concat();
        assert_eq!(rows("").unwrap(), sharing);
        // A row that is named is tried, and refused with its reason.
        assert_eq!(rows("tcp").unwrap(), ["tcp"]);
        assert!(rows("--window 2").is_err());
    }

    #[test]
    fn who_waits_for_one_of_several_does_so_in_each_way() {
        let rows = |line: &str| {
            let words = ["furlong", "run", "-m", "ready"].into_iter().chain(line.split_whitespace());
            let Some(Verb::Run(options)) = Arguments::try_parse_from(words)?.verb else { unreachable!() };
            let exchange = options.exchange_options().exchanges().map_err(|why| Usage(why.to_string()))?;
            let template = CaseTemplate::new(&options.pattern, exchange[0].clone(), Arrival::ClosedLoop);
            let cases = select(&registry(), &options.cases, &template)?;
            anyhow::Ok(cases.into_iter().map(|case| case.row()).collect::<Vec<_>>())
        };
        let ways = ["pipe/select", "pipe/poll", "pipe/epoll", "pipe/io-uring"];
        assert_eq!(rows("pipe").unwrap(), ways);
        assert_eq!(rows("pipe --wait epoll").unwrap(), ["pipe/epoll"]);
        let all = rows("").unwrap();
        assert!(ways.iter().all(|way| all.iter().any(|row| row == way)), "{all:?}");
        assert!(
            !all.iter().any(|row| row.starts_with("eventfd/") || row.starts_with("posix-shm/")),
            "{all:?}"
        );
        // A row that is named is tried, and refused with its reason.
        assert_eq!(rows("posix-shm").unwrap(), ["posix-shm/futex"]);
        assert!(rows("--window 2").is_err());
    }

    #[test]
    fn an_unknown_row_is_refused() {
        for row in ["pip", "pipe/futex", "[", "pipe/"] {
            assert!(selected(row).is_err(), "{row}");
        }
    }

    #[test]
    fn a_mistyped_row_is_answered_by_the_nearest() {
        for (typed, meant) in [
            ("pip", "mean pipe?"),
            ("posix-shm/futx", "mean posix-shm/futex?"),
            ("mq", "mean posix-mq or sysv-mq?"),
            ("mq/spin", "mean posix-mq/spin or sysv-mq/spin?"),
            ("sem", "mean eventfd-semaphore, posix-semaphore or sysv-semaphore?"),
            ("unix-straem", "mean unix-stream?"),
        ] {
            let error = selected(typed).unwrap_err().to_string();
            assert!(error.contains(meant), "{error}");
        }
    }

    #[test]
    fn the_quick_set_has_every_common_mechanism_and_no_other() {
        let mechanisms = registry();
        let quick = quick(&mechanisms);
        for entry in &mechanisms {
            let is_in = quick.iter().any(|case| case.mechanism == entry.capabilities.name);
            assert_eq!(is_in, entry.is_common, "{}", entry.capabilities.name);
        }
    }
}
