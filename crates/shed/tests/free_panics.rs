//! A payload that panics when it is dropped takes nothing else along.

use sateen_shed::Shed;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Counts its drop, and panics if it is the chosen one.
struct Payload<'a>(&'a Cell<u32>, bool);

impl Drop for Payload<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        assert!(!self.1, "boom");
    }
}

#[test]
fn all_tasks_are_freed_although_dropping_one_panics() {
    let dropped = Cell::new(0);
    for bad in 0..3 {
        dropped.set(0);
        let shed = Shed::builder().tasks(4).dependencies(3).build().expect("small");
        let [a, b, c, successor] =
            [0, 1, 2, 3].map(|i| Payload(&dropped, i == bad)).map(|payload| {
                let [task] = shed.create([payload]).expect("room");
                task
            });
        shed.depend(&[successor], &[a, b, c]).expect("idle");
        assert!(catch_unwind(AssertUnwindSafe(|| shed.free(&[a, b, c]))).is_err());
        assert_eq!(dropped.get(), 3);
        shed.free(&[successor]).expect("it waits for nothing any more");
        shed.create([(); 4].map(|()| Payload(&dropped, false))).expect("all slots are free again");
    }
}
