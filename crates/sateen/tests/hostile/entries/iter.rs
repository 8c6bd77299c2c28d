//! Parallel iterators: sources, adapters and ends that call user code.

use super::{Entry, entry};
use crate::cell::{Bomb, Cell, Item};
use sateen::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use sateen::iter::{repeat, repeat_n, split, walk_tree_postfix, walk_tree_prefix};
use sateen::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

pub(super) static SOURCES: &[Entry] = &[
    entry("iter: items of a vector dropped", |c| bombs(c).into_par_iter().for_each(drop)),
    entry("iter: items of a vector dropped as one panics", |c| {
        bombs(c).into_par_iter().enumerate().for_each(|(n, _)| assert_ne!(n, 3, "wanted"));
    }),
    entry("iter: items of an array left", |c| {
        let array = [c.bomb(), c.bomb(), c.bomb()];
        c.end(array.into_par_iter().enumerate().find_first(|(n, _)| *n == 1));
    }),
    entry("iter: source never driven", |c| c.end(bombs(c).into_par_iter().map(|_| c.item()))),
    entry("iter: drained items", |c| {
        let mut left = bombs(c);
        c.end(left.par_drain(2..5).map(|bomb| (bomb, c.item())).collect::<Vec<_>>());
        c.end(left);
    }),
    entry("iter: drained items as one panics", |c| {
        let mut left = bombs(c);
        left.par_drain(2..5).for_each(|_| panic!("wanted"));
    }),
    entry("iter: drain never driven", |c| {
        let mut left = bombs(c);
        c.end(left.par_drain(2..5));
    }),
    entry("iter: items drained from a queue", |c| {
        let mut left: VecDeque<Bomb> = bombs(c).into();
        left.rotate_left(3);
        c.end(left.par_drain(1..4).collect::<Vec<_>>());
    }),
    entry("iter: items of collections", |c| {
        LinkedList::from_iter(bombs(c)).into_par_iter().for_each(drop);
        BTreeMap::from_iter(bombs(c).into_iter().enumerate()).into_par_iter().for_each(drop);
    }),
    entry("iter: clones of repeat_n", |c| {
        repeat_n(Cloned::new(c), 8).for_each(drop);
        c.end(repeat(Cloned::new(c)).take(8).collect::<Vec<_>>());
    }),
    entry("iter: clones of repeat", |c| c.end(repeat(Cloned::new(c)).find_any(|_| true))),
    entry("iter: function of split", |c| {
        let halve = |range: Range<u32>| {
            c.strike();
            let middle = range.start + range.len() as u32 / 2;
            let rest = (middle > range.start).then_some(middle..range.end);
            (range.start..rest.as_ref().map_or(range.end, |rest| rest.start), rest)
        };
        c.end(split(0..100, halve).map(|_| c.item()).collect::<Vec<_>>());
    }),
    entry("iter: children of walk_tree_prefix", |c| {
        let children = |(depth, _): &(u32, Item)| {
            c.strike();
            let next = depth + 1;
            (0..if next < 6 { 2 } else { 0 }).map(move |_| (next, c.item()))
        };
        walk_tree_prefix((0, c.item()), children).for_each(drop);
    }),
    entry("iter: nodes of walk_tree_postfix", |c| {
        let children = |(depth, _): &(u32, Bomb)| {
            let next = depth + 1;
            (0..if next < 5 { 2 } else { 0 }).map(move |_| (next, c.bomb()))
        };
        c.end(walk_tree_postfix((0, c.bomb()), children).find_any(|(depth, _)| *depth == 3));
    }),
    entry("iter: iterator of par_bridge", |c| {
        let items = (0..100).map(|n| {
            strike_at(c, n);
            c.item()
        });
        c.end(items.par_bridge().collect::<Vec<_>>());
    }),
    entry("iter: iterator of par_bridge dropped", |c| {
        let bomb = c.bomb();
        let items = (0..50).inspect(move |_| _ = &bomb);
        items.par_bridge().for_each(|_| drop(c.item()));
    }),
    entry("iter: producer of the user's", |c| {
        c.end(Own(0..100, c).map(|_| c.item()).collect::<Vec<_>>());
    }),
    entry("iter: rules for parts of slices", |c| {
        let mut numbers: Vec<usize> = (0..100).collect();
        let ends = |n: &usize| {
            strike_at(c, *n);
            n.is_multiple_of(9)
        };
        c.end(numbers.par_split(ends).map(|_| c.item()).collect::<Vec<_>>());
        numbers.par_split_inclusive_mut(ends).for_each(<[usize]>::reverse);
        c.end(numbers.par_chunk_by(|a, b| ends(a) == ends(b)).count());
    }),
    entry("iter: patterns of texts", |c| {
        let text = "one, two, three→ four".repeat(10);
        let comma = |found: char| {
            if found == '→' {
                c.strike();
            }
            found == ','
        };
        c.end(text.par_split(comma).map(|_| c.item()).collect::<Vec<_>>());
        c.end(text.par_split_terminator(comma).count() + text.par_matches(comma).count());
    }),
    entry("iter: drained characters", |c| {
        let mut text = "äöü".repeat(30);
        text.par_drain(2..100).for_each(|_| c.strike());
        assert_eq!(text.len(), 82);
    }),
];

pub(super) static ADAPTERS: &[Entry] = &[
    entry("iter: map, filter, inspect, update", |c| {
        let all = (0..100).into_par_iter().inspect(|n| strike_at(c, *n)).map(|n| (n, c.item()));
        let all = all.update(|(n, _)| strike_at(c, *n)).filter(|(n, _)| {
            strike_at(c, *n);
            n % 2 == 1
        });
        c.end(all.filter_map(|(n, item)| (n % 3 == 0).then_some(item)).collect::<Vec<_>>());
    }),
    entry("iter: clones of map_with", |c| {
        let both = |state: &mut Cloned, n: usize| (state.clone(), n);
        c.end((0..20).into_par_iter().map_with(Cloned::new(c), both).count());
    }),
    entry("iter: states of map_init", |c| {
        (0..100).into_par_iter().for_each_init(|| c.bomb(), |_, n| strike_at(c, n));
    }),
    entry("iter: fold", |c| {
        let push = |mut all: Vec<Item>, n: usize| {
            strike_at(c, n);
            all.push(c.item());
            all
        };
        c.end((0..100).into_par_iter().fold(Vec::new, push).collect::<Vec<_>>());
    }),
    entry("iter: states of fold", |c| {
        let all = (0..10).into_par_iter().fold(|| c.bomb(), |state, _| state);
        c.end(all.collect::<Vec<_>>());
    }),
    entry("iter: try_fold and try_reduce", |c| {
        let push = |mut all: Vec<Bomb>, n: usize| {
            all.push(c.bomb());
            if n == 70 { None } else { Some(all) }
        };
        let join = |mut a: Vec<Bomb>, mut b: Vec<Bomb>| {
            a.append(&mut b);
            Some(a)
        };
        c.end((0..100).into_par_iter().try_fold(Vec::new, push).try_reduce(Vec::new, join));
    }),
    entry("iter: chunks and fold_chunks", |c| {
        bombs(c).into_par_iter().chunks(3).for_each(drop);
        let chunk = |count: usize, n: usize| {
            strike_at(c, n);
            count + 1
        };
        c.end((0..100).into_par_iter().fold_chunks(7, || 0, chunk).collect::<Vec<_>>());
    }),
    entry("iter: flat_map and flat_map_iter", |c| {
        let three = |n: usize| {
            strike_at(c, n);
            [c.item(), c.item(), c.item()]
        };
        c.end((0..40).into_par_iter().flat_map(three).collect::<Vec<_>>());
        c.end((0..40).into_par_iter().flat_map_iter(three).collect::<Vec<_>>());
    }),
    entry("iter: items beyond take, skip, step_by, zip", |c| {
        bombs(c).into_par_iter().take(2).for_each(drop);
        bombs(c).into_par_iter().skip(2).step_by(2).for_each(drop);
        c.end(bombs(c).into_par_iter().zip(vec![c.bomb()]).collect::<Vec<_>>());
    }),
    entry("iter: chain and interleave", |c| {
        let both = bombs(c).into_par_iter().chain(bombs(c)).interleave(vec![c.bomb()]);
        c.end(both.map(|bomb| (bomb, c.item())).collect::<Vec<_>>());
    }),
    entry("iter: clones of intersperse", |c| {
        let all: Vec<_> = (0..10).map(|_| Cloned::new(c)).collect();
        c.end(all.into_par_iter().intersperse(Cloned::new(c)).collect::<Vec<_>>());
    }),
    entry("iter: take_any_while, skip_any_while, while_some", |c| {
        let small = |n: &usize| {
            strike_at(c, *n);
            *n < 70
        };
        let all = (0..100).into_par_iter().take_any_while(small).map(|_| Some(c.item()));
        c.end(all.while_some().collect::<Vec<_>>());
        c.end((0..100).into_par_iter().skip_any_while(small).take_any(5).count());
    }),
    entry("iter: panic_fuse", |c| {
        (0..100).into_par_iter().panic_fuse().map(|_| c.item()).for_each(|item| {
            c.strike();
            drop(item);
        });
    }),
    entry("iter: blocks", |c| {
        bombs(c).into_par_iter().by_uniform_blocks(2).for_each(drop);
        c.end(bombs(c).into_par_iter().by_exponential_blocks().collect::<Vec<_>>());
    }),
    entry("iter: scan", |c| {
        let all = (0..100).into_par_iter().map(|n| (n, c.item()));
        let last = |a: &(usize, Item), b: &(usize, Item)| {
            strike_at(c, b.0);
            (a.0.max(b.0), c.item())
        };
        c.end(all.inclusive_scan(last));
    }),
];

pub(super) static ENDS: &[Entry] = &[
    entry("iter: for_each and try_for_each", |c| {
        (0..100).into_par_iter().for_each(|n| strike_at(c, n));
        let stop = |n: usize| {
            let item = c.item();
            strike_at(c, n);
            if n == 80 { Err(item) } else { Ok(()) }
        };
        c.end((0..100).into_par_iter().try_for_each(stop).is_err());
    }),
    entry("iter: reduce", |c| {
        let join = |mut a: Vec<Item>, mut b: Vec<Item>| {
            if a.len() + b.len() == 2 {
                c.strike();
            }
            a.append(&mut b);
            a
        };
        let one = |_| vec![c.item()];
        c.end((0..40).into_par_iter().map(one).reduce(Vec::new, join));
        c.end((0..40).into_par_iter().map(one).reduce_with(join));
    }),
    entry("iter: Sum of the user's", |c| {
        struct Total;
        impl<'c> std::iter::Sum<&'c Arc<Cell>> for Total {
            fn sum<I: Iterator<Item = &'c Arc<Cell>>>(cells: I) -> Self {
                cells.take(3).for_each(|cell| cell.strike());
                Self
            }
        }
        impl std::iter::Sum for Total {
            fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
                totals.for_each(drop);
                Self
            }
        }
        c.end((0..10).into_par_iter().map(|_| c).sum::<Total>());
    }),
    entry("iter: Ord of min, max and cmp", |c| {
        c.end(keys(c).into_par_iter().max());
        c.end(keys(c).into_par_iter().min_by_key(|key| key.number % 10));
        _ = keys(c).into_par_iter().cmp(keys(c));
    }),
    entry("iter: searches", |c| {
        let last = |n: &usize| {
            strike_at(c, *n);
            *n == 99
        };
        c.end((0..100).into_par_iter().find_any(last));
        c.end((0..100).into_par_iter().find_first(last));
        c.end((0..100).into_par_iter().find_last(|n| !last(n)));
        c.end((0..100).into_par_iter().position_any(|n| last(&n)));
        c.end((0..100).into_par_iter().all(|n| !last(&n)));
    }),
    entry("iter: items that a search leaves", |c| {
        c.end(bombs(c).into_par_iter().enumerate().find_last(|(n, _)| *n == 1));
        c.end(bombs(c).into_par_iter().reduce_with(|a, b| {
            drop(b);
            a
        }));
    }),
    entry("iter: collect into places", |c| {
        let bomb = |n| {
            assert_ne!(n, 5, "wanted");
            c.bomb()
        };
        let mut target = bombs(c);
        (0..8).into_par_iter().map(|_| c.bomb()).collect_into_vec(&mut target);
        c.end(target);
        c.end((0..8).into_par_iter().map(bomb).collect::<Vec<_>>());
    }),
    entry("iter: collect an unknown number", |c| {
        let all = (0..100).into_par_iter().map(|_| c.bomb()).filter(|_| true);
        c.end(all.collect::<Vec<_>>());
    }),
    entry("iter: collect as one panics", |c| {
        let bomb = |n| {
            assert_ne!(n, 50, "wanted");
            c.bomb()
        };
        c.end((0..100).into_par_iter().map(bomb).filter(|_| true).collect::<Vec<_>>());
    }),
    entry("iter: Hash and Ord of collections", |c| {
        c.end(keys(c).into_par_iter().collect::<HashSet<_>>());
        c.end(keys(c).into_par_iter().collect::<BTreeSet<_>>());
        c.end(keys(c).into_par_iter().collect::<BinaryHeap<_>>());
    }),
    entry("iter: collect options and results", |c| {
        let some = |n: usize| (n != 60).then(|| c.bomb());
        c.end((0..100).into_par_iter().map(some).collect::<Option<Vec<_>>>());
        let fine = |n: usize| if n == 60 { Err(c.bomb()) } else { Ok(c.bomb()) };
        c.end((0..100).into_par_iter().map(fine).collect::<Result<Vec<_>, _>>().is_err());
    }),
    entry("iter: unzip and partition", |c| {
        let pair = |n: usize| (c.bomb(), (n, c.item()));
        c.end((0..20).into_par_iter().map(pair).unzip::<_, _, Vec<_>, Vec<_>>());
        let odd = |(n, _): &(usize, Bomb)| {
            strike_at(c, *n);
            n % 2 == 1
        };
        let all = bombs(c).into_par_iter().enumerate();
        c.end(all.partition::<Vec<_>, Vec<_>, _>(odd));
    }),
    entry("iter: sorts", |c| {
        let mut all = keys(c);
        all.par_sort();
        all.par_sort_unstable_by_key(|key| key.number % 10);
        all.par_sort_by_cached_key(|key| {
            strike_at(c, key.number);
            c.bomb().number()
        });
        c.end(all);
    }),
];

fn strike_at(cell: &Arc<Cell>, n: usize) {
    if n % 40 == 33 {
        cell.strike();
    }
}

fn bombs(cell: &Arc<Cell>) -> Vec<Bomb> {
    (0..8).map(|_| cell.bomb()).collect()
}

trait Number {
    fn number(self) -> usize;
}

impl Number for Bomb {
    fn number(self) -> usize {
        0
    }
}

/// Strikes when it is cloned.
struct Cloned(Arc<Cell>, #[expect(dead_code, reason = "counted")] Item);

impl Cloned {
    fn new(cell: &Arc<Cell>) -> Self {
        Self(Arc::clone(cell), cell.item())
    }
}

impl Clone for Cloned {
    fn clone(&self) -> Self {
        self.0.strike();
        Self::new(&self.0)
    }
}

/// Strikes when it is hashed or compared, now and then.
struct Key {
    number: usize,
    cell: Arc<Cell>,
    #[expect(dead_code, reason = "counted")]
    item: Item,
}

fn keys(cell: &Arc<Cell>) -> Vec<Key> {
    let key = |n: usize| Key { number: n * 37 % 101, cell: Arc::clone(cell), item: cell.item() };
    (0..100).map(key).collect()
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        strike_at(&self.cell, self.number);
        self.number == other.number
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        strike_at(&self.cell, self.number);
        self.number.cmp(&other.number)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        strike_at(&self.cell, self.number);
        self.number.hash(state);
    }
}

/// A source of the user's, which strikes when it is split and when it gives items.
struct Own<'c>(Range<usize>, &'c Arc<Cell>);

impl UnindexedProducer for Own<'_> {
    type Item = usize;

    fn split(self) -> (Self, Option<Self>) {
        let Self(range, cell) = self;
        cell.strike();
        if range.len() < 2 {
            return (Self(range, cell), None);
        }
        let middle = range.start + range.len() / 2;
        (Self(range.start..middle, cell), Some(Self(middle..range.end, cell)))
    }

    fn fold_with<F: Folder<usize>>(self, folder: F) -> F {
        folder.consume_iter(self.0.inspect(|n| strike_at(self.1, *n)))
    }
}

impl ParallelIterator for Own<'_> {
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        bridge_unindexed(self, consumer)
    }
}
