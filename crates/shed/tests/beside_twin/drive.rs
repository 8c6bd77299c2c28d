//! Applies the same operations to the shed and its twin, and compares.

use super::twin::{Batch, Twin};
use super::{EVENTS, Payload, Source};
use sateen_shed::{Layout, Outcome, Progress, Shed, TaskId};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload with which user code of the test panics.
struct Expected;

fn survive<R>(f: impl FnOnce() -> R) -> Option<R> {
    let expected = |panic: Box<dyn Any + Send>| {
        if !panic.is::<Expected>() {
            resume_unwind(panic);
        }
    };
    catch_unwind(AssertUnwindSafe(f)).map_err(expected).ok()
}

/// The most payloads in one batch.
const MOST: usize = 4;

pub(super) struct Driver<'b, L: Layout> {
    shed: Shed<Payload, L>,
    twin: RefCell<Twin>,
    source: Source<'b>,
    /// Names that the shed gave some time ago.
    old: RefCell<Vec<TaskId>>,
    /// A name from another shed.
    foreign: TaskId,
    /// The number of the next payload.
    next: Cell<u32>,
    operations: Cell<u64>,
}

impl<'b, L: Layout> Driver<'b, L> {
    pub(super) fn new(shed: Shed<Payload, L>, twin: Twin, source: Source<'b>) -> Self {
        let elsewhere = Shed::builder().tasks(1).build().expect("a small shed");
        let [foreign] = elsewhere.create([0]).expect("empty");
        Self {
            shed,
            twin: RefCell::new(twin),
            source,
            old: RefCell::default(),
            foreign,
            next: Cell::new(0),
            operations: Cell::new(0),
        }
    }

    pub(super) fn run(self) -> u64 {
        let fill = self.source.below(2) == 0;
        while !self.source.ended() {
            self.step(0);
            self.check_progress();
        }
        if fill {
            self.end();
        }
        let Self { shed, twin, operations, .. } = self;
        // The tasks that are left are dropped with the shed, in any order.
        drop(shed);
        let mut dropped: Vec<u32> = EVENTS.take().iter().map(super::drop_of).collect();
        dropped.sort_unstable();
        assert_eq!(dropped, twin.into_inner().drop_all());
        operations.get()
    }

    /// Cancels and executes all tasks. After that the shed must have as much room as the twin says.
    fn end(&self) {
        let names: Vec<TaskId> = self.twin.borrow().names().collect();
        for task in names {
            // This cancellation may also have cancelled others.
            assert_eq!(self.shed.cancel(task), self.twin.borrow_mut().cancel(task));
        }
        for channel in 0..self.shed.channels() {
            let ran = self.shed.execute_one(channel, |task, _| panic!("{task} was cancelled"));
            assert_eq!(ran, self.twin.borrow_mut().take_one(channel));
        }
        self.check();
        // Tasks that wait for each other in a cycle stay.
        let (slots, edges) = (self.twin.borrow().free_slots(), self.twin.borrow().free_edges());
        let mut ids = vec![TaskId::NONE; slots + 1];
        let mut payloads = (0..).map(Payload::new);
        assert_eq!(self.shed.create_some(&mut payloads, &mut ids), slots);
        assert_eq!(ids[slots], TaskId::NONE);
        self.twin.borrow_mut().create(&ids[..slots], 0);
        if let [predecessor, successor, ..] = ids[..slots] {
            let depend = || self.shed.depend(&[successor], &[predecessor]).is_ok();
            assert_eq!((0..).take_while(|_| depend()).count(), edges);
            let twin_depend =
                || self.twin.borrow_mut().depend(&[successor], &[predecessor]).is_ok();
            assert_eq!((0..).take_while(|_| twin_depend()).count(), edges);
        }
        self.check();
    }

    /// Checks that the shed and the twin look the same.
    fn check(&self) {
        let mut twin = self.twin.borrow_mut();
        EVENTS.with_borrow_mut(|events| {
            assert_eq!(*events, twin.events);
            events.clear();
            twin.events.clear();
        });
        let names: Vec<TaskId> = twin.names().collect();
        for task in names {
            assert_eq!(self.shed.state(task), twin.state(task), "{task}");
            assert_eq!(self.shed.channel(task), twin.channel(task), "{task}");
            assert_eq!(self.shed.tag(task), twin.tag(task), "{task}");
        }
    }

    /// Checks that the tasks of each channel ended the same way. While a batch is executed, its
    /// tasks are not counted yet.
    fn check_progress(&self) {
        for channel in 0..self.shed.channels() {
            let progress = self.shed.progress(channel).expect("a channel").expect("it is counted");
            let Progress { readied, completed, blocked, cancelled, .. } = progress;
            let twins = self.twin.borrow().progress(channel);
            assert_eq!([readied, completed, blocked, cancelled], twins, "channel {channel}");
        }
    }

    /// Draws any name, mostly of a task that exists.
    fn name(&self) -> TaskId {
        let byte = self.source.byte();
        let (twin, old) = (self.twin.borrow(), self.old.borrow());
        let mut live = twin.names();
        let which = usize::from(byte / 16);
        if byte % 16 > 1 && live.len() > 0 {
            let which = which % live.len();
            return live.nth(which).expect("less than its length");
        }
        let some = old.get(which % old.len().max(1)).copied().unwrap_or(self.foreign);
        let bits = some.to_bits();
        match byte {
            0 => TaskId::NONE,
            1 => self.foreign,
            0x10 => TaskId::from_bits(bits + u64::from(twin.capacity())),
            0x11 => TaskId::from_bits(bits.wrapping_add(1 << 32)),
            0x20 => TaskId::from_bits(bits.wrapping_sub(1 << 32)),
            0x21 => TaskId::from_bits(bits ^ (1 << 62)),
            _ => some,
        }
    }

    fn names(&self) -> Vec<TaskId> {
        const HOW_MANY: [usize; 16] = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4];
        (0..HOW_MANY[self.source.below(16)]).map(|_| self.name()).collect()
    }

    /// Draws a channel, sometimes one that does not exist.
    fn channel(&self) -> u16 {
        let byte = self.source.byte();
        let channels = self.twin.borrow().channels();
        if byte == 255 { channels } else { u16::from(byte) % channels }
    }

    fn tags(&self) {
        let tag = self.source.below(3) as u64;
        match self.source.below(4) {
            0 => assert_eq!(self.shed.count_tag(tag), self.twin.borrow().count_tag(tag)),
            1 => {
                let twins = self.twin.borrow_mut().cancel_tag(tag);
                assert_eq!(self.shed.cancel_tag(tag), twins);
            }
            _ => {
                let tasks = self.names();
                let twins = self.twin.borrow_mut().set_tag(&tasks, tag);
                assert_eq!(self.shed.set_tag(&tasks, tag), twins);
            }
        }
    }

    fn step(&self, depth: u32) {
        self.operations.set(self.operations.get() + 1);
        let twin = &self.twin;
        match self.source.below(32) {
            0..=6 => self.create(),
            7 => self.tags(),
            8 => {
                let (tasks, channel) = (self.names(), self.channel());
                let twins = twin.borrow_mut().set_channel(&tasks, channel);
                assert_eq!(self.shed.set_channel(&tasks, channel), twins);
            }
            9..=14 => {
                let tasks = self.names();
                let twins = twin.borrow_mut().ready(&tasks);
                assert_eq!(self.shed.ready(&tasks), twins);
            }
            15..=20 => {
                let (successors, predecessors) = (self.names(), self.names());
                let twins = twin.borrow_mut().depend(&successors, &predecessors);
                assert_eq!(self.shed.depend(&successors, &predecessors), twins);
            }
            21..=22 => {
                let tasks = self.names();
                let twins = twin.borrow_mut().free(&tasks);
                assert_eq!(self.shed.free(&tasks), twins);
            }
            23 => {
                let task = self.name();
                let twins = twin.borrow_mut().cancel(task);
                assert_eq!(self.shed.cancel(task), twins);
            }
            24 => {
                let task = self.name();
                assert_eq!(self.shed.state(task), twin.borrow_mut().state(task));
                assert_eq!(self.shed.channel(task), twin.borrow_mut().channel(task));
            }
            25..=28 => self.execute_one(depth),
            _ => self.execute_batch(depth),
        }
        self.check();
    }

    /// Payloads with the next numbers. In place of the payload after `panic_after`, it panics.
    fn payloads(&self, count: usize, panic_after: usize) -> impl Iterator<Item = Payload> {
        (0..count).map(move |i| {
            if i == panic_after {
                resume_unwind(Box::new(Expected));
            }
            Payload::new(self.next.replace(self.next.get() + 1))
        })
    }

    fn create(&self) {
        let (kind, asked, count) =
            (self.source.below(8), self.source.below(MOST + 1), self.source.below(MOST + 1));
        let (first, free) = (self.next.get(), self.twin.borrow().free_slots());
        let mut ids = [TaskId::NONE; MOST];
        let ids = &mut ids[..asked];
        // How many tasks there should be, and how many payloads were used up.
        let (created, used) = match kind {
            0..=2 => {
                let pair = self.shed.create([0, 1].map(|i| Payload::new(first + i)));
                self.next.set(first + 2);
                match pair {
                    Ok(pair) => {
                        self.created(&pair, first);
                        return;
                    }
                    Err(full) => {
                        assert!(free < 2);
                        assert_eq!((full.asked, full.capacity), (2, self.shed.capacity()));
                        assert_eq!(
                            full.payloads.each_ref().map(Payload::number),
                            [first, first + 1]
                        );
                        drop(full);
                        (0, 2)
                    }
                }
            }
            3..=4 => {
                let created = self.shed.create_all(&mut self.payloads(count, MOST), ids);
                let expected = if asked <= free { Some(asked.min(count)) } else { None };
                assert_eq!(created.as_ref().ok(), expected.as_ref());
                if let Err(full) = created {
                    assert_eq!((full.asked, full.capacity), (asked, self.shed.capacity()));
                }
                (expected.unwrap_or(0), 0)
            }
            5..=6 => {
                let created = self.shed.create_some(&mut self.payloads(count, MOST), ids);
                assert_eq!(created, asked.min(free).min(count));
                (created, 0)
            }
            _ => {
                let mut payloads = self.payloads(MOST, count);
                match survive(|| self.shed.create_some(&mut payloads, ids)) {
                    Some(created) => {
                        assert_eq!(created, asked.min(free));
                        (created, 0)
                    }
                    None => {
                        assert!(count < asked.min(free));
                        (0, count)
                    }
                }
            }
        };
        assert!(ids[created..].iter().all(|&id| id == TaskId::NONE), "{ids:?}");
        let mut twin = self.twin.borrow_mut();
        twin.events.extend((first..).take(used).map(super::Event::Dropped));
        drop(twin);
        assert_eq!(self.next.get(), first + (created + used) as u32);
        self.created(&ids[..created], first);
    }

    fn created(&self, ids: &[TaskId], first: u32) {
        self.twin.borrow_mut().create(ids, first);
        let mut old = self.old.borrow_mut();
        for &id in ids {
            if old.len() == 16 {
                old.remove(0);
            }
            old.push(id);
        }
    }

    /// What a task does: some operations, then one of the possible ends.
    fn inside(&self, task: TaskId, payload: &mut Payload, depth: u32) -> Option<Outcome> {
        self.twin.borrow().check_payload(task, payload);
        self.check();
        if depth < 3 {
            (0..self.source.below(8).saturating_sub(4)).for_each(|_| self.step(depth + 1));
        }
        self.twin.borrow().check_payload(task, payload);
        match self.source.below(32) {
            0..=24 => Some(Outcome::Complete),
            25..=29 => Some(Outcome::Blocked),
            _ => None,
        }
    }

    fn execute_one(&self, depth: u32) {
        let channel = self.channel();
        let twins = self.twin.borrow_mut().take_one(channel);
        let ran = survive(|| {
            self.shed.execute_one(channel, |task, payload| {
                assert_eq!(Ok(Some(task)), twins);
                let outcome = self.inside(task, payload, depth);
                let mut twin = self.twin.borrow_mut();
                match outcome {
                    Some(Outcome::Complete) => twin.complete(task, None),
                    Some(Outcome::Blocked) => twin.block(task),
                    None => twin.panic(task),
                }
                drop(twin);
                outcome.unwrap_or_else(|| resume_unwind(Box::new(Expected)))
            })
        });
        assert!(ran.is_none_or(|ran| ran == twins));
    }

    fn execute_batch(&self, depth: u32) {
        let (channel, most) = (self.channel(), self.source.below(6));
        let taken = self.twin.borrow_mut().take_batch(channel, most);
        let error = taken.as_ref().err().copied();
        let (mut batch, mut twins) = (taken.unwrap_or_else(|_| Batch::default()), 0);
        let ran = survive(|| {
            self.shed.execute_batch(channel, most as u32, |task, payload| {
                assert_eq!(Some(task), self.twin.borrow_mut().next(&mut batch));
                twins += 1;
                let outcome = self.inside(task, payload, depth);
                let mut twin = self.twin.borrow_mut();
                match outcome {
                    Some(Outcome::Complete) => twin.complete(task, Some(&mut batch)),
                    Some(Outcome::Blocked) => twin.block(task),
                    None => twin.panic(task),
                }
                drop(twin);
                outcome.unwrap_or_else(|| resume_unwind(Box::new(Expected)))
            })
        });
        let mut twin = self.twin.borrow_mut();
        if let Some(ran) = ran {
            assert_eq!(twin.next(&mut batch), None);
            assert_eq!(ran, error.map_or(Ok(twins), Err));
        }
        twin.leave(batch);
    }
}
