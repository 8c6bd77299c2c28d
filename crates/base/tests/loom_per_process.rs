//! Models of a value that exists once in each process.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_base::os::PerProcess;

struct Watched(UnsafeCell<u32>);

// SAFETY: the value is written while it is made, and only read afterwards.
unsafe impl Sync for Watched {}

/// Two threads ask for the value, one of them twice. All get the same one and see it whole.
#[test]
fn all_get_the_same() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let only = Arc::new(PerProcess::new());
        let ask = |only: &PerProcess<Watched>| {
            let one = only.get_in(1, || {
                let new = Watched(UnsafeCell::new(0));
                // SAFETY: no other thread has the value.
                new.0.with_mut(|n| unsafe { *n = 7 });
                new
            });
            // SAFETY: no thread writes the value any more.
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

/// A child makes its own value.
#[test]
fn a_child_has_another() {
    loom::model(|| {
        let only = PerProcess::new();
        assert_eq!(*only.get_in(1, || 1), 1);
        assert_eq!(*only.get_in(1, || 2), 1);
        assert_eq!(*only.get_in(2, || 3), 3);
    });
}
