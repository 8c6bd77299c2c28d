//! `crates/flow/tests/drawn/worker_queue.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/flow/tests/drawn/worker_queue.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod worker_queue;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| worker_queue::run(bytes));
