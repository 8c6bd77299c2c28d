//! What the process holds: memory, threads, descriptors.

use std::fs;

/// A look at the process. Zeros where the system does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Holdings {
    pub(super) resident_kib: u64,
    pub(super) threads: usize,
    pub(super) descriptors: usize,
    pub(super) mappings: usize,
}

impl Holdings {
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let entries = |folder| fs::read_dir(folder).map_or(0, Iterator::count);
        Self {
            resident_kib: resident
                .and_then(|text| text.split_whitespace().next()?.parse().ok())
                .unwrap_or(0),
            threads: entries("/proc/self/task"),
            descriptors: entries("/proc/self/fd"),
            mappings: fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count()),
        }
    }

    pub(super) fn words(&self) -> String {
        format!(
            "{} MiB resident, {} threads, {} descriptors, {} mappings",
            self.resident_kib / 1024,
            self.threads,
            self.descriptors,
            self.mappings
        )
    }
}
