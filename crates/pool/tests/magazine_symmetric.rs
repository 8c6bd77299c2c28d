//! `Magazine` on a system without asymmetric fences. This is a separate program, because a process
//! asks the system once.
#![cfg(not(loom))]

mod common;

use sateen_pool::Magazine;

#[test]
fn works_without_asymmetric_fences() {
    // SAFETY: this is the only test here, and no other thread reads the environment yet.
    unsafe { std::env::set_var("SATEEN_NO_MEMBARRIER", "1") };
    assert!(!sateen_base::fence::is_asymmetric());
    common::model::<Magazine>(500);
    common::stress::<Magazine>(4);
}
