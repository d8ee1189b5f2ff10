//! Options of `furlong run` about its exchanges, and the one place that rejects combinations of them.

use super::refusals::{placement, window};
use crate::{Arrival, Exchange, FanInOptions, FanOutOptions, Pattern, Placement, Request, Unavailable, one};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// The most pairs, receivers, senders or workers that can be asked for, in all groups together.
const MOST_PROCESSES: NonZeroU32 = NonZeroU32::new(1024).unwrap();

/// The most ends that all senders of groups may have together. A sender has an end for each receiver of its group.
const MOST_ENDS: u32 = 16_384;

/// Options of `furlong run` that depend on the pattern, as the user gave them.
#[derive(Debug, Clone)]
pub struct ExchangeOptions {
    /// `--pattern`.
    pub pattern: Pattern,
    /// `--rate` and `--think-time`; at least one value.
    pub arrivals: Vec<Arrival>,
    /// `--window`; at least one value.
    pub windows: Vec<NonZeroU32>,
    /// `--request`.
    pub request_bytes: Option<usize>,
    /// `--request-by`.
    pub request_by: Option<String>,
    /// Whether `--response` was given.
    pub has_responses: bool,
    /// `--pairs`; the groups of a fan-in.
    pub pairs: Vec<NonZeroU32>,
    /// `--receivers`, `--senders`, `--workers` and `--links`, which set the number of parties of one pattern each.
    /// `--receivers` also sets the receivers of a group of a fan-in.
    pub parties: [(&'static str, Option<Vec<NonZeroU32>>); 4],
    /// Options of a fan-out.
    pub fan_out: FanOutOptions,
    /// `--place`.
    pub placements: Vec<Placement>,
    /// `--count`.
    pub counts_calls: bool,
}

impl ExchangeOptions {
    /// Returns the exchanges that the options describe, with ascending numbers of parties. Several parties are compared with one.
    ///
    /// # Errors
    /// Returns why the options contradict each other.
    pub fn exchanges(&self) -> Result<Vec<Exchange>, Unavailable> {
        let sets = self.sets();
        if let Some(refusal) = self.refuse(&sets) {
            return Err(refusal);
        }
        let size_bytes = self.request_bytes.unwrap_or(1);
        let exchange = Exchange::of(self.pattern)
            .with_request(Some(Request { size_bytes, by: self.request_by.clone() }));
        let with = |(number, fan_in): (NonZeroU32, FanInOptions), window: NonZeroU32| {
            let fan_out = if number > one() { self.fan_out } else { FanOutOptions::default() };
            let exchange = exchange.clone().with_window(window).with_parties(number);
            exchange.with_fan_out(fan_out).with_fan_in(fan_in)
        };
        let with = &with;
        let exchanges =
            sets.iter().flat_map(|set| self.windows.iter().map(move |window| with(*set, *window)));
        Ok(exchanges.collect())
    }

    /// Returns whether several messages are in flight in an exchange.
    fn has_window(&self) -> bool {
        self.windows.iter().any(|window| *window > one())
    }

    /// Returns the value of an option that sets a number of parties, or `None` if no such option exists.
    fn numbers(&self, option: &str, default: u32) -> Option<Vec<NonZeroU32>> {
        let (_, numbers) = self.parties.iter().find(|(name, _)| *name == option)?;
        Some(numbers.clone().unwrap_or_else(|| NonZeroU32::new(default).into_iter().collect()))
    }

    /// Returns the numbers of parties that were asked for, and one, each with its groups and receivers.
    fn sets(&self) -> BTreeSet<(NonZeroU32, FanInOptions)> {
        let numbers = self.numbers(&format!("--{}", self.pattern.several()), 2);
        let numbers = numbers.unwrap_or_else(|| self.pairs.clone());
        if !self.pattern.is_from_several() {
            let all = numbers.into_iter().chain([one()]);
            return all.map(|number| (number, FanInOptions::default())).collect();
        }
        let receivers = self.numbers("--receivers", 1).and_then(|all| all.first().copied()).unwrap_or(one());
        let set =
            |groups: NonZeroU32, number| (groups.saturating_mul(number), FanInOptions { groups, receivers });
        let set = &set;
        let all = self.pairs.iter().flat_map(|groups| numbers.iter().map(|number| set(*groups, *number)));
        all.chain([set(one(), one())]).collect()
    }

    /// Returns the options that the user gave.
    fn given(&self) -> Vec<&'static str> {
        let mut given: Vec<&str> = [
            ("--request", self.request_bytes.is_some()),
            ("--response", self.has_responses),
            ("--request-by", self.request_by.is_some()),
            ("--rate", self.arrivals.iter().any(|arrival| arrival.option() == Some("--rate"))),
            ("--think-time", self.arrivals.iter().any(|arrival| arrival.option() == Some("--think-time"))),
            ("--window", self.has_window()),
        ]
        .into_iter()
        .filter_map(|(option, is_given)| is_given.then_some(option))
        .collect();
        given.extend(self.fan_out.given());
        given.extend(self.parties.iter().filter(|(_, numbers)| numbers.is_some()).map(|(option, _)| *option));
        given
    }

    fn refuse(&self, sets: &BTreeSet<(NonZeroU32, FanInOptions)>) -> Option<Unavailable> {
        let given = self.given();
        let numbers: BTreeSet<NonZeroU32> = sets.iter().map(|(number, _)| *number).collect();
        let most = self.windows.iter().copied().max().unwrap_or(one());
        let refuse_window = |arrival: &Arrival| window(most, *arrival);
        self.refuse_foreign(&given)
            .or_else(|| self.pattern.reject(&given))
            .or_else(|| self.refuse_numbers(&numbers))
            .or_else(|| self.refuse_groups(sets))
            .or_else(|| self.arrivals.iter().find_map(refuse_window))
            .or_else(|| self.fan_out.refuse(&self.arrivals, &numbers))
            .or_else(|| self.refuse_count())
            .or_else(|| self.placements.iter().find_map(|place| placement(self.pattern, *place)))
    }

    /// Returns which option belongs to another pattern.
    fn refuse_foreign(&self, given: &[&str]) -> Option<Unavailable> {
        let foreign = |option: &&str| {
            let owns = |pattern: &Pattern| pattern.facts().own_options.contains(option);
            let owner = Pattern::ALL.into_iter().find(owns).filter(|_| !owns(&self.pattern))?;
            Some(Unavailable::new(format!("{option} belongs to -m {owner}"), format!("use -m {owner}")))
        };
        given.iter().find_map(foreign)
    }

    fn refuse_numbers(&self, numbers: &BTreeSet<NonZeroU32>) -> Option<Unavailable> {
        let (pattern, several) = (self.pattern, self.pattern.several());
        let has_pairs = several == Pattern::default().several() || pattern.is_from_several();
        if !has_pairs && self.pairs.iter().any(|pairs| *pairs > one()) {
            let reason = format!("-m {pattern} is measured for one set of {several}");
            return Some(Unavailable::new(reason, format!("use --{several} instead of --pairs")));
        }
        let are_processes = !pattern.facts().repeated.is_empty();
        let most = numbers.last().filter(|most| are_processes && **most > MOST_PROCESSES)?;
        let reason = format!("each of the {most} {several} needs a process; the maximum is {MOST_PROCESSES}");
        let whole = if pattern.is_from_several() { " in all groups" } else { "" };
        Some(Unavailable::new(reason, format!("ask for up to {MOST_PROCESSES}{whole}")))
    }

    /// Returns why these groups cannot be measured together, if they cannot.
    fn refuse_groups(&self, sets: &BTreeSet<(NonZeroU32, FanInOptions)>) -> Option<Unavailable> {
        let is_sweep = |option| self.numbers(option, 1).is_some_and(|numbers| numbers.len() > 1);
        let both = self.pairs.len() > 1 && is_sweep("--senders");
        if self.pattern.is_from_several() && (both || is_sweep("--receivers")) {
            let reason = "the figures of groups that differ in two numbers do not compare";
            let remedy = "ask for one number of --receivers, and for a sweep of --senders or of --pairs";
            return Some(Unavailable::new(reason, remedy));
        }
        sets.iter().find_map(|(senders, FanInOptions { groups, receivers })| {
            let most = (MOST_PROCESSES.get() / *groups).min(MOST_ENDS / *senders);
            (receivers.get() > most).then(|| {
                let reason =
                    format!("--receivers {receivers} is too many for {senders} senders in {groups} groups");
                Unavailable::new(reason, format!("ask for up to {most} receivers, or for fewer senders"))
            })
        })
    }

    fn refuse_count(&self) -> Option<Unavailable> {
        let (reason, remedy) = if !self.counts_calls {
            return None;
        } else if !self.pattern.facts().counts_calls {
            (
                format!("--count counts round trips and messages of -m one-way, but got -m {}", self.pattern),
                "leave --count out",
            )
        } else if self.has_window() {
            let reason = "--count counts round trips with a single message in flight".to_owned();
            (reason, "leave --window or --count out")
        } else {
            return None;
        };
        Some(Unavailable::new(reason, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(receiver: u32) -> FanOutOptions {
        FanOutOptions::stalling(NonZeroU32::new(receiver))
    }

    fn asked(pattern: Pattern) -> ExchangeOptions {
        ExchangeOptions {
            pattern,
            arrivals: vec![Arrival::ClosedLoop],
            windows: vec![one()],
            request_bytes: None,
            request_by: None,
            has_responses: false,
            pairs: vec![one()],
            parties: ["--receivers", "--senders", "--workers", "--links"].map(|option| (option, None)),
            fan_out: FanOutOptions::default(),
            placements: Vec::new(),
            counts_calls: false,
        }
    }

    #[test]
    fn patterns_of_several_parties_are_compared_with_one() {
        for pattern in Pattern::ALL {
            let exchanges = asked(pattern).exchanges().unwrap();
            let numbers: Vec<u32> = exchanges.iter().map(|exchange| exchange.parties().get()).collect();
            let has_own = pattern.several() != "pairs";
            assert_eq!(numbers, if has_own { vec![1, 2] } else { vec![1] }, "{pattern}");
        }
    }

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    /// Returns the options `--senders`, `--receivers` and `--pairs` of a fan-in.
    fn fan_in(senders: &[u32], receivers: &[u32], pairs: &[u32]) -> ExchangeOptions {
        let numbers = |all: &[u32]| all.iter().copied().map(number).collect::<Vec<_>>();
        let parties = asked(Pattern::FanIn).parties.map(|(option, _)| match option {
            "--senders" => (option, Some(numbers(senders))),
            "--receivers" => (option, Some(numbers(receivers))),
            _ => (option, None),
        });
        ExchangeOptions { parties, pairs: numbers(pairs), ..asked(Pattern::FanIn) }
    }

    #[test]
    fn groups_of_a_fan_in_are_compared_with_one_sender() {
        let sets = |options: ExchangeOptions| {
            let exchanges = options.exchanges().unwrap().into_iter();
            let set = |exchange: Exchange| {
                let FanInOptions { groups, receivers } = exchange.fan_in();
                [exchange.parties(), groups, receivers].map(NonZeroU32::get)
            };
            exchanges.map(set).collect::<Vec<_>>()
        };
        assert_eq!(sets(fan_in(&[20], &[20], &[10])), [[1, 1, 20], [200, 10, 20]]);
        assert_eq!(sets(fan_in(&[1, 3], &[1], &[2])), [[1, 1, 1], [2, 2, 1], [6, 2, 1]]);
        assert_eq!(sets(fan_in(&[1], &[3], &[1])), [[1, 1, 3]]);
    }

    #[test]
    fn too_many_parties_of_groups_are_refused_with_the_valid_number() {
        for (options, told) in [
            (fan_in(&[200], &[1], &[10]), "2000 senders needs a process; the maximum is 1024"),
            (fan_in(&[2], &[200], &[10]), "ask for up to 102 receivers"),
            (fan_in(&[1024], &[17], &[1]), "ask for up to 16 receivers"),
            (fan_in(&[2, 4], &[1], &[1, 2]), "sweep of --senders or of --pairs"),
            (fan_in(&[2], &[1, 2], &[1]), "one number of --receivers"),
        ] {
            let why = options.exchanges().unwrap_err();
            assert!(format!("{}: {}", why.reason, why.remedy).contains(told), "{why:?} and {told}");
        }
    }

    #[test]
    fn contradicting_options_are_rejected() {
        let says = |options: ExchangeOptions, what: &str| {
            let why = options.exchanges().unwrap_err();
            assert!(format!("{}: {}", why.reason, why.remedy).contains(what), "{why:?} and {what}");
        };
        let (fan_out, stream) = (asked(Pattern::FanOut), asked(Pattern::OneWay));
        says(
            ExchangeOptions { request_bytes: Some(1), ..fan_out.clone() },
            "--request belongs to -m request",
        );
        says(ExchangeOptions { fan_out: stall(1), ..stream.clone() }, "--stall belongs to -m fan-out");
        says(ExchangeOptions { fan_out: stall(3), ..fan_out.clone() }, "there are 2 receivers");
        let paced = vec![Arrival::Interval(1_000)];
        says(
            ExchangeOptions { fan_out: stall(1), arrivals: paced.clone(), ..fan_out.clone() },
            "--rate or --stall",
        );
        says(
            ExchangeOptions { pairs: vec![number(2)], ..fan_out.clone() },
            "use --receivers instead of --pairs",
        );
        says(ExchangeOptions { pairs: vec![number(1025)], ..stream.clone() }, "up to 1024");
        says(ExchangeOptions { counts_calls: true, ..fan_out.clone() }, "but got -m fan-out");
        let windows = vec![number(2)];
        for pattern in Pattern::ALL.into_iter().filter(|pattern| *pattern != Pattern::RoundTrip) {
            let options = ExchangeOptions { windows: windows.clone(), ..asked(pattern) };
            assert_eq!(options.exchanges().is_ok(), pattern == Pattern::Request, "{pattern}");
        }
        let round_trips = ExchangeOptions { windows, ..asked(Pattern::RoundTrip) };
        assert!(ExchangeOptions { arrivals: paced, ..round_trips.clone() }.exchanges().is_ok());
        let pauses = vec![Arrival::ThinkTime(1_000)];
        says(ExchangeOptions { arrivals: pauses, ..round_trips }, "ask for one of the two");
        let placements = vec![Placement::SameCore];
        says(ExchangeOptions { placements, ..asked(Pattern::Connect) }, "--place one-process");
    }

    #[test]
    fn options_in_the_facts_are_options_that_can_be_given() {
        let number = Some(vec![one()]);
        let all = ExchangeOptions {
            arrivals: vec![Arrival::Interval(1), Arrival::ThinkTime(1)],
            windows: vec![one().saturating_add(1)],
            request_bytes: Some(1),
            request_by: Some(String::new()),
            has_responses: true,
            parties: asked(Pattern::Ready).parties.map(|(option, _)| (option, number.clone())),
            fan_out: stall(1),
            ..asked(Pattern::Ready)
        };
        let given = all.given();
        for facts in Pattern::ALL.map(Pattern::facts) {
            let rejected = facts.rejected_options.iter().map(|rejected| &rejected.option);
            for option in facts.own_options.iter().chain(rejected) {
                assert!(given.contains(option), "{option}");
            }
        }
    }
}
