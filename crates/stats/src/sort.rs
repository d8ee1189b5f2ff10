//! Sorting that is compiled once for all types and orders. The standard library's sort is two thousand lines of
//! intermediate code for each type and order, and this workspace sorts short lists of fifty types.

use std::cmp::Ordering;

/// Sorts by `compare`. Equal items keep their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut places = places(items.len(), &|a, b| compare(&items[a], &items[b]));
    for at in 0..items.len() {
        while places[at] != at {
            let place = places[at];
            items.swap(at, place);
            places.swap(at, place);
        }
    }
}

/// Returns the sorted place of each of `length` items.
fn places(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let mut places = vec![0; length];
    order.iter().enumerate().for_each(|(place, from)| places[*from] = place);
    places
}

/// Sorts by a key. Equal items keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Returns each distinct value once, in ascending order.
pub fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    sort_by(&mut values, Ord::cmp);
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(keys in prop::collection::vec(0u8..20, 0..200)) {
            let numbered: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
            let (mut ours, mut std) = (numbered.clone(), numbered);
            sort_by_key(&mut ours, |(key, _)| std::cmp::Reverse(*key));
            std.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            prop_assert_eq!(ours, std);
            let set: std::collections::BTreeSet<u8> = keys.iter().copied().collect();
            prop_assert_eq!(distinct(keys), set.into_iter().collect::<Vec<_>>());
        }
    }
}
