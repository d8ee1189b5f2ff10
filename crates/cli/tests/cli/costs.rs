//! `furlong costs`: the costs of operations on this machine, each listed once.

use crate::common::Place;
use crate::common::value::{at, list, number, text};
use serde_json::Value;
use std::collections::BTreeSet;

const KIB: u64 = 1 << 10;

fn size(figure: &Value) -> Option<u64> {
    at(figure, "size_bytes").as_u64()
}

#[test]
fn the_table_has_every_cost() {
    let place = Place::new();
    let table = place.run(["costs", "--trials", "1"]).expect_code(0);
    assert_eq!(table.stderr, "");
    let table = table.stdout;
    for start in [
        "clock-read ",
        "system-call ",
        "futex-wake ",
        "page-fault ",
        "context-switch ",
        "wake-up ",
        "copy 4KiB ",
        "copy 1MiB ",
        "copy-across 64KiB ",
    ] {
        assert!(table.lines().any(|line| line.starts_with(start)), "{start} in {table}");
    }
    for rows in ["context-switch: the median of the benchmarks ", "wake-up: the median of the benchmarks "] {
        assert!(table.contains(rows), "{table}");
    }
    assert!(table.contains("eventfd/block"), "{table}");
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn every_cost_is_there_once_and_as_large_as_it_must_be() {
        let json = Place::alone().run(["costs", "--trials", "3", "--format", "json"]).expect_code(0).json();
        let figures = list(&json, "figures");
        assert_eq!(at(&json, "schema"), 2);
        let mut seen = BTreeSet::new();
        for figure in figures {
            assert!(seen.insert((text(figure, "name"), size(figure))), "twice: {figure:#}");
            let ns = number(figure, "ns");
            // The cost of a copy across cores for a blocked reader is a difference, which may be lost in the noise.
            assert!(ns > 0.0 || (text(figure, "name") == "copy-across-asleep" && ns == 0.0), "{figure:#}");
            assert!(!text(figure, "what").is_empty() && number(figure, "looks") >= 1.0, "{figure:#}");
            let [low, high] = list(figure, "ci95") else { panic!("no interval in {figure:#}") };
            assert!(low.as_f64() <= Some(ns) && Some(ns) <= high.as_f64(), "{figure:#}");
            // Costs that are derived from rows name those rows.
            let from_rows = ["context-switch", "wake-up"].contains(&text(figure, "name"));
            assert_eq!(list(figure, "from").is_empty(), !from_rows, "{figure:#}");
        }

        let ns = |name: &str, size: Option<u64>| {
            let found =
                figures.iter().find(|figure| text(figure, "name") == name && self::size(figure) == size);
            number(found.unwrap_or_else(|| panic!("no {name} of {size:?} in {json:#}")), "ns")
        };
        for name in ["clock-read", "page-fault"] {
            ns(name, None);
        }
        assert!(ns("context-switch", None) > ns("system-call", None), "{json:#}");
        assert!(ns("wake-up", None) > ns("system-call", None), "{json:#}");
        let sizes = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB];
        assert!(sizes.map(|size| ns("copy", Some(size))).is_sorted_by(|one, next| one < next), "{json:#}");
        // A copy from another core's cache is not faster than a copy from this core's cache.
        let size = Some(64 * KIB);
        assert!(ns("copy-across", size) > ns("copy", size), "{json:#}");
    }
}
