//! Charts that both the terminal and the HTML report show, one file per kind. Each file turns computed results into the
//! description of a chart and a sentence that summarizes it.

pub mod by_batch;
pub mod latency_by_links;
pub mod latency_by_rate;
pub mod latency_by_size;
pub mod over_time;
pub mod ranking;
pub mod sum_by_parties;
mod sweep;
pub mod throughput_by_size;

use furlong_analysis::{Group, PayloadKind, Row, Summary};

pub use sweep::FEWEST_POINTS;
pub(crate) use sweep::{Sweep, sweeps};

/// Returns the interval, over trials, of a benchmark's bytes per second.
fn throughput_interval(row: &Row) -> Option<[f64; 2]> {
    let exchange = &row.exchange;
    let bytes = exchange.bytes_per_second? / exchange.per_second;
    Some(exchange.per_second_ci95?.map(|rate| rate * bytes))
}

/// Returns the groups that get a separate chart, and the number of groups left out. A sweep over sizes gets three
/// charts.
pub fn charted_groups(summary: &Summary) -> (Vec<&Group>, usize) {
    let groups = summary.groups.iter().filter(|group| group.carries != PayloadKind::Nothing);
    ends_and_middle(groups.collect(), |group: &&Group| Group {
        size_bytes: None,
        name: String::new(),
        title: String::new(),
        subject: String::new(),
        ..(*group).clone()
    })
}

/// Keeps the first, the middle and the last of the items that differ in size alone, and returns the number left out.
/// Without this limit, a sweep would have a chart for each size.
pub fn ends_and_middle<T, K: Ord>(sorted_by_size: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, usize) {
    let mut sizes: std::collections::BTreeMap<K, usize> = std::collections::BTreeMap::new();
    let numbered: Vec<(usize, T)> = sorted_by_size
        .into_iter()
        .map(|one| {
            let number = sizes.entry(key(&one)).or_default();
            *number += 1;
            (*number - 1, one)
        })
        .collect();
    let is_kept = |(number, one): &(usize, T)| {
        let all = sizes.get(&key(one)).copied().unwrap_or_default();
        [0, all / 2, all.saturating_sub(1)].contains(number)
    };
    let all = numbered.len();
    let kept: Vec<T> = numbered.into_iter().filter(is_kept).map(|(_, one)| one).collect();
    let left_out = all - kept.len();
    (kept, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_keeps_three_sizes() {
        let groups = vec![(1, 'a'), (1, 'b'), (2, 'a'), (3, 'a'), (4, 'a'), (5, 'a'), (9, 'b')];
        let (kept, left_out) = ends_and_middle(groups, |(_, key)| *key);
        assert_eq!(kept, [(1, 'a'), (1, 'b'), (3, 'a'), (5, 'a'), (9, 'b')]);
        assert_eq!(left_out, 2);
    }
}
