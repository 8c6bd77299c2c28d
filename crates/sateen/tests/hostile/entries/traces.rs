//! What traces are written to, and subscribers of `tracing`.

use super::{Entry, entry};
use crate::cell::Cell;
use sateen::{Runtime, spawn, yield_now};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Once, PoisonError};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

pub(super) static ALL: &[Entry] = &[
    entry("trace: what it is written to", |c| {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        runtime.trace().start();
        runtime.install(|| ());
        _ = runtime.trace().write_to(Writer(Arc::clone(c)));
    }),
    entry("tracing: subscriber", |c| {
        let _armed = Armed::new(c);
        c.end(spawn(yield_now).join());
    }),
];

struct Writer(Arc<Cell>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.strike();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.strike();
        Ok(())
    }
}

/// The cell whose subscriber strikes. A process has one subscriber.
static CELL: Mutex<Option<Arc<Cell>>> = Mutex::new(None);

struct Armed;

impl Armed {
    fn new(cell: &Arc<Cell>) -> Self {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            tracing::subscriber::set_global_default(Hostile).expect("the first");
        });
        *CELL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(cell));
        Self
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        let cell = CELL.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(cell);
    }
}

struct Hostile;

fn strike() {
    let cell = CELL.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(cell) = cell {
        cell.strike();
    }
}

impl Subscriber for Hostile {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        strike();
        Id::from_u64(NUMBERS.fetch_add(1, Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {
        strike();
    }

    fn exit(&self, _: &Id) {
        strike();
    }

    fn try_close(&self, _: Id) -> bool {
        strike();
        true
    }
}
