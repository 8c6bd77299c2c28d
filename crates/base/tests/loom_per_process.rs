//! Models of a value that each process has one of.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_base::os::PerProcess;

struct Watched(UnsafeCell<u32>);

// SAFETY: written while it is made, and then only read.
unsafe impl Sync for Watched {}

/// Two threads ask, one of them twice: all get the same one, and see it whole.
#[test]
fn all_get_the_same() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let only = Arc::new(PerProcess::new());
        let ask = |only: &PerProcess<Watched>| {
            let one = only.get_in(1, || {
                let new = Watched(UnsafeCell::new(0));
                // SAFETY: no other thread has it.
                new.0.with_mut(|n| unsafe { *n = 7 });
                new
            });
            // SAFETY: no thread writes it any more.
            assert_eq!(one.0.with(|n| unsafe { *n }), 7);
            std::ptr::from_ref(one).addr()
        };
        let other = thread::spawn({
            let only = Arc::clone(&only);
            move || ask(&only)
        });
        let mine = ask(&only);
        assert_eq!(other.join().unwrap(), mine);
        assert_eq!(ask(&only), mine);
    });
}

/// A child makes its own.
#[test]
fn a_child_has_another() {
    loom::model(|| {
        let only = PerProcess::new();
        assert_eq!(*only.get_in(1, || 1), 1);
        assert_eq!(*only.get_in(1, || 2), 1);
        assert_eq!(*only.get_in(2, || 3), 3);
    });
}
