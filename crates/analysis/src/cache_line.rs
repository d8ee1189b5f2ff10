//! Lower limit of every cross-core benchmark: the bare transfer of a cache line.

use crate::{Law, checks::on_two_processors, law::Breach};
use furlong_model::{Case, Family, Measurement, Unit, format_ns};

/// Minimum share of a bare core-to-core round trip. The limit is not the whole round trip, because virtual machines move
/// cores, and the bare time changes by up to 8 times during a benchmark.
const CACHE_LINE_SHARE: f64 = 0.25;

/// Checks that the median `p50_ns` is possible for a cross-core message, which is not faster than a cache line. `trial` is
/// one of the benchmark's trials. `bare_ns` is the shortest bare round trip of the run; without it the check passes.
pub(crate) fn is_above_the_cache_line(
    case: &Case,
    family: Option<Family>,
    trial: &Measurement,
    p50_ns: f64,
    bare_ns: Option<f64>,
) -> Result<(), Breach> {
    // Old records may lack the family. A single role sends nothing to another core.
    let alone = family == Some(Family::Floor) || trial.roles.len() < 2;
    // In a stream several messages cross in parallel. The same is possible between programs that count their own exchanges.
    let in_turns = Unit::of(case.pattern()) == Unit::RoundTrip && trial.programs.is_none();
    let crosses = in_turns && !alone && on_two_processors(case.placement);
    match bare_ns.filter(|bare_ns| crosses && p50_ns < CACHE_LINE_SHARE * bare_ns) {
        None => Ok(()),
        Some(bare_ns) => Err(Breach::new(
            Law::CacheLineFloor,
            format!(
                "its median of {} is below a quarter of the core-to-core round trip of a cache line, {}",
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

    /// Whether the check accepts this median of the mechanism, with a bare round trip of `bare_ns`.
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
