//! `crates/sync/tests/drawn/semaphore.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/sync/tests/drawn/semaphore.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod semaphore;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| semaphore::run(bytes));
