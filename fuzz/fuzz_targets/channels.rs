//! `crates/queue/tests/drawn/channels.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/queue/tests/drawn/channels.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod channels;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| channels::run(bytes));
