//! The global pool: one for each process, so each test is a child.

mod common;

use common::{is_child, run_child, stderr};
use rayon_core::*;

/// Runs the calling test's child with `variables`, and expects it to end well.
fn child(name: &str, variables: &[(&str, &str)]) {
    let output = run_child(name, variables);
    assert!(output.status.success(), "{}", stderr(&output));
}

fn usable() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn it_is_built_once() {
    if !is_child() {
        return child("it_is_built_once", &[]);
    }
    ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
    assert_eq!(current_num_threads(), 3);
    let error = ThreadPoolBuilder::new().build_global().unwrap_err();
    assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
    assert!(std::error::Error::source(&error).is_none());
    #[allow(deprecated)]
    let error = initialize(Configuration::new()).unwrap_err();
    assert!(error.to_string().contains("already been initialized"));
    assert_eq!(current_num_threads(), 3);
}

#[test]
fn a_use_builds_it() {
    if !is_child() {
        return child("a_use_builds_it", &[("RAYON_NUM_THREADS", "2")]);
    }
    assert_eq!(current_thread_index(), None);
    assert_eq!(join(|| 1, || 2), (1, 2));
    assert_eq!(current_num_threads(), 2);
    assert!(ThreadPoolBuilder::new().num_threads(1).build_global().is_err());
}

#[test]
fn threads_have_started() {
    if !is_child() {
        return child("threads_have_started", &[]);
    }
    ThreadPoolBuilder::new().num_threads(4).build_global().unwrap();
    assert_eq!(broadcast(|c| c.index()), [0, 1, 2, 3]);
}

#[test]
fn a_build_that_fails_is_the_last() {
    if !is_child() {
        return child("a_build_that_fails_is_the_last", &[]);
    }
    let failing = |_: ThreadBuilder| Err(std::io::Error::other("none"));
    let error = ThreadPoolBuilder::new().spawn_handler(failing).build_global().unwrap_err();
    assert_eq!(error.to_string(), "none");
    assert!(ThreadPoolBuilder::new().build_global().is_err());
    let text = sateen_testkit::panic_of(current_num_threads);
    assert!(text.contains("has not been initialized"), "{text}");
}

/// A test of the number of threads that `variables` give.
macro_rules! counts {
    ($($name:ident: $variables:expr => $count:expr;)*) => {$(
        #[test]
        fn $name() {
            if !is_child() {
                return child(stringify!($name), &$variables);
            }
            assert_eq!(current_num_threads(), $count);
            let pool = ThreadPoolBuilder::new().num_threads(0).build().unwrap();
            assert_eq!(pool.current_num_threads(), $count);
            assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
        }
    )*};
}

counts! {
    a_number_counts: [("RAYON_NUM_THREADS", "5")] => 5;
    no_number_is_ignored: [("RAYON_NUM_THREADS", "abc")] => usable();
    zero_is_the_default: [("RAYON_NUM_THREADS", "0"), ("RAYON_RS_NUM_CPUS", "7")] => usable();
    an_empty_value_is_ignored: [("RAYON_NUM_THREADS", "")] => usable();
    a_negative_number_is_ignored: [("RAYON_NUM_THREADS", "-1")] => usable();
    the_old_variable_counts: [("RAYON_RS_NUM_CPUS", "3")] => 3;
    the_new_variable_goes_first: [("RAYON_NUM_THREADS", "2"), ("RAYON_RS_NUM_CPUS", "3")] => 2;
    other_variables_do_not_count:
        [("RAYON_NUM_THREADS", "2"), ("SATEEN_WORKERS", "x"), ("SATEEN_STRICT", "1")] => 2;
    a_strange_stack_size_is_ignored: [("RAYON_NUM_THREADS", "2"), ("RUST_MIN_STACK", "x")] => 2;
}
