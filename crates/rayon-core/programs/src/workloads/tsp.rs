//! The shortest round trip, by branch and bound: tasks of a scope that all look at the best length.
//!
//! The search begins with a bound just above the shortest length. With none, most of the work would
//! depend on which trips are tried first, and the order of a scheduler would win by luck.

use crate::draw::numbers;
use crate::{Made, Workload, expect};
use rayon::Scope;
use std::sync::atomic::{AtomicU32, Ordering};

const MOST: usize = 16;
/// Trips that are longer than this go on without tasks.
const SPAWNING: u32 = 5;

/// The cities' distances from one another.
struct Map {
    cities: usize,
    far: [[u32; MOST]; MOST],
    /// The least distance from each city.
    least: [u32; MOST],
}

/// A trip that begins in city 0.
#[derive(Clone, Copy)]
struct Trip {
    at: usize,
    /// A bit for each city that is on it.
    been: u32,
    length: u32,
}

struct Search {
    map: Map,
    best: AtomicU32,
    wanted: u32,
}

/// The size is the number of cities.
pub(crate) fn make(cities: usize) -> Made {
    if !(3..=MOST).contains(&cities) {
        return Err(format!("3 to {MOST} cities"));
    }
    let mut draw = numbers().map(|n| (n >> 52) as f64);
    let places: Vec<[f64; 2]> =
        (0..cities).map(|_| std::array::from_fn(|_| draw.next().expect("endless"))).collect();
    let mut map = Map { cities, far: [[0; MOST]; MOST], least: [0; MOST] };
    for (i, a) in places.iter().enumerate() {
        for (k, b) in places.iter().enumerate() {
            map.far[i][k] = (a[0] - b[0]).hypot(a[1] - b[1]) as u32;
        }
        let others = (0..cities).filter(|k| *k != i).map(|k| map.far[i][k]);
        map.least[i] = others.min().unwrap_or(0);
    }
    let wanted = map.shortest();
    Ok(Box::new(Search { map, best: AtomicU32::new(wanted + 1), wanted }))
}

impl Map {
    /// The length of the shortest round trip, without branches (Held and Karp).
    fn shortest(&self) -> u32 {
        // For each set of cities and each last city of it, the shortest trip from city 0.
        let mut table = vec![[u32::MAX; MOST]; 1 << self.cities];
        table[1][0] = 0;
        for set in 1..table.len() {
            for last in (0..self.cities).filter(|c| set & 1 << c != 0) {
                let length = table[set][last];
                if length == u32::MAX {
                    continue;
                }
                for next in (0..self.cities).filter(|c| set & 1 << c == 0) {
                    let place = &mut table[set | 1 << next][next];
                    *place = (*place).min(length + self.far[last][next]);
                }
            }
        }
        let all = table.last().expect("a set of all");
        let round = |last: usize| all[last].saturating_add(self.far[last][0]);
        (1..self.cities).map(round).min().expect("three cities or more")
    }

    /// The cities that are not on `trip`, nearest first, and their number.
    fn left(&self, trip: Trip) -> ([usize; MOST], usize) {
        let (mut cities, mut count) = ([0; MOST], 0);
        for city in (0..self.cities).filter(|c| trip.been & 1 << c == 0) {
            cities[count] = city;
            count += 1;
        }
        cities[..count].sort_unstable_by_key(|city| self.far[trip.at][*city]);
        (cities, count)
    }

    /// Looks for a better end of `trip`. `scope` is there while trips are short.
    fn search<'s>(&'s self, scope: Option<&Scope<'s>>, trip: Trip, best: &'s AtomicU32) {
        let (cities, count) = self.left(trip);
        if count == 0 {
            best.fetch_min(trip.length + self.far[trip.at][0], Ordering::Relaxed);
            return;
        }
        let cities = &cities[..count];
        let rest = self.least[trip.at] + cities.iter().map(|c| self.least[*c]).sum::<u32>();
        if trip.length + rest >= best.load(Ordering::Relaxed) {
            return;
        }
        for &city in cities {
            let length = trip.length + self.far[trip.at][city];
            let next = Trip { at: city, been: trip.been | 1 << city, length };
            match scope.filter(|_| trip.been.count_ones() < SPAWNING) {
                Some(scope) => scope.spawn(move |scope| self.search(Some(scope), next, best)),
                None => self.search(None, next, best),
            }
        }
    }
}

impl Workload for Search {
    fn reset(&mut self) {
        *self.best.get_mut() = self.wanted + 1;
    }

    fn run(&mut self) {
        let begin = Trip { at: 0, been: 1, length: 0 };
        rayon::scope(|scope| self.map.search(Some(scope), begin, &self.best));
    }

    fn check(&self) -> Result<(), String> {
        expect("the shortest round trip", self.best.load(Ordering::Relaxed), self.wanted)
    }
}
