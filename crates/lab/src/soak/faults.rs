//! Failures on purpose while the soak runs.
//!
//! | kind | what happens | where |
//! |---|---|---|
//! | memory | one reservation of stacks in 16 fails | `sateen_base::os` |
//! | guards | one lightweight guard in 4 fails, one discard in 4 does nothing | `sateen_base::os` |
//! | threads | one thread in 16 cannot be started | `sateen_base::os` |
//! | wakes | one sleep in 4 ends at once | `sateen_base::os` |
//! | stalls | a random thread stands still for up to 20 ms, with `EINTR` | signals |
//! | clock | the worker queues' clocks jump forwards and backwards | `activities/queues.rs` |

use sateen_base::XorShift;
use sateen_base::os::faults::{Fault, inject, struck};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Guards,
    Threads,
    Wakes,
    Stalls,
    Clock,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Memory, Self::Guards, Self::Threads, Self::Wakes, Self::Stalls, Self::Clock];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Guards => "guards",
            Self::Threads => "threads",
            Self::Wakes => "wakes",
            Self::Stalls => "stalls",
            Self::Clock => "clock",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The failures in force; none any more once it is dropped.
pub(super) struct Faults {
    stop: Arc<AtomicBool>,
    stalls: Arc<AtomicU64>,
    staller: Option<JoinHandle<()>>,
}

impl Faults {
    pub(super) fn begin(kinds: &[Kind], seed: u64) -> Self {
        let has = |kind| kinds.contains(&kind);
        let rate = |kind, one_in| if has(kind) { one_in } else { 0 };
        inject(Fault::Memory, rate(Kind::Memory, 16));
        inject(Fault::Guard, rate(Kind::Guards, 4));
        inject(Fault::Discard, rate(Kind::Guards, 4));
        inject(Fault::Thread, rate(Kind::Threads, 16));
        inject(Fault::Wake, rate(Kind::Wakes, 4));
        let (stop, stalls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (ended, counted) = (Arc::clone(&stop), Arc::clone(&stalls));
        let staller = has(Kind::Stalls).then(|| {
            thread::spawn(move || {
                let mut random = XorShift::new(seed);
                while !ended.load(Relaxed) {
                    counted.fetch_add(stall_one(&mut random), Relaxed);
                    thread::sleep(Duration::from_micros(1 + random.below(5_000) as u64));
                }
            })
        });
        Self { stop, stalls, staller }
    }

    /// How often each kind has struck, in words; empty for none.
    pub(super) fn words(&self) -> String {
        let told = [
            ("reservations refused", struck(Fault::Memory)),
            ("guards by protection", struck(Fault::Guard)),
            ("discards skipped", struck(Fault::Discard)),
            ("threads refused", struck(Fault::Thread)),
            ("spurious wake-ups", struck(Fault::Wake)),
            ("stalls", self.stalls.load(Relaxed)),
        ];
        let some = told.into_iter().filter(|(_, n)| *n > 0);
        some.map(|(what, n)| format!("{n} {what}")).collect::<Vec<_>>().join(", ")
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        for fault in [Fault::Memory, Fault::Guard, Fault::Discard, Fault::Thread, Fault::Wake] {
            inject(fault, 0);
        }
        self.stop.store(true, Relaxed);
        if let Some(staller) = self.staller.take() {
            // It only sleeps and signals.
            let _ = staller.join();
        }
    }
}

/// Stalls a random thread of this process; 1 if that was possible.
#[cfg(target_os = "linux")]
fn stall_one(random: &mut XorShift) -> u64 {
    let Some(threads) = crate::proc::thread_ids().filter(|ids| !ids.is_empty()) else { return 0 };
    let thread = threads[random.below(threads.len())];
    let time = Duration::from_micros(random.below(20_000) as u64);
    sateen_base::os::faults::stall(thread, time).into()
}

#[cfg(not(target_os = "linux"))]
fn stall_one(_: &mut XorShift) -> u64 {
    0
}
