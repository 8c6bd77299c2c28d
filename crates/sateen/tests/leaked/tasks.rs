//! Tasks, sheds, and what flows through workers.

use crate::{Row, forget_pending, kept, round, row};
use sateen::deque::Worker;
use sateen::flow::{Graph, ManualClock, Rate, RealClock, SharedThrottle, WorkerQueue};
use sateen::shed::{Outcome, Shed, Template};
use sateen::{CancelToken, Runtime};
use std::mem::forget;
use std::time::Duration;

fn runtime() -> &'static Runtime {
    kept(Runtime::builder().workers(1).build().expect("a runtime"))
}

const LONG: Duration = Duration::from_secs(100_000);

pub(crate) static ALL: &[Row] = &[
    row("JoinHandle of a task", |leaks| {
        let runtime = runtime();
        (0..leaks).for_each(|_| forget(runtime.spawn(|| ())));
        _ = runtime.spawn(|| ()).join();
        round(1, || runtime.install(|| (0..300).for_each(|_| _ = sateen::spawn(|| ()).join())))
    }),
    row("JoinHandle of a future", |leaks| {
        let runtime = runtime();
        (0..leaks).for_each(|_| forget(runtime.spawn_async(async {})));
        _ = runtime.spawn_async(async {}).join();
        round(1, || {
            runtime.install(|| (0..300).for_each(|_| _ = sateen::spawn_async(async {}).join()));
        })
    }),
    row("JoinHandle of a future that never ends", |leaks| {
        let runtime = runtime();
        (0..leaks).for_each(|_| forget(runtime.spawn_async(std::future::pending::<()>())));
        _ = runtime.spawn_async(async {}).join();
        round(1, || {
            runtime.install(|| (0..300).for_each(|_| _ = sateen::spawn_async(async {}).join()));
        })
    }),
    row("sleep future, on a worker", |leaks| {
        let runtime = runtime();
        runtime.install(|| {
            (0..leaks).for_each(|_| forget_pending(sateen::sync::timer::sleep_async(2 * LONG)));
        });
        round(1, || {
            runtime.install(|| {
                (0..200).for_each(|_| drop(Box::pin(sateen::sync::timer::sleep_async(LONG))));
                (0..200).for_each(|_| _ = sateen::spawn(|| ()).join());
            });
        })
    }),
    row("CancelToken: child", |leaks| {
        let token = kept(CancelToken::new());
        (0..leaks).for_each(|_| forget(token.child()));
        round(300, || token.child())
    }),
    row("CancelToken: future", |leaks| {
        let token = kept(CancelToken::new());
        (0..leaks).for_each(|_| forget_pending(token.cancelled()));
        round(300, || token.child().is_cancelled())
    }),
    row("deque: stealer", |leaks| {
        let worker = Worker::new_lifo();
        (0..leaks).for_each(|_| forget(worker.stealer()));
        round(1_000, move || {
            worker.push(1);
            worker.pop()
        })
    }),
    row("shed: instance of a template", |leaks| {
        let shed =
            kept(Shed::builder().tasks(50_000).dependencies(50_000).build().expect("a shed"));
        for _ in 0..leaks {
            let mut template = Template::new();
            template.task(1);
            forget(template.install(shed).expect("room"));
        }
        round(300, || {
            let [task] = shed.create([1]).expect("room");
            shed.ready(&[task]).expect("its own");
            shed.execute_one(0, |_, _| Outcome::Complete).is_ok()
        })
    }),
    row("shed: task that is never freed", |leaks| {
        let shed = kept(Shed::builder().tasks(50_000).build().expect("a shed"));
        (0..leaks).for_each(|_| _ = shed.create([1]).expect("room"));
        round(300, || {
            let [task] = shed.create([1]).expect("room");
            shed.ready(&[task]).expect("its own");
            shed.execute_one(0, |_, _| Outcome::Complete).is_ok()
        })
    }),
    row("graph: result", |leaks| {
        let mut graph = Graph::new();
        let task = kept(graph.task(|| 1));
        graph.run(runtime()).expect("a run");
        let graph = kept(graph);
        (0..leaks).for_each(|_| forget(graph.result(task)));
        round(1_000, || graph.result(task).is_ok())
    }),
    row("SharedThrottle: hand", |leaks| {
        let clock = ManualClock::new();
        let throttle = kept(SharedThrottle::new(Rate::per_second(1e9).expect("a rate"), clock));
        (0..leaks).for_each(|_| forget(throttle.hand()));
        round(1_000, || throttle.try_take(1))
    }),
    row("SharedThrottle: wait future", |leaks| {
        let rate = Rate::per_second(Rate::LEAST).expect("a rate");
        let throttle = kept(SharedThrottle::new(rate, RealClock::new()));
        assert!(throttle.try_take(1));
        (0..leaks).for_each(|_| forget_pending(throttle.until_ready()));
        round(1_000, || throttle.try_take(1))
    }),
    row("worker queue: sender", |leaks| {
        let queue = WorkerQueue::builder().workers(1).start(|_, _: &mut u32| ()).expect("a queue");
        let queue = kept(queue);
        (0..leaks).for_each(|_| forget(queue.sender()));
        round(300, || _ = queue.sender())
    }),
    row("worker queue: send future", |leaks| {
        // Its only worker never comes back.
        let start = WorkerQueue::builder().workers(1).capacity(8);
        let never = |_: _, _: &mut u32| -> () {
            loop {
                std::thread::park();
            }
        };
        let queue = kept(start.start(never).expect("a queue"));
        queue.send(1).expect("open");
        while !queue.stats().workers[0].busy {
            std::thread::yield_now();
        }
        while queue.try_send(1).is_ok() {}
        (0..leaks).for_each(|_| forget_pending(queue.send_async(1)));
        round(1_000, || queue.try_send(1).is_ok())
    }),
];
