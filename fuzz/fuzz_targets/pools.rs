//! `crates/pool/tests/drawn/pools.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

#[path = "../../crates/pool/tests/drawn/pools.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod pools;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pools::run(bytes));
