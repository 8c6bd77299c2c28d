//! Collections as sources and as results, drains, and bridges from iterators.
#![cfg(not(loom))]

mod common;

use common::{Census, Draw, everywhere, panics_with};
use sateen::prelude::*;
use sateen_base::unwind::discard;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 6] = [0, 1, 2, 10, 1000, 20_000];

fn numbers(len: usize) -> Vec<u64> {
    let mut draw = Draw::new(len as u64 + 1);
    (0..len).map(|_| draw.below(5000)).collect()
}

#[test]
fn sources_and_results() {
    macro_rules! same {
        ($v:expr, $($collection:ty),*) => {$({
            let v: &[u64] = $v;
            let model: $collection = v.iter().copied().collect();
            let inner: Vec<u64> = model.iter().copied().collect();
            assert_eq!(model.par_iter().copied().collect::<Vec<_>>(), inner);
            assert_eq!(model.clone().into_par_iter().collect::<Vec<_>>().len(), inner.len());
            let known: $collection = v.par_iter().copied().collect();
            let unknown: $collection = v.par_iter().copied().filter(|_| true).collect();
            let mut extended = <$collection>::default();
            extended.par_extend(v);
            extended.par_extend(Vec::<u64>::new());
            for made in [known, unknown, extended] {
                let mut made: Vec<u64> = made.into_iter().collect();
                let mut inner = inner.clone();
                if stringify!($collection).starts_with("Ha") {
                    made.sort_unstable();
                    inner.sort_unstable();
                } else if stringify!($collection).starts_with("Bin") {
                    made.sort_unstable();
                    inner.sort_unstable();
                }
                assert_eq!(made, inner, stringify!($collection));
            }
        })*};
    }
    everywhere(|| {
        for len in LENGTHS {
            let v = &numbers(len)[..];
            same!(v, VecDeque<u64>, LinkedList<u64>, BTreeSet<u64>, HashSet<u64>, BinaryHeap<u64>);
            let pairs = || v.iter().map(|n| (*n, n + 1));
            let hashed: HashMap<_, _> = pairs().collect();
            let ordered: BTreeMap<_, _> = pairs().collect();
            assert_eq!(hashed.par_iter().map(|(k, v)| (*k, *v)).collect::<HashMap<_, _>>(), hashed);
            assert_eq!(ordered.clone().into_par_iter().collect::<BTreeMap<_, _>>(), ordered);
            let mut changed = ordered.clone();
            changed.par_iter_mut().for_each(|(_, v)| *v += 1);
            assert!(changed.iter().all(|(k, v)| *v == k + 2));
            let mut drained = hashed.clone();
            assert_eq!(drained.par_drain().collect::<HashMap<_, _>>(), hashed);
            assert!(drained.is_empty());
            assert_eq!(&*v.par_iter().copied().collect::<Arc<[u64]>>(), v);
            assert_eq!(&*v.par_iter().copied().collect::<Cow<'_, [u64]>>(), v);
        }
    });
}

#[test]
fn texts() {
    everywhere(|| {
        for len in LENGTHS {
            let chars: Vec<char> =
                numbers(len).iter().map(|n| (b'a' + (n % 26) as u8) as char).collect();
            let model: String = chars.iter().collect();
            assert_eq!(chars.par_iter().collect::<String>(), model);
            assert_eq!(chars.par_iter().copied().collect::<Box<str>>(), model.clone().into());
            assert_eq!(chars.par_iter().map(char::to_string).collect::<String>(), model);
            assert_eq!(chars.par_iter().map(char::to_string).collect::<Cow<'_, str>>(), model);
        }
    });
}

#[test]
fn options_and_results() {
    everywhere(|| {
        assert_eq!(Some(3).into_par_iter().collect::<Vec<_>>(), [3]);
        assert_eq!(None::<u8>.par_iter().count(), 0);
        assert_eq!(Err::<u8, _>("x").into_par_iter().count(), 0);
        let all = (0..1000).into_par_iter();
        assert_eq!(all.clone().map(Some).collect::<Option<Vec<_>>>(), Some((0..1000).collect()));
        assert_eq!(all.clone().map(|n| (n != 500).then_some(n)).collect::<Option<Vec<_>>>(), None);
        let bad = |n| if n == 500 { Err(n) } else { Ok(n) };
        assert_eq!(all.clone().map(bad).collect::<Result<Vec<_>, _>>(), Err(500));
        assert_eq!(all.map(|_| Ok::<_, u8>(())).collect::<Result<(), _>>(), Ok(()));
        let forever = sateen::iter::repeat_n(Err::<u8, _>(7), usize::MAX);
        assert_eq!(forever.collect::<Result<HashSet<_>, _>>(), Err(7));
    });
}

#[test]
fn drains_remove_each_item_once() {
    everywhere(|| {
        let census = Census::default();
        for range in [0..0, 0..1000, 0..10, 990..1000, 300..700, 500..500] {
            let rest: Vec<_> = (0..1000).filter(|n| !range.contains(n)).collect();
            macro_rules! check {
                ($collection:ty) => {
                    for how in 0..5 {
                        let mut all: $collection = (0..1000).map(|n| census.citizen(n)).collect();
                        match how {
                            0 => assert_eq!(all.par_drain(range.clone()).count(), range.len()),
                            1 => drop(all.par_drain(range.clone())),
                            2 => drop(all.par_drain(range.clone()).find_any(|_| true)),
                            3 if !range.is_empty() => panics_with("the one", || {
                                all.par_drain(range.clone()).for_each(|c| {
                                    assert_ne!(c.number, range.start, "the one");
                                });
                            }),
                            _ => {
                                std::mem::forget(all.par_drain(range.clone()));
                                continue;
                            }
                        }
                        assert!(all.iter().map(|c| c.number).eq(rest.iter().copied()));
                    }
                };
            }
            check!(Vec<common::Citizen>);
            check!(VecDeque<common::Citizen>);
            census.assert_all_gone();
        }
        panics_with("not within", || drop(vec![1].par_drain(1..3)));
        panics_with("not within", || drop(vec![1].par_drain(..=usize::MAX)));
    });
}

#[test]
fn bridges() {
    everywhere(|| {
        for len in [0, 1, 1000] {
            let mut all: Vec<usize> = (0..len).par_bridge().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..len));
        }
        // Within itself, in items and in the iterator.
        let nested = |n: usize| (0..n).par_bridge().map(|m| m + 1).sum::<usize>();
        let sum: usize = (0..50).map(nested).par_bridge().map(nested).sum();
        let model: usize = (0..50usize).map(|n| n * (n + 1) / 2).map(|n| n * (n + 1) / 2).sum();
        assert_eq!(sum, model);
        assert_eq!((0..).par_bridge().find_any(|n| *n == 500), Some(500));
    });
}

/// No piece goes on with an endless source when the closure of another has panicked.
#[test]
fn panics_end_endless_bridges() {
    everywhere(|| {
        for at in [0, 1, 100, 5000] {
            panics_with("the one", || {
                (0..).par_bridge().for_each(|n: u64| assert_ne!(n, at, "the one"));
            });
        }
    });
}

#[test]
fn a_bridge_may_wait_for_its_own_items() {
    everywhere(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        sender.send(0).expect("a receiver");
        let seen = AtomicUsize::new(0);
        receiver.into_iter().take(100).par_bridge().for_each(|n: usize| {
            seen.fetch_add(1, SeqCst);
            // The iterator has no other item before this.
            let _ = sender.send(n + 1);
        });
        assert_eq!(seen.load(SeqCst), 100);
    });
}

#[test]
fn panics_end_bridges() {
    everywhere(|| {
        let census = Census::default();
        panics_with("the one", || {
            let items = (0..).map(|n| {
                assert_ne!(n, 100, "the one");
                census.citizen(n)
            });
            items.par_bridge().collect::<Vec<_>>()
        });
        census.assert_all_gone();
        panics_with("the one", || {
            let bomb = census.bomb(0);
            let items = (0..100_000).inspect(move |_| assert_eq!({ &bomb }.number, 0));
            items.par_bridge().for_each(|n| assert_ne!(n, 100, "the one"));
        });
        census.assert_all_gone();
        panics_with("the one", || {
            let items = (0..1000).map(|n| census.bomb(n));
            items.par_bridge().for_each(|c| {
                let number = c.number;
                discard(c);
                assert_ne!(number, 100, "the one");
            });
        });
        census.assert_all_gone();
    });
}

#[test]
fn panics_of_hashes_and_orders() {
    struct Key(common::Citizen);
    impl std::hash::Hash for Key {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            assert_ne!(self.0.number, 500, "the one");
            self.0.number.hash(state);
        }
    }
    impl PartialEq for Key {
        fn eq(&self, other: &Self) -> bool {
            self.0.number == other.0.number
        }
    }
    impl Eq for Key {}
    everywhere(|| {
        let census = Census::default();
        panics_with("the one", || {
            (0..1000)
                .into_par_iter()
                .map(|n| Key(if n > 500 { census.bomb(n) } else { census.citizen(n) }))
                .collect::<HashSet<_>>()
        });
        census.assert_all_gone();
    });
}
