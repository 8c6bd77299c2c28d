//! What the tests of the runtime share.
#![allow(dead_code)]

use sateen_runtime::Runtime;

/// The worker counts that every behaviour is tried with.
pub(crate) const WORKERS: [usize; 5] = [1, 2, 3, 4, 8];

/// A runtime of `workers`, and its end checked.
pub(crate) fn with_runtime<R>(workers: usize, f: impl FnOnce(&Runtime) -> R) -> R {
    let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
    let result = f(&runtime);
    runtime.shutdown().expect("an orderly end");
    result
}

/// Runs `f` with each count of [`WORKERS`].
pub(crate) fn at_all_counts(f: impl Fn(&Runtime)) {
    for workers in WORKERS {
        with_runtime(workers, &f);
    }
}

/// Naive Fibonacci by nested joins.
pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = sateen_runtime::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// The message that a caught panic carries.
pub(crate) fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(panic) => panic.downcast::<String>().map_or_else(|_| "?".into(), |text| *text),
    }
}
