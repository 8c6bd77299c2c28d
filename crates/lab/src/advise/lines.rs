//! How to write each candidate. The tests compile every line.

/// A candidate's declaration, and what else to know about it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) code: String,
    pub(super) remark: &'static str,
}

/// Returns the line for `name`; blocks have `block` bytes.
pub(super) fn of(name: &str, block: Option<usize>) -> Option<Line> {
    let (_, code, remark) = LINES.iter().find(|(of, ..)| *of == name)?;
    let code = match block {
        Some(size) => code.replace("u8; 64", &format!("u8; {size}")),
        None => (*code).to_owned(),
    };
    // One statement a line. The compiler breaks long ones. Only arrays have a `;` inside of a
    // statement.
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let code = code.replace("; use ", ";\n    use ").replace("; let ", ";\n    let ");
    let code = code.replace("; static ", ";\n    static ");
    Some(Line { code: format!("    {code}"), remark })
}

/// Makes text and compiled code from the same tokens.
macro_rules! lines {
    ($($(#[$cfg:meta])? $name:literal { $($code:tt)* } $remark:literal)*) => {
        const LINES: &[(&str, &str, &str)] = &[$(($name, stringify!($($code)*), $remark)),*];

        #[cfg(test)]
        #[allow(unused, clippy::all)]
        mod compiled {
            $($(#[$cfg])? const _: fn() -> Result<(), Box<dyn std::error::Error>> = || {
                $($code)*
                Ok(())
            };)*
        }
    };
}

lines! {
    "mutex" { use sateen::sync::Mutex; let value = Mutex::new(0_u64); }
    "it also suspends tasks, and futures can await it."
    "ttas" { use sateen::sync::spin::{Mutex, Ttas}; let value = Mutex::<Ttas, u64>::new(0); }
    "it never sleeps, so long waits burn processor time."
    "ttas-adaptive-futex" {
        use sateen::sync::spin::{Mutex, TtasAdaptiveFutex};
        let value = Mutex::<TtasAdaptiveFutex, u64>::new(0);
    }
    "for threads; it spins as long as that has helped before, then sleeps."
    "mcs" { use sateen::sync::spin::{Mcs, Mutex}; let value = Mutex::<Mcs, u64>::new(0); }
    "first come, first served; only where each thread has a core."
    "no-atomics" {
        use sateen::sync::spin::{Mutex, NoAtomics};
        let value = Mutex::<NoAtomics, u64>::new(0);
    }
    "for one thread only; the compiler refuses others."
    "mutex-local" { use sateen::sync::local::Mutex; let value = Mutex::new(0_u64); }
    "for the tasks of one thread only; the compiler refuses others."
    "rwlock" { use sateen::sync::RwLock; let value = RwLock::new(0_u64); }
    "it also suspends tasks, and futures can await it."
    "std" { use std::sync::Mutex; let value = Mutex::new(0_u64); }
    "the standard library's, with poisoning."
    "std-rwlock" { use std::sync::RwLock; let value = RwLock::new(0_u64); }
    "the standard library's, with poisoning."
    #[cfg(feature = "peers")]
    "parking_lot" { use parking_lot::Mutex; let value = Mutex::new(0_u64); }
    "of the crate parking_lot."
    #[cfg(feature = "peers")]
    "parking_lot-rwlock" { use parking_lot::RwLock; let value = RwLock::new(0_u64); }
    "of the crate parking_lot."
    #[cfg(feature = "peers")]
    "spin" { use spin::Mutex; let value = Mutex::new(0_u64); }
    "of the crate spin; it never sleeps, so long waits burn processor time."

    "local-then-atomic" {
        use sateen::sync::counter::LocalCounter;
        use std::sync::atomic::AtomicU64;
        static TOTAL: AtomicU64 = AtomicU64::new(0);
        let mine = LocalCounter::new(&TOTAL);
    }
    "each thread has a handle, which adds its count to the total when it is dropped."
    "striped" {
        use sateen::sync::counter::StripedCounter;
        static TOTAL: StripedCounter = StripedCounter::new();
    }
    "its sum is exact while no thread adds; it takes 8 KiB."
    "atomic" { use std::sync::atomic::AtomicU64; static TOTAL: AtomicU64 = AtomicU64::new(0); }
    "one machine instruction on a cache line that all threads share."

    "global" { let value = Box::new([0_u8; 64]); }
    "the general allocator: no pool."
    "magazine" {
        use sateen::pool::{Magazine, Pool};
        let pool = Pool::<[u8; 64], Magazine>::new(10_000)?;
    }
    "each thread keeps some free blocks."
    "lock-free-tree" {
        use sateen::pool::{LockFreeTree, Pool};
        let pool = Pool::<[u8; 64], LockFreeTree>::new(10_000)?;
    }
    "it keeps blocks close together."
    #[cfg(feature = "peers")]
    "mimalloc" { let allocator = mimalloc::MiMalloc; }
    "the crate mimalloc; make it the `#[global_allocator]`."
    #[cfg(feature = "peers")]
    "jemalloc" { let allocator = tikv_jemallocator::Jemalloc; }
    "the crate tikv-jemallocator; make it the `#[global_allocator]`."
    #[cfg(feature = "peers")]
    "snmalloc" { let allocator = snmalloc_rs::SnMalloc; }
    "the crate snmalloc-rs; make it the `#[global_allocator]`."
    #[cfg(feature = "peers")]
    "sharded-slab" { let slab = sharded_slab::Slab::<[u8; 64]>::new(); }
    "the crate sharded-slab; values are found by key."
    #[cfg(feature = "peers")]
    "slab-mutex" {
        let slab = std::sync::Mutex::new(slab::Slab::<[u8; 64]>::with_capacity(10_000));
    }
    "the crate slab; values are found by key."
    #[cfg(feature = "peers")]
    "slab-unshared" { let slab = slab::Slab::<[u8; 64]>::with_capacity(10_000); }
    "the crate slab, for one thread; values are found by key."
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::experiments::counter::{self, Total};
    use crate::experiments::pool::Shape;
    use crate::experiments::{lock, pool};
    use std::time::Duration;

    #[test]
    fn a_statement_a_line() {
        let line = of("magazine", Some(24)).expect("a candidate");
        let lines: Vec<&str> = line.code.lines().collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[0], "    use sateen::pool::{Magazine, Pool};");
        assert_eq!(lines[1], "    let pool = Pool::<[u8; 24], Magazine>::new(10_000)?;");
        assert!(of("nobody", None).is_none());
    }

    /// Except for candidates that exist only in the lab.
    #[test]
    fn each_candidate_has_one() {
        let window = Duration::from_millis(1);
        let section = Duration::ZERO;
        let locks = [1, 2].map(|threads| {
            lock::Asked { threads, section, between: None, reads: 50, window }.group()
        });
        let counter = counter::Asked { threads: 2, total: Total::End, increments: 1 }.group();
        let pools = [1, 2].map(|threads| {
            let (shape, live, handed_over) = (Shape::Short, 1, false);
            pool::Asked { threads, size: 12, shape, live, handed_over, window }.group()
        });
        let groups = locks.into_iter().chain([counter]).chain(pools);
        for subject in groups.flat_map(|group| group.subjects) {
            let name = subject.implementation;
            let exhibits =
                ["ttas-adaptive", "ttas-futex", "ticket", "os-mutex", "kernel", "lock-free-flags"];
            let of_the_lab = exhibits.contains(&name) || name.starts_with("locked-");
            assert_ne!(of(name, None).is_some(), of_the_lab, "{name}");
        }
    }
}
