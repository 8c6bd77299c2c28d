//! Spans of `tracing` follow tasks: events are in the spans of the task that they come from.

#![cfg(feature = "tracing")]

use sateen_runtime::{
    Builder, Runtime, Spawn, current_task, fork, join, sleep, spawn, spawn_async, yield_now,
};
use sateen_sync::Mutex as TaskMutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber, info, info_span};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// A task's number and name, from its span.
#[derive(Clone, Debug, Default, PartialEq)]
struct Fields {
    id: u64,
    name: String,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "id" {
            self.id = value;
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "name" {
            self.name = value.to_owned();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// What an event was seen in: names of spans and their fields, outermost first.
type Scope = Vec<(&'static str, Fields)>;

static SEEN: Mutex<Vec<(u64, Scope)>> = Mutex::new(Vec::new());
static OPEN: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
/// The layer does what it should not.
static HOSTILE: AtomicBool = AtomicBool::new(false);
/// Tests use one subscriber, one after another.
static ONE: Mutex<()> = Mutex::new(());

struct Recorder;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        OPEN.fetch_add(1, SeqCst);
        ctx.span(id).expect("a span").extensions_mut().insert(fields);
    }

    fn on_close(&self, _: Id, _: Context<'_, S>) {
        OPEN.fetch_sub(1, SeqCst);
    }

    fn on_enter(&self, _: &Id, _: Context<'_, S>) {
        misbehave();
    }

    fn on_exit(&self, _: &Id, _: Context<'_, S>) {
        misbehave();
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        struct Number(u64);
        impl Visit for Number {
            fn record_u64(&mut self, _: &Field, value: u64) {
                self.0 = value;
            }
            fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
        }
        let mut number = Number(0);
        event.record(&mut number);
        let spans = ctx.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let scope = spans.map(|span| {
            (span.name(), span.extensions().get::<Fields>().cloned().unwrap_or_default())
        });
        SEEN.lock().unwrap_or_else(PoisonError::into_inner).push((number.0, scope.collect()));
    }
}

/// Tasks hold it while they wait for nothing.
static LOCK: TaskMutex<()> = TaskMutex::new(());

fn misbehave() {
    if !HOSTILE.load(SeqCst) {
        return;
    }
    match CALLS.fetch_add(1, SeqCst) % 9 {
        0 => sleep(Duration::from_micros(10)),
        1 => yield_now(),
        2 => drop(join(|| 1, || 2)),
        3 => assert!(current_task().is_none(), "a task in a subscriber"),
        4 => assert!(spawn(|| ()).join().is_err(), "a spawn in a subscriber"),
        // The crate sees to it that these come here no second time.
        5 => info_span!("within a subscriber").in_scope(|| info!("and an event")),
        6 => drop(LOCK.lock()),
        7 => std::thread::yield_now(),
        _ => panic!("a subscriber's own"),
    }
}

fn with_recorder(workers: usize, f: impl FnOnce(&Runtime)) -> Vec<(u64, Scope)> {
    with_builder(Runtime::builder().workers(workers), f)
}

fn with_builder(builder: Builder, f: impl FnOnce(&Runtime)) -> Vec<(u64, Scope)> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(Recorder);
        tracing::subscriber::set_global_default(subscriber).expect("the first");
    });
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let runtime = builder.build().expect("a runtime");
    f(&runtime);
    drop(runtime);
    // Here and not in a test: the next one opens spans as soon as it has the lock.
    assert_eq!(OPEN.load(SeqCst), 0, "spans that are not closed");
    std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn me() -> u64 {
    current_task().expect("a task").id.get()
}

/// Each event carries the number of its task: that task's span is the outermost one, and the only
/// one of a task.
fn check(seen: &[(u64, Scope)], inner: &[&str]) {
    for (task, scope) in seen {
        assert_eq!(scope[0], ("task", Fields { id: *task, ..scope[0].1.clone() }), "{scope:?}");
        let names: Vec<&str> = scope[1..].iter().map(|(name, _)| *name).collect();
        assert_eq!(names, inner, "{scope:?}");
    }
}

#[test]
fn events_are_in_the_span_of_their_task_across_waits() {
    for workers in [1, 2, 4] {
        let lock = Arc::new(TaskMutex::new(0));
        let seen = with_recorder(workers, |rt| {
            let task = |i: u64| {
                let lock = Arc::clone(&lock);
                rt.spawn_with(Spawn::new().name(format!("task {i}")), move || {
                    for _ in 0..5 {
                        info!(task = me());
                        yield_now();
                        info!(task = me());
                        let mut count = lock.lock();
                        sleep(Duration::from_micros(50));
                        *count += 1;
                        info!(task = me());
                    }
                })
            };
            let tasks: Vec<_> = (0..10).map(task).collect();
            tasks.into_iter().for_each(|task| task.join().expect("no panic"));
        });
        assert_eq!(seen.len(), 150);
        check(&seen, &[]);
        let named = |(_, scope): &(u64, Scope)| scope[0].1.name.starts_with("task ");
        assert!(seen.iter().all(named));
    }
}

#[test]
fn spans_of_the_program_go_with_the_task() {
    for workers in [1, 3] {
        let seen = with_recorder(workers, |rt| {
            let task = || {
                rt.spawn(|| {
                    let _outer = info_span!("outer").entered();
                    for _ in 0..5 {
                        let inner = info_span!("inner");
                        let _again = inner.enter();
                        info!(task = me());
                        yield_now();
                        info!(task = me());
                        sleep(Duration::from_micros(50));
                        info!(task = me());
                        // In place, or elsewhere, with its own span only.
                        spawn(yield_now).join().expect("no panic");
                        info!(task = me());
                    }
                })
            };
            let tasks: Vec<_> = (0..10).map(|_| task()).collect();
            tasks.into_iter().for_each(|task| task.join().expect("no panic"));
        });
        assert_eq!(seen.len(), 200);
        check(&seen, &["outer", "inner"]);
    }
}

#[test]
fn a_task_that_is_joined_in_place_is_not_within_its_joiner() {
    let seen = with_recorder(1, |rt| {
        rt.install(|| {
            spawn(|| {
                let _span = info_span!("joiner").entered();
                spawn(|| info!(task = me())).join().expect("no panic");
            })
            .join()
            .expect("no panic");
        });
    });
    assert_eq!(seen.len(), 1);
    check(&seen, &[]);
}

#[test]
fn stolen_branches_and_polls_are_in_the_span_of_their_task() {
    let seen = with_recorder(2, |rt| {
        rt.spawn(|| {
            for _ in 0..20 {
                fork([(); 4].map(|()| {
                    || {
                        info!(task = me());
                        sateen_testkit::give_way();
                        yield_now();
                    }
                }));
            }
        })
        .join()
        .expect("no panic");
        let future = async {
            for _ in 0..5 {
                info!(task = me());
                sateen_runtime::sleep_async(Duration::from_micros(50)).await;
            }
        };
        rt.install(|| spawn_async(future).join()).expect("no panic");
    });
    assert_eq!(seen.len(), 85);
    check(&seen, &[]);
}

#[test]
fn waits_that_keep_the_thread_keep_the_spans() {
    let builder = Runtime::builder().workers(1).strict(true);
    let seen = with_builder(builder, |rt| {
        let task = || {
            rt.spawn(|| {
                let _span = info_span!("mine").entered();
                info!(task = me());
                sleep(Duration::from_micros(50));
                info!(task = me());
            })
        };
        let tasks: Vec<_> = (0..5).map(|_| task()).collect();
        tasks.into_iter().for_each(|task| task.join().expect("no panic"));
    });
    assert_eq!(seen.len(), 10);
    check(&seen, &["mine"]);
}

#[test]
fn a_subscriber_may_panic_wait_and_fork() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let ran = Arc::new(AtomicUsize::new(0));
    with_recorder(2, |rt| {
        HOSTILE.store(true, SeqCst);
        let task = || {
            let ran = Arc::clone(&ran);
            rt.spawn(move || {
                for _ in 0..10 {
                    yield_now();
                    sleep(Duration::from_micros(20));
                    drop(LOCK.lock());
                }
                ran.fetch_add(1, SeqCst);
            })
        };
        let tasks: Vec<_> = (0..20).map(|_| task()).collect();
        tasks.into_iter().for_each(|task| task.join().expect("no panic of its own"));
        HOSTILE.store(false, SeqCst);
    });
    std::panic::set_hook(before);
    assert_eq!(ran.load(SeqCst), 20);
    assert!(CALLS.load(SeqCst) > 100);
}
