//! The floor below every row that crosses cores: the bare transfer of a cache line.

use crate::{Law, checks::on_two_processors, law::Breach};
use furlong_model::{Case, Family, Measurement, Unit, format_ns};

/// The part of a bare core-to-core round trip below which a message cannot have crossed. Not the whole: virtual
/// machines move cores, and the bare time changes by up to 8 times while a row is measured.
const CACHE_LINE_SHARE: f64 = 0.25;

/// No message reaches another core faster than a cache line. `trial` is one of the row's, and `p50_ns` its median; `bare_ns` is the
/// shortest bare round trip that was read in the run; without one there is nothing to compare with.
pub(crate) fn is_above_the_cache_line(
    case: &Case,
    family: Option<Family>,
    trial: &Measurement,
    p50_ns: f64,
    bare_ns: Option<f64>,
) -> Result<(), Breach> {
    // Old records may not name the family; who is alone sends nothing across.
    let alone = family == Some(Family::Floor) || trial.roles.len() < 2;
    // In a stream many messages cross together, and so they may between programs that say themselves what they count.
    let in_turns = Unit::of(case.pattern()) == Unit::RoundTrip && trial.programs.is_none();
    let crosses = in_turns && !alone && on_two_processors(case.placement);
    match bare_ns.filter(|bare_ns| crosses && p50_ns < CACHE_LINE_SHARE * bare_ns) {
        None => Ok(()),
        Some(bare_ns) => Err(Breach::new(
            Law::CacheLineFloor,
            format!(
                "its median of {} is below a quarter of what a bare cache line takes from core to core and back, {}",
                format_ns(p50_ns),
                format_ns(bare_ns),
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, family, measurement};
    use furlong_model::{Placement, Wait};

    /// Whether a row of the mechanism with this median may be, where a bare cache line takes so long.
    fn judged(
        (mechanism, family): (&str, Option<Family>),
        placement: Placement,
        median_ns: f64,
        bare_ns: Option<f64>,
    ) -> Result<(), Breach> {
        let case = case(mechanism, Wait::Spin, placement);
        is_above_the_cache_line(&case, family, &measurement(&case, median_ns, 0), median_ns, bare_ns)
    }

    fn may_take(mechanism: &str, placement: Placement, median_ns: f64) -> bool {
        judged((mechanism, family(mechanism)), placement, median_ns, Some(400.0)).is_ok()
    }

    #[test]
    fn nothing_but_the_floor_beats_the_cache_line() {
        assert!(may_take("pipe", Placement::OtherCore, 105.0));
        assert!(!may_take("pipe", Placement::OtherCore, 95.0));
        assert!(!may_take("pipe", Placement::Explicit(0, 1), 95.0));
        assert!(may_take("pipe", Placement::Explicit(0, 0), 95.0));
        assert!(may_take("pipe", Placement::SameCore, 95.0));
        assert!(may_take("null", Placement::OtherCore, 12.0));
        assert!(judged(("null", None), Placement::OtherCore, 12.0, Some(400.0)).is_ok());
        let pipe = |bare_ns| judged(("pipe", None), Placement::OtherCore, 95.0, bare_ns);
        assert!(pipe(None).is_ok());
        assert_eq!(pipe(Some(400.0)).unwrap_err().law, Law::CacheLineFloor);
    }
}
