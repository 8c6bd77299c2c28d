//! Channels on a runtime's workers: tasks are suspended, and share a channel with threads and
//! futures.

use sateen::channel::{after, bounded, select, tick, unbounded};
use sateen::{Runtime, spawn, spawn_async, timeout_async};
use std::time::Duration;

fn on_workers<R: Send>(workers: usize, f: impl FnOnce() -> R + Send) -> R {
    Runtime::builder().workers(workers).build().unwrap().install(f)
}

/// Sender and receiver are tasks of one worker: each waits for the other, so both must be
/// suspended.
#[test]
fn two_tasks_of_one_worker() {
    for capacity in [0, 1, 16] {
        let sum = on_workers(1, || {
            let (tx, rx) = bounded(capacity);
            let sending = spawn(move || (0..1000).for_each(|i| tx.send(i).unwrap()));
            let sum = rx.iter().sum::<i32>();
            sending.join().unwrap();
            sum
        });
        assert_eq!(sum, 499_500);
    }
}

/// A thread, a task and a future send; a thread, a task and a future receive.
#[test]
fn threads_tasks_and_futures() {
    for capacity in [Some(0), Some(1), Some(16), None] {
        let sums = on_workers(2, || {
            let (tx, rx) = capacity.map_or_else(unbounded, bounded);
            let (in_thread, in_task, in_future) = (tx.clone(), tx.clone(), tx);
            let sending =
                std::thread::spawn(move || (0..300).for_each(|i| in_thread.send(i).unwrap()));
            let task = spawn(move || (0..300).for_each(|i| in_task.send(i).unwrap()));
            let future = spawn_async(async move {
                for i in 0..300 {
                    in_future.send_async(i).await.unwrap();
                }
            });
            let (from_thread, from_task, from_future) = (rx.clone(), rx.clone(), rx);
            let thread = std::thread::spawn(move || from_thread.iter().sum::<i32>());
            let in_a_task = spawn(move || from_task.iter().sum::<i32>());
            let in_a_future = spawn_async(async move {
                let mut sum = 0;
                while let Ok(i) = from_future.recv_async().await {
                    sum += i;
                }
                sum
            });
            sateen::block_on(future).unwrap();
            task.join().unwrap();
            let sums = in_a_task.join().unwrap() + sateen::block_on(in_a_future).unwrap();
            sateen::blocking(|| {
                sending.join().unwrap();
                sums + thread.join().unwrap()
            })
        });
        assert_eq!(sums, 3 * 44_850);
    }
}

/// Tasks of one worker select, against each other and against the clock.
#[test]
fn tasks_select() {
    for capacity in [0, 2] {
        let (evens, odds) = on_workers(1, || {
            let (to_evens, evens) = bounded(capacity);
            let (to_odds, odds) = bounded(capacity);
            let sending = spawn(move || {
                let (mut even, mut odd) = (0, 1);
                while even < 200 || odd < 200 {
                    select! {
                        send(to_evens, even) -> sent => { sent.unwrap(); even += 2 }
                        send(to_odds, odd) -> sent => { sent.unwrap(); odd += 2 }
                    }
                }
                (even, odd)
            });
            let (mut even, mut odd) = (0, 0);
            loop {
                select! {
                    recv(evens) -> item => match item { Ok(item) => even += item, Err(_) => break },
                    recv(odds) -> item => match item { Ok(item) => odd += item, Err(_) => break },
                    recv(after(Duration::from_secs(60))) -> _ => panic!("took too long"),
                }
            }
            even += evens.iter().sum::<i32>();
            odd += odds.iter().sum::<i32>();
            let (sent_even, sent_odd) = sending.join().unwrap();
            assert_eq!(even, (0..sent_even).step_by(2).sum::<i32>());
            assert_eq!(odd, (1..sent_odd).step_by(2).sum::<i32>());
            (even, odd)
        });
        assert!(evens > 0 && odds > 0);
    }
}

/// A task waits for the item of its selected operation while others of the worker go on.
#[test]
fn an_item_that_comes_late_does_not_stop_the_worker() {
    for capacity in [0, 1] {
        let item = on_workers(1, || {
            let (tx, rx) = bounded(capacity);
            let (to_late, late) = bounded(0);
            let selecting =
                spawn(move || select! { send(tx, late.recv().unwrap()) -> sent => sent.unwrap() });
            let receiving = spawn(move || rx.recv().unwrap());
            sateen::yield_now();
            to_late.send(7).unwrap();
            selecting.join().unwrap();
            receiving.join().unwrap()
        });
        assert_eq!(item, 7);
    }
}

/// A task that is cancelled while it waits loses no item that others could have.
#[test]
fn a_cancelled_task_leaves_its_item_to_others() {
    for capacity in [0, 1] {
        on_workers(1, || {
            let (tx, rx) = bounded(capacity);
            let waiting = {
                let rx = rx.clone();
                spawn(move || rx.recv())
            };
            sateen::yield_now();
            let next = spawn(move || rx.recv());
            sateen::yield_now();
            waiting.cancel();
            tx.send(1).unwrap();
            match waiting.join() {
                Ok(item) => {
                    assert_eq!(item, Ok(1));
                    tx.send(2).unwrap();
                    assert_eq!(next.join().unwrap(), Ok(2));
                }
                Err(_) => assert_eq!(next.join().unwrap(), Ok(1)),
            }
        });
    }
}

/// A task receives ticks, and time limits end its waits.
#[test]
fn time_in_tasks() {
    on_workers(1, || {
        let ticker = tick(Duration::from_millis(1));
        assert_eq!(ticker.iter().take(3).count(), 3);
        let (_tx, rx) = bounded::<u8>(0);
        assert!(rx.recv_timeout(Duration::from_millis(1)).is_err());
        assert!(spawn_async(async move { ticker.recv_async().await }).join().unwrap().is_ok());
    });
}

/// Sends of futures have a time limit, and are tried again. A task, a future with a limit and a
/// thread receive. Each item comes once, and those of each sender in order.
#[test]
fn sends_that_are_tried_again_come_once() {
    const COUNT: usize = 200;
    for (workers, capacity) in [(1, 0), (2, 0), (1, 1), (2, 1)] {
        let short = Duration::from_micros(20);
        let mut all = on_workers(workers, || {
            let (tx, rx) = bounded(capacity);
            let senders = [0, 1].map(|who| {
                let tx = tx.clone();
                spawn_async(async move {
                    for item in (who..2 * COUNT).step_by(2) {
                        while timeout_async(short, tx.send_async(item)).await.is_err() {}
                    }
                })
            });
            drop(tx);
            let (in_task, in_thread) = (rx.clone(), rx.clone());
            let task = spawn(move || in_task.iter().collect::<Vec<_>>());
            let thread = std::thread::spawn(move || in_thread.iter().collect::<Vec<_>>());
            let future = spawn_async(async move {
                let mut items = Vec::new();
                loop {
                    match timeout_async(short, rx.recv_async()).await {
                        Ok(Ok(item)) => items.push(item),
                        Ok(Err(_)) => break items,
                        Err(_) => {}
                    }
                }
            });
            for sender in senders {
                sender.join().unwrap();
            }
            let threads = sateen::blocking(|| thread.join().unwrap());
            let lists = [task.join().unwrap(), future.join().unwrap(), threads];
            for list in &lists {
                for who in 0..2 {
                    assert!(list.iter().filter(|item| *item % 2 == who).is_sorted());
                }
            }
            lists.concat()
        });
        all.sort_unstable();
        assert_eq!(all, (0..2 * COUNT).collect::<Vec<_>>(), "{workers} workers, {capacity}");
    }
}
