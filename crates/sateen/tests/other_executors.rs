//! Tasks await futures of another executor. Such futures need its context where they are polled.

use sateen::{Runtime, block_on};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

const SHORT: Duration = Duration::from_millis(5);

fn tokio_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Sleeps by tokio's clock and spawns on tokio's workers: both panic outside of its context.
async fn uses_tokio(value: u32) -> u32 {
    tokio::time::sleep(SHORT).await;
    let (sender, receiver) = oneshot::channel();
    let task = tokio::spawn(async move {
        tokio::time::sleep(SHORT).await;
        sender.send(value).unwrap();
    });
    let value = receiver.await.unwrap();
    task.await.unwrap();
    value
}

/// `future`, polled in the context of `handle`. It is entered for each poll, so that the thread has
/// no trace of it while the task waits.
async fn within<F: Future>(handle: &Handle, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _entered = handle.enter();
        future.as_mut().poll(cx)
    })
    .await
}

#[test]
fn entered_for_each_poll() {
    let tokio = tokio_runtime();
    for workers in [1, 2, 3, 8] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                let handle = tokio.handle().clone();
                if i % 2 == 0 {
                    runtime.spawn(move || block_on(within(&handle, uses_tokio(i))))
                } else {
                    runtime.spawn_async(async move { within(&handle, uses_tokio(i)).await })
                }
            })
            .collect();
        for (i, task) in (0..).zip(tasks) {
            assert_eq!(task.join().unwrap(), i);
        }
    }
}

#[test]
fn entered_around_a_wait() {
    let tokio = tokio_runtime();
    // The guard nests in a thread-local. So one task of a worker may hold it across a wait, or all
    // may if each waiting task keeps a thread.
    let one = Runtime::builder().workers(2).build().unwrap();
    let handle = tokio.handle().clone();
    let alone = one.spawn(move || {
        let _entered = handle.enter();
        block_on(uses_tokio(7))
    });
    assert_eq!(alone.join().unwrap(), 7);
    let strict = Runtime::builder().workers(2).strict(true).build().unwrap();
    let tasks: Vec<_> = (0..20)
        .map(|i| {
            let handle = tokio.handle().clone();
            strict.spawn(move || {
                let _entered = handle.enter();
                block_on(uses_tokio(i))
            })
        })
        .collect();
    for (i, task) in (0..).zip(tasks) {
        assert_eq!(task.join().unwrap(), i);
    }
}

#[test]
fn our_futures_on_their_executor() {
    let tokio = tokio_runtime();
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let sum = tokio.block_on(async {
        let task = runtime.spawn(|| 1);
        let future = runtime.spawn_async(async {
            sateen::sleep_async(SHORT).await;
            2
        });
        sateen::sleep_async(SHORT).await;
        task.await.unwrap() + future.await.unwrap()
    });
    assert_eq!(sum, 3);
}
