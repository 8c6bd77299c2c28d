//! Model of the latch of scopes outside: the owner is woken, sees all results, and may free the
//! latch at once.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Notify};
use loom::thread;
use sateen_runtime::models::outside_latch::OutsideLatch;
use sateen_testkit::model;

struct Results([UnsafeCell<u32>; 2]);

// SAFETY: a result is written before its count goes, and read after all have. The model checks it.
unsafe impl Sync for Results {}
// SAFETY: as above.
unsafe impl Send for Results {}

struct Address(*const OutsideLatch<Arc<Notify>>);

// SAFETY: the latch waits for the thread's count.
unsafe impl Send for Address {}

impl Address {
    fn get(&self) -> *const OutsideLatch<Arc<Notify>> {
        self.0
    }
}

#[test]
fn the_last_job_wakes_the_owner() {
    model(2, || {
        let parker = Arc::new(Notify::new());
        let results = Arc::new(Results([UnsafeCell::new(0), UnsafeCell::new(0)]));
        let latch = Box::new(OutsideLatch::new(Arc::clone(&parker)));
        let jobs: Vec<_> = (0..2)
            .map(|i| {
                latch.add_one();
                let (results, address) = (Arc::clone(&results), Address(&raw const *latch));
                thread::spawn(move || {
                    // SAFETY: this result belongs to this job until its count is given back.
                    results.0[i].with_mut(|result| unsafe { *result = 1 });
                    // SAFETY: each job owns one count.
                    unsafe { OutsideLatch::drop_one(address.get(), |parker| parker.notify()) };
                })
            })
            .collect();
        if !latch.drop_own() {
            while !latch.is_done() {
                parker.wait();
            }
        }
        // The checker notices an access after this.
        drop(latch);
        // SAFETY: all counts are gone.
        let sum: u32 = results.0.iter().map(|r| r.with(|r| unsafe { *r })).sum();
        assert_eq!(sum, 2);
        jobs.into_iter().for_each(|job| job.join().unwrap());
    });
}
