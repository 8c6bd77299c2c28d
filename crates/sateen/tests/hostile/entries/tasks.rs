//! Tasks, futures, runtimes.

use super::{Entry, entry, except};
use crate::behaviour::Behaviour::{Reenter, Wait};
use sateen::{
    CancelToken, Runtime, Spawn, blocking, fiber_local, no_suspend, sleep, spawn, spawn_async,
    timeout, yield_now,
};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

pub(super) static ALL: &[Entry] = &[
    entry("spawn: closure", |c| {
        let own = Arc::clone(c);
        c.end(spawn(move || own.strike()).join());
    }),
    entry("spawn: captures dropped", |c| {
        let bomb = c.bomb();
        c.end(spawn(move || drop(bomb)).join());
    }),
    entry("spawn: result dropped by the joiner", |c| {
        let own = Arc::clone(c);
        c.end(spawn(move || own.bomb()).join());
    }),
    entry("spawn: result of a handle that is dropped", |c| {
        let own = Arc::clone(c);
        c.end(spawn(move || own.bomb()));
        yield_now();
    }),
    entry("spawn: captures of a cancelled task", |c| {
        let bomb = c.bomb();
        let task = spawn(move || {
            let _bomb = bomb;
            sleep(Duration::from_secs(600));
        });
        task.cancel();
        c.end(task.join());
    }),
    entry("spawn: unwinding of a cancelled task", |c| {
        let (own, begun) = (Arc::clone(c), Arc::new(AtomicBool::new(false)));
        let tell = Arc::clone(&begun);
        let task = spawn(move || {
            let _bomb = own.bomb();
            tell.store(true, SeqCst);
            sleep(Duration::from_secs(600));
        });
        while !begun.load(SeqCst) && !task.is_finished() {
            yield_now();
        }
        task.cancel();
        _ = task.join();
    }),
    entry("spawn: refused by a runtime that has ended", |c| {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        let spawner = runtime.spawner();
        drop(runtime);
        let bomb = c.bomb();
        c.end(spawner.spawn(move || drop(bomb)).join());
    }),
    entry("spawn_async: poll", |c| {
        let own = Arc::clone(c);
        c.end(spawn_async(async move { own.strike() }).join());
    }),
    entry("spawn_async: future dropped", |c| {
        let bomb = c.bomb();
        let task = spawn_async(async move {
            let _bomb = bomb;
            std::future::pending::<()>().await;
        });
        task.cancel();
        c.end(task.join());
    }),
    entry("spawn_async: result dropped", |c| {
        let own = Arc::clone(c);
        c.end(spawn_async(async move { own.bomb() }).join());
    }),
    entry("timeout: closure", |c| _ = timeout(Duration::from_secs(60), || c.strike())),
    except(
        Reenter,
        "a wait in an unwinding is not interrupted, as documented",
        entry("timeout: unwinding when the time is up", |c| {
            let bomb = c.bomb();
            _ = timeout(Duration::from_millis(1), move || {
                let _bomb = bomb;
                sleep(Duration::from_secs(600));
            });
        }),
    ),
    entry("no_suspend: closure", |c| no_suspend(|| c.strike())),
    entry("blocking: closure", |c| blocking(|| c.strike())),
    entry("blocking: result dropped", |c| c.end(blocking(|| c.bomb()))),
    entry("install: closure", |c| {
        let other = Runtime::builder().workers(1).build().expect("a runtime");
        other.install(|| c.strike());
    }),
    entry("install: result dropped", |c| {
        let other = Runtime::builder().workers(1).build().expect("a runtime");
        c.end(other.install(|| c.bomb()));
    }),
    entry("broadcast: closure", |c| {
        let other = Runtime::builder().workers(2).build().expect("a runtime");
        c.end(other.broadcast(|_| c.strike()));
    }),
    entry("broadcast: results dropped", |c| {
        let other = Runtime::builder().workers(2).build().expect("a runtime");
        c.end(other.broadcast(|_| c.bomb()));
    }),
    entry("builder: on_start and on_exit", |c| {
        let (a, b) = (Arc::clone(c), Arc::clone(c));
        let other = Runtime::builder().workers(2);
        let other = other.on_start(move |_| a.strike()).on_exit(move |_| b.strike()).build();
        drop(other);
    }),
    entry("builder: thread_name", |c| {
        let own = Arc::clone(c);
        let builder = Runtime::builder().workers(2).thread_name(move |i| {
            own.strike();
            format!("hostile {i}")
        });
        drop(builder.build());
    }),
    entry("builder: hooks dropped", |c| {
        let bomb = c.bomb();
        let hook = move |_| _ = &bomb;
        drop(Runtime::builder().workers(1).on_start(hook).build());
    }),
    entry("runtime: dropped inside its own task", |c| {
        let other = Runtime::builder().workers(1).build().expect("a runtime");
        let spawner = other.spawner();
        let own = Arc::clone(c);
        c.end(spawner.spawn(move || {
            own.strike();
            drop(other);
        }));
    }),
    entry("current_thread: task", |c| {
        let Ok(runtime) = Runtime::current_thread() else { return };
        let own = Arc::clone(c);
        let task = runtime.spawn_local(move || own.strike());
        _ = no_suspend(|| runtime.run_until(task));
    }),
    except(
        Wait,
        "what waits again when a current-thread runtime is dropped is leaked, as documented",
        entry("current_thread: dropped with a task that waits", |c| {
            let Ok(runtime) = Runtime::current_thread() else { return };
            let bomb = c.bomb();
            let task = runtime.spawn_local(move || {
                let _bomb = bomb;
                sleep(Duration::from_secs(600));
            });
            no_suspend(|| runtime.run_until_idle());
            task.cancel();
            no_suspend(|| drop(runtime));
        }),
    ),
    entry("token: task cancelled by it", |c| {
        let (token, bomb) = (CancelToken::new(), c.bomb());
        let task = Spawn::new().token(&token).spawn(move || {
            let _bomb = bomb;
            sleep(Duration::from_secs(600));
        });
        token.cancel();
        c.end(task.join());
    }),
    entry("fiber_local: initialiser and destructor", |c| {
        let own = Arc::clone(c);
        let task = spawn(move || LOCAL.with(|local| local.borrow_mut().push(own.bomb())));
        c.end(task.join());
    }),
];

fiber_local! {
    static LOCAL: RefCell<Vec<crate::cell::Bomb>> = RefCell::new(Vec::new());
}
