//! `crates/lab/tests/drawn/results.rs` with the bytes that lead the fuzzer to new code.
#![no_main]

// The library itself would bring all its dependencies.
extern crate self as sateen_top;
#[path = "../../crates/top/src/foreign.rs"]
pub mod foreign;

#[path = "../../crates/lab/src/report/document.rs"]
#[allow(dead_code, reason = "the lab uses more of it")]
mod document;
#[path = "../../crates/lab/tests/drawn/results.rs"]
mod results;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| results::run(bytes));
