//! Helpers that the models of the runtime share.
#![allow(dead_code)]

use loom::sync::Notify;
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicUsize;
use sateen_runtime::models::park_word::ParkWord;

/// A fiber that only parks, and its worker, which resumes it once it is handed over.
pub(crate) struct ParkingFiber {
    word: ParkWord,
    handed: AtomicUsize,
    worker: Notify,
}

impl ParkingFiber {
    pub(crate) fn new() -> Self {
        Self { word: ParkWord::new(), handed: AtomicUsize::new(0), worker: Notify::new() }
    }

    pub(crate) fn unpark(&self) {
        if self.word.unpark() {
            self.handed.store(1, Relaxed);
            self.worker.notify();
        }
    }

    pub(crate) fn park(&self) {
        if self.word.begin() {
            while self.handed.load(Relaxed) == 0 {
                self.worker.wait();
            }
            self.handed.store(0, Relaxed);
        }
        self.word.resumed();
    }
}
