//! Parallel iterators over hash maps.

use super::{drained, through_vector};
use std::collections::HashMap;

through_vector! {
    /// The entries of a map.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let map = std::collections::HashMap::from([(1, 2), (3, 4)]);
    /// assert_eq!(map.into_par_iter().map(|(key, value)| key * value).sum::<i32>(), 14);
    /// ```
    IntoIter[K, V] of impl[K, V, S] HashMap<K, V, S> => (K, V);
    where { K: Send, V: Send }
}

through_vector! {
    /// References to the entries of a map.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let map = std::collections::HashMap::from([(1, 2), (3, 4)]);
    /// assert_eq!(map.par_iter().map(|(key, value)| key * value).sum::<i32>(), 14);
    /// ```
    Iter['a, K, V] of impl['a, K, V, S] &'a HashMap<K, V, S> => (&'a K, &'a V);
    where { K: Sync, V: Sync }
}

through_vector! {
    /// References to the entries of a map, the values mutable.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut map = std::collections::HashMap::from([(1, 2)]);
    /// map.par_iter_mut().for_each(|(key, value)| *value += key);
    /// assert_eq!(map[&1], 3);
    /// ```
    IterMut['a, K, V] of impl['a, K, V, S] &'a mut HashMap<K, V, S> => (&'a K, &'a mut V);
    where { K: Sync, V: Send }
}

drained! {
    /// All entries of a map, which leave it. Its memory stays.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut all = std::collections::HashMap::from([(1, 2), (3, 4)]);
    /// assert_eq!(all.par_drain().count(), 2);
    /// assert!(all.is_empty());
    /// ```
    Drain['a, K, V] of impl['a, K, V, S] &'a mut HashMap<K, V, S> => (K, V);
    where { K: Send, V: Send }
}
