//! From a placement to processors of this machine.

use furlong_model::{Party, Placement, Unavailable};
use furlong_os::affinity;

/// The processors that these parties are pinned to; `None` where the scheduler chooses.
///
/// # Errors
/// Why this machine, or what is left of it to this process, has no such processors.
pub fn pinned(placement: Placement, parties: &[Party]) -> Result<Option<Vec<usize>>, Unavailable> {
    if placement == Placement::Free {
        return Ok(None);
    }
    let by_role = resolve(placement)?;
    Ok(Some(parties.iter().map(|party| by_role[party.role.index()]).collect()))
}

/// The processors for initiator and responder, of a placement that pins them.
///
/// # Errors
/// Why this machine, or what is left of it to this process, has no such pair.
pub fn resolve(placement: Placement) -> Result<[usize; 2], Unavailable> {
    let allowed = affinity::allowed()
        .map_err(|error| Unavailable::new(format!("cannot ask for processors: {error}"), ""))?;
    let Some(&first) = allowed.first() else {
        return Err(Unavailable::new("this process may use no processor", ""));
    };
    match placement {
        Placement::SameCore | Placement::OneProcess => Ok([first, first]),
        Placement::OtherCore => {
            let siblings = affinity::core_siblings(first);
            let other = allowed.iter().copied().find(|processor| !siblings.contains(processor));
            other.map(|second| [first, second]).ok_or_else(|| {
                Unavailable::new(
                    "only one core is left to this process",
                    "give it two (taskset, container limits), or measure with --place same-core",
                )
            })
        }
        Placement::Free => Err(Unavailable::new("the scheduler chooses the processors", "name two of them")),
        Placement::Explicit(initiator, responder) => {
            for processor in [initiator, responder] {
                if !allowed.contains(&processor) {
                    let numbers: Vec<_> = allowed.iter().map(usize::to_string).collect();
                    return Err(Unavailable::new(
                        format!("processor {processor} is not there or not allowed"),
                        format!("name processors of these: {}", numbers.join(", ")),
                    ));
                }
            }
            Ok([initiator, responder])
        }
    }
}
