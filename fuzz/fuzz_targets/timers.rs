//! `crates/sync/tests/drawn/timers.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/sync/tests/drawn/timers.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod timers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timers::run(bytes));
