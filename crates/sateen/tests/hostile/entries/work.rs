//! Branches, scopes and loops.

use super::{Entry, entry};
use crate::cell::{Bomb, Cell};
use sateen::{
    fork, join, par_chunks_mut, par_fold, par_for, par_map, par_reduce, par_sort,
    par_sort_unstable, scope,
};
use std::cmp::Ordering;
use std::sync::Arc;

pub(super) static ALL: &[Entry] = &[
    entry("join: first closure", |c| _ = join(|| c.strike(), || ())),
    entry("join: second closure", |c| _ = join(|| (), || c.strike())),
    entry("join: results dropped", |c| c.end(join(|| c.bomb(), || c.bomb()))),
    entry("join: result dropped as the other panics", |c| {
        _ = join(|| c.bomb(), || panic!("wanted"));
    }),
    entry("join: first panics as the other's result is dropped", |c| {
        _ = join(|| panic!("wanted"), || c.bomb());
    }),
    entry("join: closure dropped", |c| {
        let (a, b) = (c.bomb(), c.bomb());
        join(move || drop(a), move || drop(b));
    }),
    entry("fork: closures", |c| _ = fork([0, 1, 2].map(|_| || c.strike()))),
    entry("fork: results dropped", |c| c.end(fork([0, 1, 2].map(|_| || c.bomb())))),
    entry("fork: results dropped as one panics", |c| {
        let one = |i: usize| -> Bomb { if i == 1 { panic!("wanted") } else { c.bomb() } };
        c.end(fork([0, 1, 2].map(|i| move || one(i))));
    }),
    entry("scope: body", |c| scope(|_| c.strike())),
    entry("scope: body after a spawn", |c| {
        scope(|s| {
            let item = c.item();
            s.spawn(move |_| drop(item));
            c.strike();
        });
    }),
    entry("scope: spawns", |c| scope(|s| (0..3).for_each(|_| s.spawn(|_| c.strike())))),
    entry("scope: spawns of spawns", |c| {
        scope(|s| s.spawn(|s| s.spawn(|s| s.spawn(|_| c.strike()))));
    }),
    entry("scope: captures dropped", |c| {
        scope(|s| {
            let bomb = c.bomb();
            s.spawn(move |_| drop(bomb));
        });
    }),
    entry("scope: result dropped as a spawn panics", |c| {
        scope(|s| {
            s.spawn(|_| panic!("wanted"));
            c.bomb()
        });
    }),
    entry("par_for: closure", |c| {
        par_for(0..100, |i| {
            if i % 40 == 7 {
                c.strike()
            }
        })
    }),
    entry("par_map: closure", |c| {
        _ = par_map(&[0; 100], |_| c.item());
        _ = par_map(&[0, 1, 2, 3], |_| c.strike());
    }),
    entry("par_map: results dropped", |c| c.end(par_map(&[0, 1, 2, 3], |_| c.bomb()))),
    entry("par_map: results dropped as one panics", |c| {
        let one = |i: &usize| -> Bomb { if *i == 2 { panic!("wanted") } else { c.bomb() } };
        _ = par_map(&[0, 1, 2, 3], one);
    }),
    entry("par_reduce: identity", |c| par_reduce(0..50, || c.strike(), |_| (), |(), ()| ())),
    entry("par_reduce: map", |c| {
        par_reduce(
            0..50,
            || (),
            |i| {
                if i == 33 {
                    c.strike()
                }
            },
            |(), ()| (),
        );
    }),
    entry("par_reduce: combine", |c| {
        par_reduce(0..50, || (), |_| (), |(), ()| c.strike());
    }),
    entry("par_reduce: values dropped", |c| {
        let first = |a: Option<Bomb>, b| {
            // Not `Option::or`, which leaks its result if the drop of the other panics.
            drop(b);
            a
        };
        c.end(par_reduce(0..3, || None, |_| Some(c.bomb()), first));
    }),
    entry("par_fold: identity", |c| par_fold(&[0; 50], || c.strike(), |(), _| (), |(), ()| ())),
    entry("par_fold: fold", |c| par_fold(&[0; 50], || (), |(), _| c.strike(), |(), ()| ())),
    entry("par_fold: combine", |c| {
        par_fold(&[0; 50], || (), |(), _| (), |(), ()| c.strike());
    }),
    entry("par_fold: values dropped", |c| {
        // An argument that panics when it is dropped at the closure's end leaks what is returned.
        let bombs = |before: Option<Bomb>, _: &[u8]| {
            drop(before);
            Some(c.bomb())
        };
        c.end(par_fold(
            &[0; 3],
            || None,
            bombs,
            |a: Option<Bomb>, b| {
                drop(b);
                a
            },
        ));
    }),
    entry("par_chunks_mut: closure", |c| {
        par_chunks_mut(&mut [0; 64], 8, |i, _| {
            if i == 5 {
                c.strike()
            }
        });
    }),
    entry("par_sort: Ord", |c| par_sort(&mut hostile_values(c))),
    entry("par_sort_unstable: Ord", |c| par_sort_unstable(&mut hostile_values(c))),
];

/// A value whose comparisons lie, and strike now and then.
struct Value(u32, Arc<Cell>, #[expect(dead_code, reason = "counted")] crate::cell::Item);

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.0 % 97 == 13 {
            self.1.strike();
            return Ordering::Less;
        }
        self.0.cmp(&other.0)
    }
}

fn hostile_values(cell: &Arc<Cell>) -> Vec<Value> {
    let number = |i: u32| i.wrapping_mul(2_654_435_761) >> 8;
    (0..5_000).map(|i| Value(number(i), Arc::clone(cell), cell.item())).collect()
}
