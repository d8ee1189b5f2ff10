//! Map in a sorted list. A tree of the standard library is 25 KB of machine code for each pair of types, and the maps of
//! this workspace are small.

use std::borrow::Borrow;

/// Values by their keys, in the order of the keys.
#[derive(Debug, Clone, PartialEq)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| &self.0[place].1)
    }

    /// Returns the value of `key`, which is `value` if it had none.
    pub fn or_insert(&mut self, key: K, value: V) -> &mut V {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.0.insert(place, (key, value));
            place
        });
        &mut self.0[place].1
    }

    /// Returns the value of `key`, which is the default if it had none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert(key, V::default())
    }

    /// Returns the keys with their values.
    pub fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap(Vec::new())
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    /// Keeps the last value of each key.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = SortedMap::default();
        for (key, value) in entries {
            match map.place(&key) {
                Ok(place) => map.0[place].1 = value,
                Err(place) => map.0.insert(place, (key, value)),
            }
        }
        map
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_holds_the_entries_of_a_tree(entries in prop::collection::vec((0u8..20, any::<u8>()), 0..50)) {
            let (mut ours, mut tree): (SortedMap<u8, u8>, BTreeMap<u8, u8>) =
                (entries.iter().copied().collect(), entries.iter().copied().collect());
            prop_assert!(ours.iter().copied().eq(tree.clone()));
            for (key, value) in entries {
                *ours.or_default(key ^ 1) ^= value;
                *tree.entry(key ^ 1).or_default() ^= value;
                prop_assert_eq!(ours.get(&value), tree.get(&value));
            }
            prop_assert!(ours.into_iter().eq(tree));
        }
    }
}
