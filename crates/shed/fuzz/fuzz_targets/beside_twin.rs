//! What `tests/model.rs` does with random bytes, with those that lead the fuzzer to new code:
//! `cargo +nightly fuzz run beside_twin` in `crates/shed`.
#![no_main]

#[path = "../../tests/beside_twin/mod.rs"]
mod beside_twin;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    beside_twin::run(bytes);
});
