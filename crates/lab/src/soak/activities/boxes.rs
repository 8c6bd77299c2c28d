//! Tasks carry items between boxes, wait in every way, panic, and are cancelled meanwhile.

use super::World;
use crate::error::{Error, expect};
use crate::soak::ledger::Item;
use crate::soak::world::unwind;
use sateen::sync::{Event, Mutex, park::uninterrupted};
use sateen::{
    CancelToken, JoinHandle, Priority, Spawn, fork, join, scope, sleep, spawn, yield_now,
};
use sateen_base::XorShift;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const BOXES: usize = 16;
const ITEMS: u64 = 500;
const TASKS: usize = 50;

/// What the tasks of a round share.
#[derive(Default)]
struct Boxes {
    boxes: [Mutex<Vec<Item>>; BOXES],
    /// Set and reset again and again from outside.
    bell: Event,
}

/// An item on its way. However the task ends, the item returns to a box.
struct Carried<'a> {
    boxes: &'a Boxes,
    item: Option<Item>,
    to: usize,
}

impl Drop for Carried<'_> {
    fn drop(&mut self) {
        // This may wait in the middle of an unwinding, too.
        uninterrupted(|| self.boxes.boxes[self.to].lock().extend(self.item.take()));
    }
}

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    let boxes = Arc::new(Boxes::default());
    for n in 0..ITEMS {
        boxes.boxes[n as usize % BOXES].lock().push(world.item(n));
    }
    while !world.is_over() {
        round(world, &boxes, &mut random)?;
    }
    // A task whose parent was cancelled goes on, with what it carries. The watch notices a task
    // that never ends.
    boxes.bell.set();
    while Arc::strong_count(&boxes) > 1 {
        thread::sleep(Duration::from_millis(1));
    }
    let mut values: Vec<u64> = boxes
        .boxes
        .iter()
        .flat_map(|b| b.lock().iter().map(|i| *i.value).collect::<Vec<_>>())
        .collect();
    values.sort_unstable();
    expect("items in boxes", values.len() as u64, ITEMS)?;
    expect("the same items as before", values.into_iter().eq(0..ITEMS), true)
}

fn round(world: &World<'_>, boxes: &Arc<Boxes>, random: &mut XorShift) -> Result<(), Error> {
    let token = CancelToken::new();
    let tasks: Vec<JoinHandle<()>> = (0..TASKS)
        .map(|i| {
            let settings = match i % 10 {
                0 => settings(random).on_worker(i % world.runtime.workers()),
                1 | 2 => settings(random).token(&token),
                _ => settings(random),
            };
            let (boxes, own) = (Arc::clone(boxes), random.next_u64());
            world.runtime.spawn_with(settings, move || boxes.work(2, XorShift::new(own)))
        })
        .collect();
    for task in &tasks {
        match random.below(5) {
            0 => task.cancel(),
            1 => {
                boxes.bell.set();
                boxes.bell.reset();
            }
            _ => {}
        }
    }
    token.cancel();
    boxes.bell.set();
    for task in tasks {
        world.ended(task.join())?;
    }
    boxes.bell.reset();
    world.ledger.did(TASKS as u64);
    Ok(())
}

fn settings(random: &mut XorShift) -> Spawn {
    let spawn = Spawn::new();
    match random.below(6) {
        0 => spawn.name("soaked"),
        1 => spawn.priority(Priority::High),
        2 => spawn.priority(Priority::Low),
        3 => spawn.stack_size(512 * 1024),
        4 => spawn.dispatch(),
        _ => spawn,
    }
}

impl Boxes {
    fn carry(&self, random: &mut XorShift) -> Option<Carried<'_>> {
        let item = self.boxes[random.below(BOXES)].lock().pop()?;
        Some(Carried { boxes: self, item: Some(item), to: random.below(BOXES) })
    }

    /// Waits in one of the ways.
    fn dawdle(&self, random: &mut XorShift) {
        match random.below(8) {
            0 => self.bell.wait(),
            1 => sleep(Duration::from_micros(random.below(300) as u64)),
            2 => {
                let _guard = self.boxes[random.below(BOXES)].lock();
                yield_now();
            }
            3 if random.below(20) == 0 => unwind(),
            _ => yield_now(),
        }
    }

    fn work(self: &Arc<Self>, depth: u32, mut random: XorShift) {
        let carried = self.carry(&mut random);
        self.dawdle(&mut random);
        if depth > 0 {
            self.nest(depth - 1, &mut random);
        }
        let second = self.carry(&mut random);
        self.dawdle(&mut random);
        drop((carried, second));
    }

    /// Does several things in one of the ways.
    fn nest(self: &Arc<Self>, depth: u32, random: &mut XorShift) {
        let [mut a, mut b, c] = [(); 3].map(|()| XorShift::new(random.next_u64()));
        let branch = |random: &mut XorShift| {
            let carried = self.carry(random);
            self.dawdle(random);
            drop(carried);
        };
        match random.below(5) {
            0 => _ = join(|| branch(&mut a), || branch(&mut b)),
            1 => _ = fork([a, b, c].map(|mut random| move || branch(&mut random))),
            2 => scope(|s| {
                for mut random in [a, b, c] {
                    s.spawn(move |_| branch(&mut random));
                }
            }),
            3 => {
                let boxes = Arc::clone(self);
                let task = spawn(move || boxes.work(depth, a));
                branch(&mut b);
                if b.below(3) == 0 {
                    task.cancel();
                }
                // The panic is one on purpose, or fails another check.
                _ = task.join();
            }
            _ => {
                let boxes = Arc::clone(self);
                _ = settings(&mut b).spawn(move || boxes.work(depth, a)).join();
            }
        }
    }
}
