//! Claims of meaning, judged by the evidence of probes.

use super::{ClaimReason, ClaimStatus, ClaimVerdict};
use furlong_model::{Evidence, Experiment, MeaningClaim, MeaningReading};

/// Returns the verdict on each claim of meaning.
pub(super) fn all<'a>(
    experiment: &'a Experiment,
    readings: &'a [MeaningReading],
) -> impl Iterator<Item = ClaimVerdict> + 'a {
    experiment.meanings.iter().map(|claim| verdict(experiment, claim, readings))
}

fn verdict(experiment: &Experiment, claim: &MeaningClaim, readings: &[MeaningReading]) -> ClaimVerdict {
    let probe = experiment.meaning_probe(claim);
    let reading = readings.iter().find(|reading| Some(&reading.probe) == probe.as_ref());
    let (status, reason) = match reading {
        None => (ClaimStatus::NotTested, ClaimReason::NoFigure { of: vec![claim.of.clone()] }),
        Some(MeaningReading { evidence: Some(evidence), .. }) => {
            let (meaning, evidence) = (claim.meaning, evidence.clone());
            (
                ClaimStatus::of(Some(is_kept(&evidence) == claim.holds)),
                ClaimReason::Evidence { meaning, evidence },
            )
        }
        Some(MeaningReading { trouble, .. }) => {
            (ClaimStatus::NotTested, ClaimReason::NotTestable { why: trouble.clone().unwrap_or_default() })
        }
    };
    ClaimVerdict {
        text: claim.text.clone(),
        size_bytes: None,
        status,
        ratio_then: None,
        ratio_now: None,
        proxies: Vec::new(),
        reason,
    }
}

/// Returns whether a mechanism has kept the promise that a probe tested.
pub fn is_kept(evidence: &Evidence) -> bool {
    match evidence {
        Evidence::Lengths { sent, received } => sent == received,
        Evidence::Order { expected, received } => expected == received,
        Evidence::Counts { sent, received, .. } => sent == received,
        Evidence::Number { sent, received, .. } => Some(sent) == received.as_ref(),
        Evidence::Death { error, .. } => error.is_some(),
        Evidence::Sizes { rejected, .. } => rejected.is_some(),
        Evidence::Disk { in_memory, sent, received } => !in_memory && Some(sent) == received.as_ref(),
        Evidence::Absent => false,
    }
}
