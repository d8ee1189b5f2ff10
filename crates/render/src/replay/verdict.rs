//! Conclusions of a replay, as sentences.

use super::super::object::JudgedSentences;
use super::meaning;
use furlong_analysis::text::{capital, plain, plain_sentence, three_digits};
use furlong_analysis::{
    BestSize, ClaimReason, ClaimStatus, ClaimVerdict, FasterAdded, FastestThen, Pairs, RankChange, Replay,
    ReplayRow, ReplayStatus,
};
use furlong_model::format_bytes;
use furlong_stats::coverage;

/// Sentence before a verdict from figures that should not be used.
const PROVISIONAL: &str = "These conclusions are provisional: the machine was unreliable during this run. Repeat the \
                           replay when 'furlong doctor' finds the machine fit.";

/// Maximum number of sizes that have separate sentences.
const FEW_SIZES: usize = 3;

/// Returns why each claim of the replays holds or falls, for programs.
pub(crate) fn claim_reasons(replays: &[Replay]) -> JudgedSentences {
    let claims = replays.iter().flat_map(|replay| &replay.claims);
    JudgedSentences::new("claims.reason_data", "reason", claims.map(|claim| claim_reason(claim).into()))
}

/// Returns the verdict on the fastest benchmark, the order, the best sizes and each claim.
pub fn replay_verdict(replay: &Replay) -> Vec<String> {
    let several = replay.measure.sizes_bytes.len() > 1;
    let mut sentences: Vec<String> = replay.provisional.then(|| PROVISIONAL.to_owned()).into_iter().collect();
    let without = replay.rows.iter().filter(|row| is_measured(row));
    let without: Vec<_> = without.filter(|row| !has_interval(row, replay)).map(|row| row.trials).collect();
    if let Some(most) = without.iter().max() {
        sentences.push(too_few(*most));
        // Without intervals, no order, pair or claim is tested.
        if !replay.rows.iter().any(|row| has_interval(row, replay)) {
            let meanings = replay.claims.iter().filter(|claim| is_of_meaning(claim));
            sentences.extend(claim_sentences(meanings, several));
            return sentences;
        }
    }
    sentences.extend(fastest_sentences(replay));
    sentences.extend(pairs_sentence(replay.pairs));
    sentences.extend(replay.best_sizes.iter().filter_map(best_size_sentence));
    if replay.measure.sizes_bytes.len() <= FEW_SIZES {
        sentences.extend(replay.faster_added.iter().map(|added| added_sentence(added, several)));
    }
    sentences.extend(claim_sentences(replay.claims.iter(), several));
    sentences
}

/// Returns whether a probe judges the claim.
fn is_of_meaning(claim: &ClaimVerdict) -> bool {
    matches!(claim.reason, ClaimReason::Evidence { .. } | ClaimReason::NotTestable { .. })
}

fn claim_sentences<'a>(claims: impl Iterator<Item = &'a ClaimVerdict>, several: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    // Missing data is usually missing at every size, so the same reason is reported once.
    let mut untested: Vec<&ClaimVerdict> = Vec::new();
    for claim in claims {
        let same = |other: &&ClaimVerdict| (&other.text, &other.reason) == (&claim.text, &claim.reason);
        if claim.status != ClaimStatus::NotTested {
            sentences.push(claim_sentence(claim, several));
        } else if !untested.iter().any(same) {
            untested.push(claim);
            sentences.push(claim_sentence(claim, false));
        }
    }
    sentences
}

fn is_measured(row: &ReplayRow) -> bool {
    row.status == ReplayStatus::Measured
}

fn has_interval(row: &ReplayRow, replay: &Replay) -> bool {
    row.measured.get(&replay.measure.order_by).is_some_and(|now| now.ci95.is_some())
}

fn too_few(trials: usize) -> String {
    let trials = if trials == 1 { "1 trial is".to_owned() } else { format!("{trials} trials are") };
    format!(
        "{trials} too few for a confidence interval, so benchmarks without one are not compared: repeat with --trials \
         {} or more.",
        fewest_trials_for_95_percent()
    )
}

/// Returns the minimum number of trials for which the interval of a median has 95 % coverage.
fn fewest_trials_for_95_percent() -> usize {
    (3..100).find(|trials| coverage(*trials) >= 0.95).unwrap_or(6)
}

/// Reports the fastest benchmark, one sentence per size, or one over all sizes if there are many.
fn fastest_sentences(replay: &Replay) -> Vec<String> {
    let (sizes, told) = (replay.measure.sizes_bytes.len(), &replay.fastest);
    if sizes <= FEW_SIZES {
        let sentence = |was: &FastestThen| match sizes {
            1 => format!("{}.", became(was)),
            _ => format!("At {}: {}.", format_bytes(was.size_bytes), became(was)),
        };
        return told.iter().map(sentence).collect();
    }
    if told.is_empty() {
        return Vec::new();
    }
    let count = |is: fn(&RankChange) -> bool| told.iter().filter(|was| is(&was.became)).count();
    vec![format!(
        "Of {} sizes, the published fastest is still the fastest at {}, beaten at {}, tied at {}, and not measured or \
         in too few trials at {}.",
        told.len(),
        count(|became| matches!(became, RankChange::Still { .. })),
        count(|became| matches!(became, RankChange::Beaten { .. })),
        count(|became| matches!(became, RankChange::Untold { .. })),
        count(|became| matches!(
            became,
            RankChange::NotMeasured | RankChange::Alone | RankChange::NoInterval
        )),
    )]
}

fn became(was: &FastestThen) -> String {
    let name = plain(&was.mechanism);
    match &was.became {
        RankChange::Still { next, times } => {
            format!("{name} is still the fastest, {} times as fast as {}", three_digits(*times), plain(next))
        }
        RankChange::Beaten { by, times } => {
            format!(
                "{name} is no longer the fastest: {} is, {} times as fast",
                plain(by),
                three_digits(*times)
            )
        }
        RankChange::Untold { tied_with } => {
            format!("{name} was the fastest, and is now tied with {}", in_words(tied_with))
        }
        RankChange::NoInterval => {
            format!("{name} was the fastest, and has too few trials to be compared now")
        }
        RankChange::NotMeasured => format!("{name} was the fastest, and is not measured now"),
        RankChange::Alone => format!("{name} was the fastest, and nothing else is measured now"),
    }
}

fn added_sentence(added: &FasterAdded, several: bool) -> String {
    let at = if several { format!("At {}: ", format_bytes(added.size_bytes)) } else { String::new() };
    let verb = if added.mechanisms.len() == 1 { "is" } else { "are" };
    let names = in_words(&added.mechanisms);
    capital(&format!("{at}of the added benchmarks, {names} {verb} faster than every published one."))
}

fn pairs_sentence(pairs: Pairs) -> Option<String> {
    let untested = |count: usize, why: &str| match count {
        0 => String::new(),
        1 => format!(" 1 pair was not tested, because a benchmark {why}."),
        count => format!(" {count} pairs were not tested, because a benchmark {why}."),
    };
    let untested =
        untested(pairs.untested, "is missing") + &untested(pairs.no_interval, "has too few trials");
    let tested = match pairs.tested() {
        0 if untested.is_empty() => return None,
        0 => return Some(format!("No pair of benchmarks could be compared.{untested}")),
        1 => "1 pair of benchmarks".to_owned(),
        count => format!("{count} pairs of benchmarks"),
    };
    Some(format!(
        "Of {tested} that could be compared, {} in the published order, {} in the reverse, and {} tied.{untested}",
        are(pairs.kept),
        are(pairs.reversed),
        are(pairs.untold),
    ))
}

fn are(count: usize) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

/// Compares the published and the measured best size. Returns `None` if one of them is missing.
fn best_size_sentence(best: &BestSize) -> Option<String> {
    let now = best.now.as_ref().filter(|_| !best.then.is_empty())?;
    let ties = match now.tied_with.as_slice() {
        [] => String::new(),
        ties => format!(", which ties with {}", sizes_in_words(ties)),
    };
    Some(format!(
        "{}: the best block size was {}, and is now {}{ties}.",
        plain(&best.mechanism),
        sizes_in_words(&best.then),
        format_bytes(now.size_bytes)
    ))
}

fn claim_sentence(claim: &ClaimVerdict, several: bool) -> String {
    let size = claim.size_bytes.filter(|_| several).map(|size| format!(" at {}", format_bytes(size)));
    let reason = claim_reason(claim);
    let reason =
        if claim.status == ClaimStatus::NotTested { format!(": {reason}") } else { format!(" ({reason})") };
    let proxies = match claim.proxies.iter().map(|proxy| plain(proxy)).collect::<Vec<_>>() {
        none if none.is_empty() => String::new(),
        proxies => format!(" for proxies of the published mechanisms: {}", proxies.join("; ")),
    };
    let (text, status) = (plain_sentence(&claim.text), claim_status(claim.status));
    format!("\"{text}\" {status}{}{reason}{proxies}.", size.unwrap_or_default())
}

/// Describes the status of a claim, as a continuation of "the claim".
pub fn claim_status(status: ClaimStatus) -> &'static str {
    match status {
        ClaimStatus::Holds => "holds",
        ClaimStatus::HoldsInDirection => "holds in direction, but the factor is larger than claimed",
        ClaimStatus::Falls => "is no longer true",
        ClaimStatus::CannotBeTold => "cannot be decided",
        ClaimStatus::NotTested => "was not tested",
    }
}

/// Describes the reason for the status of a claim.
pub fn claim_reason(claim: &ClaimVerdict) -> String {
    let known = |ratio: Option<f64>| ratio.map_or_else(|| "?".to_owned(), three_digits);
    let then_and_now = || match (claim.ratio_then, known(claim.ratio_now)) {
        (Some(then), now) => format!("{} times as fast then, {now} times now", three_digits(then)),
        (None, now) => format!("{now} times as fast now"),
    };
    match &claim.reason {
        ClaimReason::NoFigure { of } => format!("no result for {}", in_words(of)),
        ClaimReason::NoInterval { of } => {
            format!("{} in too few trials for a confidence interval", measured(of))
        }
        ClaimReason::NothingElse => "nothing else is measured".to_owned(),
        ClaimReason::FigureIsZero => "a figure is 0".to_owned(),
        ClaimReason::AgainstNext { next, missing } => {
            let but = match missing.as_slice() {
                [] => String::new(),
                missing => {
                    format!(
                        " among the compared benchmarks; no result or no interval for {}",
                        in_words(missing)
                    )
                }
            };
            let [then, now] = [claim.ratio_then, claim.ratio_now].map(known);
            format!(
                "{then} times as fast as the next one then, {now} times as fast as {} now{but}",
                plain(next)
            )
        }
        ClaimReason::AgainstOther => then_and_now(),
        ClaimReason::Alike { within } => {
            format!("{}; alike is up to {:.0} % apart", then_and_now(), (within - 1.0) * 100.0)
        }
        ClaimReason::Evidence { meaning, evidence } => meaning::evidence(*meaning, evidence),
        ClaimReason::NotTestable { why } => plain(why),
        ClaimReason::NotSeveralSizes { row } => {
            format!("{} is not measured with several sizes of one total", plain(row))
        }
        ClaimReason::BestSize { size_bytes, tied_with } => {
            let best = format_bytes(*size_bytes);
            match claim.status {
                ClaimStatus::Holds => format!("{best} is best now too"),
                ClaimStatus::CannotBeTold => {
                    let ties = sizes_in_words(tied_with);
                    format!("{best} comes first now, and ties with {ties}")
                }
                ClaimStatus::HoldsInDirection | ClaimStatus::Falls | ClaimStatus::NotTested => {
                    format!("{best} is best now")
                }
            }
        }
    }
}

fn measured(names: &[String]) -> String {
    format!("{} {} measured", in_words(names), if names.len() == 1 { "is" } else { "are" })
}

fn sizes_in_words(sizes: &[usize]) -> String {
    in_words(&sizes.iter().map(|size| format_bytes(*size)).collect::<Vec<_>>())
}

/// Joins names for a sentence: `A`, `A and B`, `A, B and C`.
fn in_words(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| plain(name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
