//! Graphs and worker queues.

use super::{Entry, entry};
use crate::cell::Cell;
use sateen::Runtime;
use sateen::flow::{Graph, WorkerQueue};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(super) static ALL: &[Entry] = &[
    entry("graph: task", |c| {
        let other = Runtime::builder().workers(2).build().expect("a runtime");
        let (mut graph, own) = (Graph::new(), Arc::clone(c));
        let first = graph.task(move || own.strike());
        let _second = graph.task(|| 1).after(&[first]);
        c.end(graph.run(&other));
    }),
    entry("graph: result dropped", |c| {
        let other = Runtime::builder().workers(2).build().expect("a runtime");
        let (mut graph, own) = (Graph::new(), Arc::clone(c));
        let task = graph.task(move || std::sync::Mutex::new(own.bomb()));
        for _ in 0..2 {
            _ = graph.run(&other);
        }
        c.end(graph.take(&task));
        drop(graph);
    }),
    entry("worker queue: handler", |c| {
        let own = Arc::clone(c);
        let queue = WorkerQueue::builder().workers(2).start(move |_, _: &mut _| own.strike());
        let queue = queue.expect("a queue");
        (0..4).for_each(|_| _ = queue.send(c.item()));
        queue.close();
    }),
    entry("worker queue: items dropped", |c| {
        let queue = WorkerQueue::builder().workers(2).start(|_, _: &mut _| ());
        let queue = queue.expect("a queue");
        (0..4).for_each(|_| _ = queue.send(c.bomb()));
        queue.close();
    }),
    entry("worker queue: on_panic", |c| {
        let own = Arc::clone(c);
        let queue = WorkerQueue::builder()
            .workers(1)
            .on_panic(move |_, _| own.strike())
            .start(|_, _: &mut _| -> () { panic!("wanted") });
        let queue = queue.expect("a queue");
        (0..4).for_each(|_| _ = queue.send(c.item()));
        queue.close();
    }),
    entry("worker queue: dead letters", |c| {
        let own = Arc::clone(c);
        let queue = WorkerQueue::builder()
            .workers(1)
            .dead_letter(move |_| own.strike())
            .start(|_, _: &mut _| -> () { panic!("wanted") });
        let queue = queue.expect("a queue");
        (0..4).for_each(|_| _ = queue.send(c.item()));
        queue.close();
    }),
    entry("worker queue: description", |c| {
        let own = Arc::clone(c);
        let queue = WorkerQueue::builder()
            .workers(1)
            .describe(move |_| {
                own.strike();
                String::new()
            })
            .start(|_, _: &mut _| ());
        let queue = queue.expect("a queue");
        (0..4).for_each(|_| _ = queue.send(c.item()));
        queue.close();
    }),
    entry("worker queue: hash of a key", |c| {
        struct Key<'a>(&'a Arc<Cell>);
        impl Hash for Key<'_> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.strike();
                state.write_u8(1);
            }
        }
        let queue = WorkerQueue::builder().workers(1).keyed(true).start(|_, _: &mut _| ());
        let queue = queue.expect("a queue");
        (0..4).for_each(|_| _ = queue.sender().send_keyed(&Key(c), c.item()));
        queue.close();
    }),
    entry("worker queue: handler as a task", |c| {
        let other = Runtime::builder().workers(1).build().expect("a runtime");
        let own = Arc::clone(c);
        let queue = WorkerQueue::builder().workers(2).on(&other);
        let queue = queue.start(move |_, _: &mut _| own.strike()).expect("a queue");
        (0..4).for_each(|_| _ = queue.send(c.item()));
        queue.close();
    }),
];
