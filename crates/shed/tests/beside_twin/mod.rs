//! Bytes that say what is done to a shed and to its sequential twin. The test passes random bytes,
//! the fuzzer its own.

mod drive;
mod twin;

use drive::Driver;
use sateen_shed::{Central, Layout, Packed, Padded, Sharded, Shed, TaskId};
use std::cell::{Cell, RefCell};

/// What a user of the shed notices in addition to answers, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Ready(u16, u32),
    Cancelled(TaskId, u32),
    Dropped(u32),
}

/// The number of the dropped payload. At its end a shed reports nothing else.
fn drop_of(event: &Event) -> u32 {
    match event {
        Event::Dropped(number) => *number,
        other => panic!("{other:?} at the end"),
    }
}

thread_local! {
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
}

fn happened(event: Event) {
    EVENTS.with_borrow_mut(|events| events.push(event));
}

/// Has a number, and owns memory, so that a memory checker notices a payload dropped twice or
/// never.
struct Payload(Box<u32>);

impl Payload {
    fn new(number: u32) -> Self {
        Self(Box::new(number))
    }

    fn number(&self) -> u32 {
        *self.0
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        happened(Event::Dropped(self.number()));
    }
}

/// The choices to make, one byte each.
struct Source<'b>(Cell<&'b [u8]>);

impl Source<'_> {
    /// The next byte, or 0 after the last.
    fn byte(&self) -> u8 {
        let Some((&first, rest)) = self.0.get().split_first() else { return 0 };
        self.0.set(rest);
        first
    }

    /// A number below `n`, which is at most 256.
    fn below(&self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    fn ended(&self) -> bool {
        self.0.get().is_empty()
    }
}

/// Does what `bytes` say to a shed and to its twin. Panics where they differ. Returns the number of
/// operations.
pub(crate) fn run(bytes: &[u8]) -> u64 {
    let source = Source(Cell::new(bytes));
    match source.below(5) {
        0 => run_on::<Packed>(source),
        1 => run_on::<Padded>(source),
        2 => run_on::<Central>(source),
        3 => run_on::<Sharded<1>>(source),
        _ => run_on::<Sharded<4>>(source),
    }
}

fn run_on<L: Layout>(source: Source<'_>) -> u64 {
    let tasks = 1 + source.below(12) as u32;
    let edges = source.below(20) as u32;
    let channels = 1 + source.below(3) as u16;
    // The test starts a little before the words of a slot wrap around, and before the generations
    // do.
    let generation = ((source.below(5) as u32) << 30).wrapping_sub(source.below(8) as u32);
    let fifo: Vec<bool> = (0..channels).map(|_| source.below(2) == 0).collect();
    let mut builder = Shed::builder();
    for channel in (0..channels).filter(|&channel| fifo[usize::from(channel)]) {
        builder = builder.fifo(channel);
    }
    let shed = builder
        .tasks(tasks.into())
        .dependencies(edges.into())
        .channels(channels.into())
        .first_generation(generation)
        .progress(true)
        .on_ready(|channel, count| happened(Event::Ready(channel, count)))
        .on_cancel(|task, payload: &mut Payload| {
            happened(Event::Cancelled(task, payload.number()));
        })
        .layout::<L>()
        .build()
        .expect("a small shed");
    EVENTS.take();
    Driver::new(shed, twin::Twin::new(tasks, edges, &fifo), source).run()
}
