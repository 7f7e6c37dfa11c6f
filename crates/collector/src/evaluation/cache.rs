//! What is held in memory of queries, bounded in bytes.

use std::collections::HashMap;

use queryscope_store::QueryKey;

/// About the bytes of a key and its place.
const KEY_BYTES: usize = 256;

#[derive(Debug)]
struct Held<T> {
    value: T,
    bytes: usize,
    /// The turn it was last used in.
    used: u64,
}

/// Something of each of the queries that were used last.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    held: HashMap<QueryKey, Held<T>>,
    bytes_max: usize,
    bytes: usize,
    turn: u64,
}

impl<T> Cache<T> {
    /// Holds no more than so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { held: HashMap::new(), bytes_max, bytes: 0, turn: 0 }
    }

    /// What is held of a query, which is used now.
    pub(crate) fn get(&mut self, key: &QueryKey) -> Option<&T> {
        self.turn += 1;
        let held = self.held.get_mut(key)?;
        held.used = self.turn;
        Some(&held.value)
    }

    /// Takes one out.
    pub(crate) fn take(&mut self, key: &QueryKey) -> Option<T> {
        let held = self.held.remove(key)?;
        self.bytes -= held.bytes;
        Some(held.value)
    }

    /// Holds a value of so many bytes.
    pub(crate) fn put(&mut self, key: QueryKey, bytes: usize, value: T) {
        self.take(&key);
        self.turn += 1;
        let bytes = bytes + KEY_BYTES;
        self.bytes += bytes;
        self.held.insert(key, Held { value, bytes, used: self.turn });
        if self.bytes <= self.bytes_max {
            return;
        }
        // An eighth goes at once: those that were not used for longest.
        let mut by_use: Vec<(u64, QueryKey)> =
            self.held.iter().map(|(key, held)| (held.used, key.clone())).collect();
        by_use.sort_unstable();
        for (_, key) in by_use {
            if self.bytes <= self.bytes_max / 8 * 7 {
                break;
            }
            self.take(&key);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.held.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1_000;

    fn key(n: usize) -> QueryKey {
        QueryKey { project: "p".into(), service: None, label: n.to_string() }
    }

    #[test]
    fn those_that_were_not_used_for_longest_go_first() {
        let mut cache = Cache::new(16 * (BYTES + KEY_BYTES));
        for n in 0..16 {
            cache.put(key(n), BYTES, n);
        }
        let first = cache.take(&key(0)).expect("held");
        cache.put(key(0), BYTES, first);
        assert_eq!(cache.get(&key(1)), Some(&1));
        cache.put(key(16), BYTES, 16);
        assert_eq!((cache.held.len(), cache.bytes), (14, 14 * (BYTES + KEY_BYTES)));
        let held: Vec<bool> = (0..17).map(|n| cache.held.contains_key(&key(n))).collect();
        assert_eq!(held[..6], [true, true, false, false, false, true]);
        assert!(held[5..].iter().all(|&held| held));
        cache.put(key(16), BYTES, 17);
        assert_eq!(
            (cache.take(&key(16)), cache.held.len()),
            (Some(17), 13),
            "it takes the place of the other"
        );
        cache.clear();
        assert_eq!((cache.take(&key(0)), cache.bytes), (None, 0));
    }
}
