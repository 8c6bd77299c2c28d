//! The cases: what each works on, and its call.

use super::Work;
use crate::adapter::Iterators;
use crate::adapter::iterators::mixed;
use crate::experiment::{Group, Plan};
use sateen_base::XorShift;
use std::collections::HashMap;

/// The first `n` numbers of a sequence in no order.
fn random(n: usize) -> Vec<u64> {
    let mut rng = XorShift::new(7);
    (0..n).map(|_| rng.next_u64()).collect()
}

/// A million numbers, or a thousand.
fn million(smoke: bool) -> Vec<u64> {
    random(if smoke { 1_000 } else { 1_000_000 })
}

/// The same, each below `limit`.
fn below(limit: u64, numbers: Vec<u64>) -> Vec<u64> {
    numbers.into_iter().map(|n| n % limit).collect()
}

/// The same, and the image of the one behind so many per cent of them.
fn with_image_at(percent: usize, values: Vec<u64>) -> (Vec<u64>, u64) {
    let image = mixed(values[values.len() * percent / 100]);
    (values, image)
}

/// Pairs of a key and an index. Each key comes about ten times in a million.
fn pairs(n: usize) -> Vec<(u64, u64)> {
    (0..).zip(below(100_000, random(n))).map(|(index, key)| (key, index)).collect()
}

fn log(lines: usize) -> String {
    let line = |n: &u64| format!("{n:016x} GET /index.html {}\n", n % 100_000);
    random(lines).iter().map(line).collect()
}

/// Implements [`Work`] for each case, and `groups`.
macro_rules! cases {
    ($(
        $name:ident $case:literal $(($calls:expr))?: $what:literal,
        |$smoke:ident| -> $data:ty { $make:expr }
        |$shared:ident $(, $changed:ident: $copy:ty)?| -> $out:ty { $call:expr }
    )*) => {
        $(
            struct $name;

            impl Work for $name {
                const CASE: &'static str = $case;
                const WHAT: &'static str = $what;
                type Data = $data;
                type Changed = cases!(@changed $($copy)?);
                type Out = $out;

                fn data($smoke: bool) -> $data {
                    $make
                }

                fn prepare(_data: &$data) -> Self::Changed {
                    $(<$copy>::clone(_data))?
                }

                $(fn calls(smoke: bool) -> u32 {
                    if smoke { 2 } else { $calls }
                })?

                fn call<L: Iterators>($shared: &$data, _changed: Self::Changed) -> $out {
                    $(let mut $changed = _changed;)?
                    $call
                }
            }
        )*

        /// Returns the groups of all cases.
        pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
            let mut groups = Vec::new();
            $(groups.extend(super::groups::<$name>(plan, workers));)*
            groups
        }
    };
    (@changed) => { () };
    (@changed $copy:ty) => { $copy };
}

cases! {
    Sum "sum": "the sum of a million u64 in a slice",
    |smoke| -> Vec<u64> { below(1 << 32, million(smoke)) }
    |values| -> u64 { L::sum(values) }

    MapCollect "map-collect": "a million u64, multiplied, into a new vector",
    |smoke| -> Vec<u64> { million(smoke) }
    |values| -> Vec<u64> { L::map_collect(values) }

    FilterCollect "filter-collect": "half of a million u64, at random, into a vector",
    |smoke| -> Vec<u64> { million(smoke) }
    |values| -> Vec<u64> { L::filter_collect(values) }

    FlatMap "flat-map": "the sum of a million hashes from 31,000 parallel iterators",
    |smoke| -> Vec<u64> { below(64, random(if smoke { 100 } else { 31_000 })) }
    |values| -> u64 { L::flat_map(values) }

    FlatMapIter "flat-map-iter": "the sum of a million hashes from 31,000 plain iterators",
    |smoke| -> Vec<u64> { below(64, random(if smoke { 100 } else { 31_000 })) }
    |values| -> u64 { L::flat_map_iter(values) }

    FoldHash "fold-hash": "how often each of 1,000 keys occurs among a million u64, in hash maps",
    |smoke| -> Vec<u64> { below(1_000, million(smoke)) }
    |values| -> HashMap<u64, u64> { L::fold_hash(values) }

    FindEarly "find-any-early": "a search among a million u64; the first 1 % end it",
    |smoke| -> (Vec<u64>, u64) { with_image_at(1, million(smoke)) }
    |data| -> Option<u64> { L::find_any(&data.0, data.1) }

    FindLate "find-any-late": "a search among a million u64; 99 % are needed",
    |smoke| -> (Vec<u64>, u64) { with_image_at(99, million(smoke)) }
    |data| -> Option<u64> { L::find_any(&data.0, data.1) }

    Any "any": "whether any of a million u64 has a property that none has",
    |smoke| -> Vec<u64> { million(smoke) }
    |values| -> bool { L::any(values, 1) }

    Sort "sort": "a stable sort of a million u64",
    |smoke| -> Vec<u64> { million(smoke) }
    |_data, values: Vec<u64>| -> Vec<u64> {{ L::sort(&mut values); values }}

    SortUnstable "sort-unstable": "an unstable sort of a million u64",
    |smoke| -> Vec<u64> { million(smoke) }
    |_data, values: Vec<u64>| -> Vec<u64> {{ L::sort_unstable(&mut values); values }}

    SortByKey "sort-by-key": "a stable sort of a million pairs by their first parts",
    |smoke| -> Vec<(u64, u64)> { pairs(if smoke { 1_000 } else { 1_000_000 }) }
    |_data, pairs: Vec<(u64, u64)>| -> Vec<(u64, u64)> {{ L::sort_by_key(&mut pairs); pairs }}

    SortByCachedKey "sort-by-cached-key": "a sort of 200,000 pairs by texts, each made once",
    |smoke| -> Vec<(u64, u64)> { pairs(if smoke { 1_000 } else { 200_000 }) }
    |_data, pairs: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
        { L::sort_by_cached_key(&mut pairs); pairs }
    }

    Chunks "chunks": "the sums of chunks of 100 of a million u64, into a vector",
    |smoke| -> Vec<u64> { below(1 << 32, million(smoke)) }
    |values| -> Vec<u64> { L::chunks(values) }

    Zip "zip": "the sum of a * b + c of three slices of a million u64",
    |smoke| -> [Vec<u64>; 3] {
        [1 << 20, 1 << 10, 1 << 30].map(|limit| below(limit, million(smoke)))
    }
    |data| -> u64 {{ let [a, b, c] = data; L::zip(a, b, c) }}

    Lines "lines": "the sum of the last numbers in the 200,000 lines of a text",
    |smoke| -> String { log(if smoke { 500 } else { 200_000 }) }
    |text| -> u64 { L::lines(text) }

    Bridge "bridge": "20,000 items of about 1 µs from a plain iterator",
    |smoke| -> u64 { if smoke { 50 } else { 20_000 } }
    |n| -> u64 { L::bridge(*n, 800) }

    BridgeSmall "bridge-small": "100,000 items of about 20 ns from a plain iterator",
    |smoke| -> u64 { if smoke { 50 } else { 100_000 } }
    |n| -> u64 { L::bridge(*n, 16) }

    Tiny "tiny" (10_000): "a loop over 2,000 items of about 3 ns, started 10,000 times",
    |_smoke| -> Vec<u64> { random(2_000) }
    |values| -> u64 { L::tiny(values) }

    Scan "scan": "the sums of a million u64 and all before them; by hand without a scan",
    |smoke| -> Vec<u64> { below(1 << 32, million(smoke)) }
    |values| -> Vec<u64> { L::scan(values) }
}
