//! What Linux tells about the machine and about this process. Elsewhere every answer is `None`.

#[cfg(target_os = "linux")]
mod linux {
    use super::{CpuTicks, Holdings};
    use procfs::process::{Process, Status};
    use procfs::{CpuInfo, Current, CurrentSI, KernelStats, LoadAverage, Meminfo};

    fn status() -> Option<Status> {
        Process::myself().ok()?.status().ok()
    }

    pub(crate) fn memory_map_limit() -> Option<usize> {
        procfs::sys::vm::max_map_count().ok()?.try_into().ok()
    }

    pub(crate) fn available_memory() -> Option<u64> {
        Meminfo::current().ok()?.mem_available
    }

    pub(crate) fn own_memory() -> Option<u64> {
        let status = status()?;
        Some(status.vmrss?.saturating_add(status.vmpte?).saturating_mul(1024))
    }

    pub(crate) fn cpu_model() -> Option<String> {
        CpuInfo::current().ok()?.model_name(0).map(str::to_owned)
    }

    pub(crate) fn load() -> Option<f64> {
        let load = f64::from(LoadAverage::current().ok()?.one);
        // The system tells two decimal places.
        Some((load * 100.0).round() / 100.0)
    }

    pub(crate) fn cpu_ticks() -> Option<CpuTicks> {
        let total = KernelStats::current().ok()?.total;
        let (iowait, stolen) = (total.iowait?, total.steal?);
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let busy = sum(&[total.user, total.nice, total.system, total.irq?, total.softirq?]);
        Some(CpuTicks { busy, stolen, total: sum(&[busy, stolen, total.idle, iowait]) })
    }

    pub(crate) fn ticks_of_children() -> Option<u64> {
        let stat = Process::myself().ok()?.stat().ok()?;
        u64::try_from(stat.cutime.saturating_add(stat.cstime)).ok()
    }

    pub(crate) fn holdings() -> Option<Holdings> {
        let process = Process::myself().ok()?;
        let status = process.status().ok()?;
        Some(Holdings {
            resident_kib: status.vmrss?,
            threads: status.threads.try_into().ok()?,
            descriptors: process.fd_count().ok()?,
            mappings: process.maps().ok()?.len(),
        })
    }

    pub(crate) fn ignored_signals() -> Option<u64> {
        Some(status()?.sigign)
    }

    pub(crate) fn thread_ids() -> Option<Vec<i32>> {
        let tasks = Process::myself().ok()?.tasks().ok()?;
        Some(tasks.flatten().map(|task| task.tid).collect())
    }
}

#[cfg(not(target_os = "linux"))]
mod silent {
    use super::{CpuTicks, Holdings};

    macro_rules! unknown {
        ($($name:ident: $type:ty),*) => {
            $(pub(crate) fn $name() -> Option<$type> {
                None
            })*
        };
    }

    unknown!(memory_map_limit: usize, available_memory: u64, own_memory: u64, cpu_model: String);
    unknown!(load: f64, cpu_ticks: CpuTicks, ticks_of_children: u64, holdings: Holdings);
    unknown!(ignored_signals: u64);
}

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use silent as system;

/// How many memory maps a process may have.
pub(crate) use system::memory_map_limit;

/// Bytes of memory that can be had without swapping.
pub(crate) use system::available_memory;

/// Bytes of resident memory and page tables of this process.
pub(crate) use system::own_memory;

/// The processor's name.
pub(crate) use system::cpu_model;

/// Load average of the last minute.
pub(crate) use system::load;

/// The machine's processor time so far.
pub(crate) use system::cpu_ticks;

/// Processor time that ended child processes have used, in ticks of 10 ms.
pub(crate) use system::ticks_of_children;

/// What this process holds.
pub(crate) use system::holdings;

/// Returns whether this process was started with `signal` ignored, as by `nohup`.
#[cfg(unix)]
pub(crate) fn ignores(signal: i32) -> bool {
    system::ignored_signals().is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

/// The system's numbers of this process's threads.
#[cfg(target_os = "linux")]
pub(crate) use system::thread_ids;

/// Processor time of the whole machine, in ticks of 10 ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTicks {
    pub(crate) busy: u64,
    /// Taken by a hypervisor.
    pub(crate) stolen: u64,
    /// All of it: busy, stolen and idle.
    pub(crate) total: u64,
}

/// What a process holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holdings {
    pub(crate) resident_kib: u64,
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    pub(crate) mappings: usize,
}

impl Holdings {
    /// In words.
    pub(crate) fn words(&self) -> String {
        format!(
            "{} MiB resident, {} threads, {} descriptors, {} mappings",
            self.resident_kib / 1024,
            self.threads,
            self.descriptors,
            self.mappings
        )
    }
}
