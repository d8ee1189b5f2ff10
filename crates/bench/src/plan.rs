//! The measurements of a run, and their order.

use crate::deadline;
use crate::parties;
use crate::peer::Peer;
use crate::placement;
use crate::registry::{MechanismEntry, find};
use crate::session::Session;
use crate::subsystem;
#[cfg(target_os = "linux")]
use crate::survived::{killed, survived};
#[cfg(target_os = "linux")]
use furlong_mechanism::probe_rings;
use furlong_model::{
    Amount, Case, ChildStart, Handover, Limits, MeaningProbe, Outcome, Placement, Slo, StartMethod,
    Unavailable, Wait,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The request for a run; the default requests nothing.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The cases, each once.
    pub cases: Vec<Case>,
    /// The handovers, each once.
    pub handovers: Vec<Handover>,
    /// The methods of starting a process that are timed.
    pub starts: Vec<StartMethod>,
    /// The meanings that are probed.
    pub meanings: Vec<MeaningProbe>,
    /// How children that belong to a separate subsystem are started.
    pub child: ChildStart,
    /// The number of trials of each case and handover; with a `precision`, the number of the first trials.
    pub trials: u32,
    /// The relative half-width of a median's confidence interval: 0.05 is ±5 %. Cases with a wider interval have
    /// further trials, those with the widest intervals first. `None` for no further trials.
    pub precision: Option<f64>,
    /// The time limit for all trials. The current trial is finished, and no other begins. If it is `None`, further
    /// trials take no longer than the first ones.
    pub within: Option<Duration>,
    /// The number of trials of each case that are made even after the time limit.
    pub fewest: u32,
    /// The time limit of a trial. A trial that is running at the time limit of the run is ended as well. A case whose
    /// trial takes longer is refused. `None` lets each trial finish.
    pub longest_trial: Option<Duration>,
    /// Whether trials go on until a signal ends them, which is then the regular end of the run.
    pub until_interrupted: bool,
    /// The repetitions of all trials, and the time between them. The trial numbers go on. `None` makes all trials once.
    pub across: Option<Repetitions>,
    /// The number of times that every case is compared with itself, with `trials` trials of both copies each time. The
    /// copies alternate in the trial numbers. `None` measures each case once, under one name.
    pub self_check: Option<u32>,
    /// The time for the measured part of each trial.
    pub budget: Duration,
    /// The longest measured part of a trial with several pairs. If the pairs were not measured in parallel, the trial
    /// is repeated with a longer measured part. Later trials of its case have it too. `None` does not repeat such
    /// trials.
    pub longest_budget: Option<Duration>,
    /// The amount that each trial exchanges. Then the trial takes as long as the exchange, but no more than 5 s.
    pub amount: Option<Amount>,
    /// The least time of the warm-up; `None` warms up until the pace is steady.
    pub warm_up: Option<Duration>,
    /// Whether to measure the costs of single steps, once per round.
    pub costs: bool,
    /// Whether to leave noise readings out: if neighbours are busy, they take longer than a short part of a run.
    pub without_noise: bool,
    /// Whether to count the system calls of each case and handover, after its trials.
    pub count: bool,
    /// The time without progress after which a trial is given up.
    pub timeout: Duration,
    /// The objective whose highest rate is searched, for the header of the run.
    pub find_rate: Option<Slo>,
    /// The seed for the order of the trials.
    pub seed: u64,
}

/// Repetitions of all trials.
#[derive(Debug, Clone, Copy)]
pub struct Repetitions {
    /// The number of repetitions.
    pub repetitions: u32,
    /// The time from the end of one repetition to the beginning of the next.
    pub apart: Duration,
}

/// A case that can be measured, with its mechanism and its CPUs.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedCase<'a> {
    pub(crate) entry: &'a MechanismEntry,
    pub(crate) request_carrier: Option<&'a MechanismEntry>,
    pub(crate) processors: Option<Vec<usize>>,
}

/// Finds the mechanisms and CPUs of cases. It probes each mechanism only once, because some probes make system calls.
#[derive(Debug)]
pub(crate) struct CaseResolver<'a> {
    mechanisms: &'a [MechanismEntry],
    session: &'a Session,
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
    /// Creates a resolver that has probed nothing.
    pub(crate) fn new(mechanisms: &'a [MechanismEntry], session: &'a Session, has_peer: bool) -> Self {
        CaseResolver { mechanisms, session, has_peer, probed: BTreeMap::new() }
    }

    /// Finds the mechanism and the CPUs of a case.
    ///
    /// # Errors
    /// Returns the outcome if the case cannot be measured on this machine.
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
        let refusals = entry
            .refusal(case)
            .or_else(|| entry.refuse_networks(case))
            .or_else(|| entry.refuse_conditions(case));
        if let Some(refusal) = refusals {
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
            placement::pinned(self.session.cpus(), case.placement, &case.all_parties())
                .map_err(Outcome::Refused)?
        };
        let refusal = placement::refuse_starvation(case, processors.as_deref())
            .or_else(|| deadline::refusal(case, processors.as_deref()));
        if let Some(refusal) = refusal {
            return Err(Box::new(Outcome::Refused(refusal)));
        }
        let by = case.exchange.request().and_then(|request| request.by.as_deref());
        let request_carrier = by.map(|by| self.request_carrier(by, case)).transpose()?;
        Ok(ResolvedCase { entry, request_carrier, processors })
    }

    /// Finds the mechanism that carries the requests, if another mechanism carries the answers.
    fn request_carrier(&mut self, by: &str, case: &Case) -> Result<&'a MechanismEntry, Box<Outcome>> {
        let refused =
            |reason: String, remedy: &str| Box::new(Outcome::Refused(Unavailable::new(reason, remedy)));
        let entry = self.mechanisms.iter().find(|entry| entry.capabilities.name == by).ok_or_else(|| {
            refused(format!("no mechanism is called {by}"), "furlong list shows all there are")
        })?;
        let capabilities = entry.capabilities;
        if capabilities.notifies_only() || capabilities.waits[0] != Wait::Block || entry.adapter().is_some() {
            let reason = format!("requests cannot use {by} if responses use another mechanism");
            return Err(refused(reason, "send requests over a pipe, a socket or a queue"));
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

    /// Returns the order of the trials: numbers of trials with the indexes of their cases. Each round has every case
    /// once, or both copies of it. The cases of a block follow each other. Each round shuffles the blocks, and the
    /// cases in each block. So drift of the machine affects all cases equally, and cases that are ranked together are
    /// measured close to each other. An interrupted run has an equal number of trials of each case.
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

    /// Returns the order of one further round of the cases of these blocks, with the trial numbers. `before` has the
    /// number of earlier trials of each case, by index.
    pub(crate) fn further_order(&self, blocks: &[Vec<usize>], before: &[u32]) -> Vec<(u32, usize)> {
        let trials: u32 = before.iter().sum();
        let mut random = fastrand::Rng::with_seed(self.seed.wrapping_add(u64::from(trials)));
        shuffled(blocks.iter().map(|block| numbered(block, |case| before[case])).collect(), &mut random)
    }

    /// Returns the number of times that all trials are made.
    pub fn repetitions(&self) -> u32 {
        self.across.map_or(1, |across| across.repetitions)
    }

    /// Returns the pause before the trial with this number, the first of its round: the time between two repetitions.
    pub(crate) fn pause_before(&self, number: u32) -> Option<Duration> {
        let begins = number > 0 && number.is_multiple_of(self.trials);
        self.across.filter(|_| begins).map(|across| across.apart)
    }

    /// Returns the number of trials in one round with this number of cases.
    pub(crate) fn round(&self, cases: usize) -> usize {
        cases * if self.self_check.is_some() { 2 } else { 1 }
    }
}

/// Returns the cases, each with a trial number.
fn numbered(cases: &[usize], number: impl Fn(usize) -> u32) -> Vec<(u32, usize)> {
    cases.iter().map(|case| (number(*case), *case)).collect()
}

/// Returns the trials of all blocks. The blocks are shuffled, and so are the trials of each block.
fn shuffled(mut blocks: Vec<Vec<(u32, usize)>>, random: &mut fastrand::Rng) -> Vec<(u32, usize)> {
    random.shuffle(&mut blocks);
    blocks.iter_mut().for_each(|block| random.shuffle(block));
    blocks.concat()
}

/// Returns the indexes of `cases` in blocks of similar cases.
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
        let across = Repetitions { repetitions: 3, apart: Duration::from_secs(5) };
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
