//! `crates/deque/tests/beside_twin/mod.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/deque/tests/beside_twin/mod.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod beside_twin;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| beside_twin::run(bytes));
