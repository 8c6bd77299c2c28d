//! Model atomics whose every access is a scheduling point of its own.
//!
//! loom 0.7 remembers only the last access of each atomic when it looks for points where another
//! thread should have gone first. A load just before its own thread's exchange hides the other
//! thread's access. This is a known gap of its search: loops of load and exchange are hardly
//! explored at all.
//!
//! So each atomic here has a lane for each thread of the model. A load first touches its own
//! thread's lane, and a write touches all lanes. To the search every write then conflicts with
//! every access, while loads do not conflict with loads. A touch is an exchange that always fails.
//! It stores nothing, so it synchronises nothing.
#![allow(missing_docs, reason = "the names and meanings are the standard library's")]

use loom::sync::atomic as real;
use loom::sync::atomic::Ordering;

/// Most threads of a model, including the main one.
const THREADS: usize = 4;

/// The calling thread's number in the model; 0 for the main thread.
#[must_use]
pub fn thread() -> usize {
    // `ThreadId(n)`.
    let name = format!("{:?}", loom::thread::current().id());
    name.trim_start_matches("ThreadId(").trim_end_matches(')').parse().unwrap_or(0)
}

#[derive(Debug)]
struct Lanes([real::AtomicBool; THREADS]);

impl Lanes {
    #[track_caller]
    fn new() -> Self {
        Self([(); THREADS].map(|()| real::AtomicBool::new(false)))
    }

    #[track_caller]
    fn touch(lane: &real::AtomicBool) {
        let _ = lane.compare_exchange(true, true, Ordering::Relaxed, Ordering::Relaxed);
    }

    #[track_caller]
    fn reading(&self) {
        Self::touch(&self.0[thread() % THREADS]);
    }

    #[track_caller]
    fn writing(&self) {
        self.0.iter().for_each(Self::touch);
    }
}

macro_rules! checked {
    ($($name:ident $(<$param:ident>)?: $value:ty;)*) => { $(
        #[derive(Debug)]
        pub struct $name $(<$param>)? {
            word: real::$name $(<$param>)?,
            lanes: Lanes,
        }

        #[allow(clippy::missing_panics_doc)]
        impl $(<$param>)? $name $(<$param>)? {
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self { word: real::$name::new(value), lanes: Lanes::new() }
            }

            #[track_caller]
            fn read(&self) -> &real::$name $(<$param>)? {
                self.lanes.reading();
                &self.word
            }

            #[track_caller]
            fn write(&self) -> &real::$name $(<$param>)? {
                self.lanes.writing();
                &self.word
            }

            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.read().load(order)
            }

            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.write().store(value, order);
            }

            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.write().swap(value, order)
            }

            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.write().compare_exchange(current, new, success, failure)
            }

            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.write().compare_exchange_weak(current, new, success, failure)
            }

            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut seen = self.load(fetch);
                while let Some(new) = f(seen) {
                    match self.compare_exchange_weak(seen, new, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(now) => seen = now,
                    }
                }
                Err(seen)
            }
        }
    )* };
}

checked! {
    AtomicBool: bool;
    AtomicU8: u8;
    AtomicU32: u32;
    AtomicU64: u64;
    AtomicUsize: usize;
    AtomicPtr<T>: *mut T;
}

macro_rules! arithmetic {
    ($($name:ident: $value:ty: $($method:ident),*;)*) => { $(
        impl $name {
            $(
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.write().$method(value, order)
                }
            )*
        }
    )* };
}

arithmetic! {
    AtomicU32: u32: fetch_add, fetch_sub, fetch_and, fetch_or;
    AtomicU64: u64: fetch_add, fetch_sub, fetch_and, fetch_or;
    AtomicUsize: usize: fetch_add, fetch_sub, fetch_and, fetch_or;
}
