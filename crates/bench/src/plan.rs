//! What is to be measured, and in which order.

use crate::parties;
use crate::peer::Peer;
use crate::placement;
use crate::registry::{MechanismEntry, find};
use crate::subsystem;
#[cfg(target_os = "linux")]
use crate::survived::{killed, survived};
#[cfg(target_os = "linux")]
use furlong_mechanism::probe_rings;
use furlong_model::{
    Amount, Case, ChildStart, Handover, Limits, Outcome, Placement, StartMethod, Unavailable, Wait,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a run is asked to do: nothing, unless it says more.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The cases, each once.
    pub cases: Vec<Case>,
    /// The handovers, each once.
    pub handovers: Vec<Handover>,
    /// The ways to start a process that are timed.
    pub starts: Vec<StartMethod>,
    /// How children of a subsystem of their own are started.
    pub child: ChildStart,
    /// Trials of each case and handover; the first ones, where there is a `precision`.
    pub trials: u32,
    /// Cases whose medians are less certain than this have further trials, those with the widest intervals first: 0.05 is
    /// ±5 %. `None` for no further trials.
    pub precision: Option<f64>,
    /// How long the trials may take in all: the one that is under way is finished, and no other begins. If not given,
    /// further trials take no longer than the first ones.
    pub within: Option<Duration>,
    /// Trials of each case that are made even when that time is over.
    pub fewest: u32,
    /// The longest that a trial may take in all, and the one in progress when the time is over is ended. A case whose
    /// trial takes longer is refused. `None` lets each trial finish.
    pub longest_trial: Option<Duration>,
    /// Whether trials go on until a signal ends them: then that is the end of the run as it was asked for.
    pub until_interrupted: bool,
    /// How often all trials are made, and with how much time in between: trials go on counting. `None` makes them once.
    pub across: Option<Across>,
    /// How often every case is measured against itself, with so many trials of either copy each time; the copies'
    /// trials take turns in their numbers. `None` measures each once, and under one name.
    pub self_check: Option<u32>,
    /// Time for the measured part of each trial.
    pub budget: Duration,
    /// A trial of several that were not measured at the same moment is made again with a longer measured part, up to this,
    /// and so are the later ones of its case. `None` leaves them as they are.
    pub longest_budget: Option<Duration>,
    /// What each trial exchanges: then its time is what that takes, but no more than 5 s.
    pub amount: Option<Amount>,
    /// The least time to warm up; until the pace is steady if not given.
    pub warm_up: Option<Duration>,
    /// Whether to look at what the machine charges, once a round.
    pub costs: bool,
    /// Whether to leave noise readings out: they take longer than a short part of a run, if neighbours are busy.
    pub without_noise: bool,
    /// Whether each case and handover is counted too, after its trials.
    pub count: bool,
    /// How long nothing may happen in a trial before it is given up.
    pub timeout: Duration,
    /// Decides the order of trials.
    pub seed: u64,
}

/// Repetitions of all trials.
#[derive(Debug, Clone, Copy)]
pub struct Across {
    /// How often they are made.
    pub repetitions: u32,
    /// From the end of one to the beginning of the next.
    pub apart: Duration,
}

/// A case that can be measured: its mechanism and its processors.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedCase<'a> {
    pub(crate) entry: &'a MechanismEntry,
    pub(crate) request_carrier: Option<&'a MechanismEntry>,
    pub(crate) processors: Option<Vec<usize>>,
}

/// Finds what cases need, and asks each driver once what this machine allows it: some find out by trying.
#[derive(Debug)]
pub(crate) struct CaseResolver<'a> {
    mechanisms: &'a [MechanismEntry],
    /// Whether responders can be on another host.
    has_peer: bool,
    probed: BTreeMap<(&'static str, Wait), Result<Limits, Unavailable>>,
}

/// Returns the reason if io_uring cannot wait for descriptors here.
#[cfg(target_os = "linux")]
fn rings() -> Option<Unavailable> {
    survived(probe_rings).unwrap_or_else(|error| Some(killed(&error)))
}

impl<'a> CaseResolver<'a> {
    /// Nothing is asked yet.
    pub(crate) fn new(mechanisms: &'a [MechanismEntry], has_peer: bool) -> Self {
        CaseResolver { mechanisms, has_peer, probed: BTreeMap::new() }
    }

    /// Finds what a case needs.
    ///
    /// # Errors
    /// The outcome of a case that cannot be measured here.
    pub(crate) fn resolve(&mut self, case: &Case) -> Result<ResolvedCase<'a>, Box<Outcome>> {
        let entry = find(self.mechanisms, &case.mechanism, case.wait).ok_or_else(|| {
            let reason = format!("no row is called {}", case.row());
            Box::new(Outcome::Refused(Unavailable::new(reason, "furlong list shows all there are")))
        })?;
        let capabilities = entry.capabilities;
        let probed =
            self.probed.entry((capabilities.name, capabilities.waits[0])).or_insert_with(|| entry.probe());
        let limits = probed.as_ref().map_err(|why| Box::new(Outcome::Unavailable(why.clone())))?;
        #[cfg(target_os = "linux")]
        if let Some(why) = (case.wait == Wait::IoUring).then(rings).flatten() {
            return Err(Box::new(Outcome::Unavailable(why)));
        }
        if let Some(refusal) = case.refusal(capabilities, limits) {
            return Err(Box::new(Outcome::Refused(refusal)));
        }
        if let Some(refusal) = entry.refusal(case).or_else(|| entry.refuse_networks(case)) {
            return Err(Box::new(Outcome::Refused(refusal)));
        }
        if let Some(refusal) = parties::refusal(case) {
            return Err(Box::new(Outcome::Refused(refusal)));
        }
        if let Some(subsystem) = case.subsystem {
            subsystem::program(subsystem).map_err(|why| Box::new(Outcome::Unavailable(why)))?;
        }
        let processors = if case.placement == Placement::OtherHost {
            if let Some(refusal) = Peer::refusal(entry, self.has_peer) {
                return Err(Box::new(Outcome::Refused(refusal)));
            }
            None
        } else {
            placement::pinned(case.placement, &case.all_parties()).map_err(Outcome::Refused)?
        };
        let by = case.exchange.request().and_then(|request| request.by.as_deref());
        let request_carrier = by.map(|by| self.request_carrier(by, case)).transpose()?;
        Ok(ResolvedCase { entry, request_carrier, processors })
    }

    /// Finds what carries requests beside another mechanism's answers.
    fn request_carrier(&mut self, by: &str, case: &Case) -> Result<&'a MechanismEntry, Box<Outcome>> {
        let refused =
            |reason: String, remedy: &str| Box::new(Outcome::Refused(Unavailable::new(reason, remedy)));
        let entry = self.mechanisms.iter().find(|entry| entry.capabilities.name == by).ok_or_else(|| {
            refused(format!("no mechanism is called {by}"), "furlong list shows all there are")
        })?;
        let capabilities = entry.capabilities;
        if capabilities.notifies_only() || capabilities.waits[0] != Wait::Block || entry.adapter().is_some() {
            let reason = format!("requests cannot go by {by} while answers go by something else");
            return Err(refused(reason, "send requests by a pipe, a socket or a queue"));
        }
        if let Some(refusal) = entry.refuse_networks(case) {
            return Err(Box::new(Outcome::Refused(refusal)));
        }
        Ok(entry)
    }
}

impl Plan {
    /// Returns whether the time is over for a first trial with this number.
    pub(crate) fn is_over(&self, number: u32, elapsed: Duration) -> bool {
        number >= self.fewest && self.within.is_some_and(|within| elapsed >= within)
    }

    /// The order of trials of the cases of these blocks, by index, each with its number: in each round every case once (or
    /// its two copies), the cases of a block one after the other; each round is shuffled anew, the blocks and the cases
    /// in each. Drift of the machine then falls on all cases alike, those that are ranked together are measured next to
    /// each other, and a run that is cut short has as many trials of one as of another.
    pub(crate) fn order(&self, blocks: &[Vec<usize>]) -> Vec<(u32, usize)> {
        let (rounds, copies) = self.self_check.map_or((self.trials, 1), |repeats| (self.trials * repeats, 2));
        let rounds = rounds * self.repetitions();
        let mut random = fastrand::Rng::with_seed(self.seed);
        let round = |round: u32| {
            let numbers = move || (0..copies).map(move |copy| round * copies + copy);
            let of_block =
                |block: &Vec<usize>| numbers().flat_map(|number| numbered(block, |_| number)).collect();
            shuffled(blocks.iter().map(of_block).collect(), &mut random)
        };
        (0..rounds).flat_map(round).collect()
    }

    /// The order of one further round of the cases of these blocks, of which each had so many trials `before`, by index:
    /// shuffled in the same way, and each with its number.
    pub(crate) fn further_order(&self, blocks: &[Vec<usize>], before: &[u32]) -> Vec<(u32, usize)> {
        let trials: u32 = before.iter().sum();
        let mut random = fastrand::Rng::with_seed(self.seed.wrapping_add(u64::from(trials)));
        shuffled(blocks.iter().map(|block| numbered(block, |case| before[case])).collect(), &mut random)
    }

    /// How often all trials are made.
    pub fn repetitions(&self) -> u32 {
        self.across.map_or(1, |across| across.repetitions)
    }

    /// What comes before the trial of this number, the first of its round: the time between two repetitions.
    pub(crate) fn pause_before(&self, number: u32) -> Option<Duration> {
        let begins = number > 0 && number.is_multiple_of(self.trials);
        self.across.filter(|_| begins).map(|across| across.apart)
    }

    /// Trials in one round of so many cases.
    pub(crate) fn round(&self, cases: usize) -> usize {
        cases * if self.self_check.is_some() { 2 } else { 1 }
    }
}

/// These cases, each with a number.
fn numbered(cases: &[usize], number: impl Fn(usize) -> u32) -> Vec<(u32, usize)> {
    cases.iter().map(|case| (number(*case), *case)).collect()
}

/// The trials of all blocks, the blocks in any order and the trials of each in any order.
fn shuffled(mut blocks: Vec<Vec<(u32, usize)>>, random: &mut fastrand::Rng) -> Vec<(u32, usize)> {
    random.shuffle(&mut blocks);
    blocks.iter_mut().for_each(|block| random.shuffle(block));
    blocks.concat()
}

/// The indexes of `cases` in blocks of those that are alike.
pub(crate) fn blocks(cases: &[usize], are_alike: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for case in cases {
        match blocks.iter_mut().find(|block| are_alike(block[0], *case)) {
            Some(block) => block.push(*case),
            None => blocks.push(vec![*case]),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(trials: u32, self_check: Option<u32>, seed: u64) -> Plan {
        Plan { trials, self_check, seed, ..Plan::default() }
    }

    #[test]
    fn fewest_trials_are_made_when_the_time_is_over() {
        let seconds = Duration::from_secs;
        let plan = Plan { within: Some(seconds(40)), fewest: 3, ..Plan::default() };
        let over =
            [(2, 90), (3, 39), (3, 40)].map(|(number, elapsed)| plan.is_over(number, seconds(elapsed)));
        assert_eq!(over, [false, false, true]);
    }

    #[test]
    fn every_round_has_every_case_once() {
        let cases: Vec<usize> = (0..17).collect();
        let order = plan(5, None, 7).order(std::slice::from_ref(&cases));
        for round in 0..5 {
            let mut found: Vec<_> =
                order.iter().filter(|trial| trial.0 == round).map(|trial| trial.1).collect();
            assert_ne!(found, cases, "round {round} is not shuffled");
            found.sort_unstable();
            assert_eq!(found, cases);
        }
    }

    #[test]
    fn the_cases_of_a_block_follow_each_other() {
        let blocks = blocks(&(0..12).collect::<Vec<_>>(), |one, other| one % 3 == other % 3);
        assert_eq!(blocks[1], [1, 4, 7, 10]);
        for self_check in [None, Some(2)] {
            let plan = plan(4, self_check, 7);
            let order = plan.order(&blocks);
            let length = plan.round(4);
            for block in order.chunks(length) {
                assert!(block.iter().all(|(_, case)| case % 3 == block[0].1 % 3), "{block:?}");
            }
            let first_blocks: Vec<_> = order.chunks(length * 3).map(|round| round[0].1 % 3).collect();
            assert!(first_blocks.iter().any(|block| *block != first_blocks[0]), "{first_blocks:?}");
        }
    }

    #[test]
    fn copies_take_turns_in_their_numbers() {
        let order = plan(3, Some(2), 7).order(&[vec![0, 1]]);
        for case in [0, 1] {
            let mut numbers: Vec<u32> =
                order.iter().filter(|trial| trial.1 == case).map(|trial| trial.0).collect();
            let rounds: Vec<u32> = numbers.iter().map(|number| number / 2).collect();
            assert!(rounds.is_sorted(), "a round begins when the one before it has ended");
            numbers.sort_unstable();
            assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        }
    }

    #[test]
    fn repetitions_go_on_counting_and_have_time_between_them() {
        let across = Across { repetitions: 3, apart: Duration::from_secs(5) };
        let plan = Plan { across: Some(across), ..plan(4, None, 7) };
        let numbers: Vec<u32> = plan.order(&[vec![0]]).iter().map(|trial| trial.0).collect();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        let pauses: Vec<u32> =
            numbers.into_iter().filter(|number| plan.pause_before(*number).is_some()).collect();
        assert_eq!(pauses, [4, 8]);
    }

    #[test]
    fn the_seed_decides() {
        let blocks = [(0..17).collect(), vec![17, 18]];
        assert_eq!(plan(3, None, 1).order(&blocks), plan(3, None, 1).order(&blocks));
        assert_ne!(plan(3, None, 1).order(&blocks), plan(3, None, 2).order(&blocks));
    }

    #[test]
    fn a_further_round_has_its_cases_once_and_counts_on() {
        let before = [9, 12, 9, 30, 9, 9, 9, 9, 9];
        let cases = [0, 1, 2, 4, 5, 6, 7, 8];
        let order = plan(9, None, 7).further_order(&[cases.to_vec()], &before);
        let mut found: Vec<_> = order.iter().map(|trial| trial.1).collect();
        assert_ne!(found, cases, "it is not shuffled");
        found.sort_unstable();
        assert_eq!(found, cases);
        assert!(order.iter().all(|(number, case)| *number == before[*case]), "{order:?}");
    }
}
