//! The program's spans in a trace, by the layer for that.

#![cfg(all(feature = "trace", feature = "tracing"))]

#[path = "common/traced.rs"]
mod traced;

use sateen_runtime::{Runtime, Spawn, TraceLayer, spawn, yield_now};
use tracing::info_span;
use tracing_subscriber::layer::SubscriberExt;

#[test]
fn spans_nest_in_their_tasks() {
    let subscriber = tracing_subscriber::registry().with(TraceLayer::new());
    tracing::subscriber::set_global_default(subscriber).expect("the first");
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let _outside = info_span!("outside").entered();
    runtime.trace().start();
    runtime.install(|| {
        let other = spawn(yield_now);
        let task = Spawn::new().name("mine").spawn(|| {
            let _outer = info_span!("outer").entered();
            info_span!("inner").in_scope(yield_now);
        });
        yield_now();
        [other, task].into_iter().for_each(|task| task.join().expect("no panic"));
    });
    runtime.trace().stop();
    let mut bytes = Vec::new();
    runtime.trace().write_to(&mut bytes).expect("a vector takes all");
    let read = traced::read(&bytes);
    assert!(read.on_workers("outside").is_empty());
    // Once before the yield, once after it.
    let [task, outer, inner] = ["mine", "outer", "inner"].map(|name| read.on_workers(name));
    assert_eq!((task.len(), outer.len(), inner.len()), (2, 2, 2));
    for (task, (outer, inner)) in task.iter().zip(outer.iter().zip(&inner)) {
        assert!(task.begin <= outer.begin && outer.end <= task.end);
        assert!(outer.begin <= inner.begin && inner.end <= outer.end);
        assert_eq!((task.depth + 1, outer.depth + 1), (outer.depth, inner.depth));
    }
}
