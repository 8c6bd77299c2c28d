//! `crates/queue/tests/drawn/queues.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/queue/tests/drawn/queues.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod queues;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| queues::run(bytes));
