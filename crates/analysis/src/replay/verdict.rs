//! What a replay says, in sentences computed from its figures.

use super::{
    BestSize, ClaimStatus, ClaimVerdict, Pairs, ReplayRow,
    compare::in_words,
    fastest::{Became, against_all, became, published},
};
use crate::text::capital;
use furlong_model::{Measure, format_bytes};
use std::cmp::Ordering;

/// Most sizes that have a sentence each.
const FEW_SIZES: usize = 3;

/// All sentences: what became of the fastest, of the order, of each claim, and of the best sizes.
pub(super) fn sentences(
    measure: &Measure,
    rows: &[ReplayRow],
    pairs: &Pairs,
    best_sizes: &[BestSize],
    claims: &[ClaimVerdict],
) -> Vec<String> {
    let several = measure.sizes_bytes.len() > 1;
    let mut sentences = of_the_fastest(measure, rows);
    sentences.extend(of_pairs(pairs));
    sentences.extend(best_sizes.iter().filter_map(of_best_size));
    sentences.extend(of_added(measure, rows));
    // What is missing is as a rule missing at every size, and said once.
    let mut untested: Vec<&ClaimVerdict> = Vec::new();
    for claim in claims {
        let same = |other: &&ClaimVerdict| (&other.text, &other.reason) == (&claim.text, &claim.reason);
        if claim.status != ClaimStatus::NotTested {
            sentences.push(of_claim(claim, several));
        } else if !untested.iter().any(same) {
            untested.push(claim);
            sentences.push(of_claim(claim, false));
        }
    }
    sentences
}

/// A sentence a size, or one over all where they are many.
fn of_the_fastest(measure: &Measure, rows: &[ReplayRow]) -> Vec<String> {
    let sizes = &measure.sizes_bytes;
    let told = sizes.iter().filter_map(|size| Some((*size, became(rows, *size, measure.order_by)?)));
    let told: Vec<_> = told.collect();
    if sizes.len() <= FEW_SIZES {
        let sentence = |(size, (_, text)): (usize, (Became, String))| match sizes.len() {
            1 => format!("{text}."),
            _ => format!("At {}: {text}.", format_bytes(size)),
        };
        return told.into_iter().map(sentence).collect();
    }
    if told.is_empty() {
        return Vec::new();
    }
    let count = |wanted: Became| told.iter().filter(|(_, (became, _))| *became == wanted).count();
    vec![format!(
        "Of {} sizes, the row that was the fastest still is at {}, is beaten at {}, cannot be told apart at {}, and is \
         not measured at {}.",
        told.len(),
        count(Became::Still),
        count(Became::Beaten),
        count(Became::Untold),
        count(Became::Untested),
    )]
}

/// The rows without published figures that are for sure faster than every published one, where sizes are few.
fn of_added(measure: &Measure, rows: &[ReplayRow]) -> Vec<String> {
    let (sizes, figure) = (&measure.sizes_bytes, measure.order_by);
    let faster = |size: usize| {
        let added = rows.iter().filter(move |row| row.size_bytes == size && row.published.is_empty());
        let beats_all = |row: &&ReplayRow| {
            against_all(row, published(rows, size, figure), figure) == Some(Ordering::Greater)
        };
        added.filter(beats_all).map(|row| row.mechanism.clone()).collect::<Vec<_>>()
    };
    let sentence = |size: &usize| {
        let names = faster(*size);
        let at = if sizes.len() > 1 { format!("At {}: ", format_bytes(*size)) } else { String::new() };
        let verb = if names.len() == 1 { "is" } else { "are" };
        let said = || {
            format!(
                "{at}of the rows that were added, {} {verb} faster than every published one.",
                in_words(&names)
            )
        };
        (!names.is_empty()).then(said).map(|text| capital(&text))
    };
    if sizes.len() > FEW_SIZES { Vec::new() } else { sizes.iter().filter_map(sentence).collect() }
}

fn of_pairs(pairs: &Pairs) -> Option<String> {
    let untested = match pairs.untested {
        0 => String::new(),
        1 => " 1 pair was not tested, since a row is missing.".to_owned(),
        count => format!(" {count} pairs were not tested, since a row is missing."),
    };
    let tested = match pairs.tested() {
        0 if untested.is_empty() => return None,
        0 => return Some(format!("No pair of rows could be compared.{untested}")),
        1 => "1 pair of rows".to_owned(),
        count => format!("{count} pairs of rows"),
    };
    Some(format!(
        "Of {tested} that could be compared, {} in the published order, {} in the reverse, and {} cannot be told \
         apart.{untested}",
        are(pairs.kept),
        are(pairs.reversed),
        pairs.untold,
    ))
}

fn are(count: usize) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

/// Of a row that was published and is measured.
fn of_best_size(best: &BestSize) -> Option<String> {
    let now = best.now.as_ref().filter(|_| !best.then.is_empty())?;
    let named = |sizes: &[usize]| in_words(&sizes.iter().map(|size| format_bytes(*size)).collect::<Vec<_>>());
    let ties = match now.tied_with.as_slice() {
        [] => String::new(),
        ties => format!(", which cannot be told apart from {}", named(ties)),
    };
    Some(format!(
        "{}: the best block size was {}, and is now {}{ties}.",
        best.mechanism,
        named(&best.then),
        format_bytes(now.size_bytes)
    ))
}

fn of_claim(claim: &ClaimVerdict, several: bool) -> String {
    let size = claim.size_bytes.filter(|_| several).map(|size| format!(" at {}", format_bytes(size)));
    let reason = if claim.status == ClaimStatus::NotTested {
        format!(": {}", claim.reason)
    } else {
        format!(" ({})", claim.reason)
    };
    format!("\"{}\" {}{}{reason}.", claim.text, claim.status.in_words(), size.unwrap_or_default())
}
