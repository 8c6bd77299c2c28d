//! Texts of panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The text of a caught panic; `?` if its payload is none.
pub fn message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(panic) => panic.downcast::<String>().map_or_else(|_| "?".into(), |text| *text),
    }
}

/// The text with which `f`, or the destructor of its result, panics.
///
/// # Panics
/// If neither does.
#[track_caller]
pub fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    print_no_panics_under_miri();
    message(catch_unwind(AssertUnwindSafe(|| drop(f()))).expect_err("a panic"))
}

/// Under Miri panics are not printed from now on: a panic while another one unwinds prints a
/// backtrace, which takes Miri five seconds.
pub fn print_no_panics_under_miri() {
    if cfg!(miri) && !std::thread::panicking() {
        std::panic::set_hook(Box::new(|_| ()));
    }
}
