//! What is to be measured, and in which order.

use crate::placement;
use crate::registry::{Driver, find};
use furlong_model::{Case, Limits, Outcome, Unavailable};
use std::time::Duration;

/// What a run is asked to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The cases, each once.
    pub cases: Vec<Case>,
    /// Trials of each.
    pub trials: u32,
    /// Time for the measured part of each trial.
    pub budget: Duration,
    /// The least time to warm up; until the pace is steady if not given.
    pub warm_up: Option<Duration>,
    /// How long nothing may happen in a trial before it is given up.
    pub patience: Duration,
    /// Decides the order of trials.
    pub seed: u64,
}

/// A case that can be measured: its driver and its processors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cast<'a> {
    pub(crate) driver: &'a Driver,
    pub(crate) processors: [usize; 2],
}

/// Finds what a case needs.
///
/// # Errors
/// The outcome of a case that cannot be measured here.
pub(crate) fn cast<'a>(drivers: &'a [Driver], case: &Case) -> Result<Cast<'a>, Outcome> {
    let driver = find(drivers, &case.mechanism, case.wait).ok_or_else(|| {
        let reason = format!("no row is called {}", case.row());
        Outcome::Refused(Unavailable::new(reason, "furlong list shows all there are"))
    })?;
    let limits: Limits = (driver.probe)().map_err(Outcome::Unavailable)?;
    if let Some(refusal) = case.refusal(driver.capabilities, &limits) {
        return Err(Outcome::Refused(refusal));
    }
    let processors = placement::resolve(case.placement).map_err(Outcome::Refused)?;
    Ok(Cast { driver, processors })
}

/// The order of trials: in each round every case once, each round shuffled anew. Drift of the machine then
/// falls on all cases alike, and a run that is cut short has as many trials of one as of another.
pub(crate) fn order(cases: &[usize], trials: u32, seed: u64) -> Vec<(u32, usize)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut order = Vec::with_capacity(cases.len() * trials as usize);
    for round in 0..trials {
        let mut shuffled = cases.to_vec();
        random.shuffle(&mut shuffled);
        order.extend(shuffled.into_iter().map(|case| (round, case)));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_every_case_once() {
        let cases: Vec<usize> = (0..17).collect();
        let order = order(&cases, 5, 7);
        for round in 0..5 {
            let mut found: Vec<_> =
                order.iter().filter(|trial| trial.0 == round).map(|trial| trial.1).collect();
            assert_ne!(found, cases, "round {round} is not shuffled");
            found.sort_unstable();
            assert_eq!(found, cases);
        }
    }

    #[test]
    fn the_seed_decides() {
        let cases: Vec<usize> = (0..17).collect();
        assert_eq!(order(&cases, 3, 1), order(&cases, 3, 1));
        assert_ne!(order(&cases, 3, 1), order(&cases, 3, 2));
    }
}
