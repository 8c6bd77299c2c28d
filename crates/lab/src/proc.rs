//! What Linux tells about the machine and about this process. Elsewhere every answer is `None`.

#[cfg(target_os = "linux")]
mod linux {
    use super::{CpuTicks, Holdings};
    use std::fs::{read_dir, read_to_string};
    use std::str::FromStr;

    /// What stands behind `key` and a colon in the lines of a file: its first word.
    fn after<T: FromStr>(file: &str, key: &str) -> Option<T> {
        let text = read_to_string(file).ok()?;
        let is_key = |line: &&str| line.split(':').next().is_some_and(|it| it.trim() == key);
        text.lines().find(is_key)?.split_once(':')?.1.split_whitespace().next()?.parse().ok()
    }

    fn status<T: FromStr>(key: &str) -> Option<T> {
        after("/proc/self/status", key)
    }

    pub(crate) fn memory_map_limit() -> Option<usize> {
        read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
    }

    pub(crate) fn available_memory() -> Option<u64> {
        Some(after::<u64>("/proc/meminfo", "MemAvailable")?.saturating_mul(1024))
    }

    pub(crate) fn own_memory() -> Option<u64> {
        let pages: u64 = status("VmPTE")?;
        Some(status::<u64>("VmRSS")?.saturating_add(pages).saturating_mul(1024))
    }

    pub(crate) fn cpu_model() -> Option<String> {
        let text = read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    pub(crate) fn load() -> Option<f64> {
        read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
    }

    pub(crate) fn cpu_ticks() -> Option<CpuTicks> {
        let text = read_to_string("/proc/stat").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks = line.split_whitespace().map(|ticks| ticks.parse().ok());
        let ticks = ticks.collect::<Option<Vec<u64>>>()?;
        let &[user, nice, kernel, idle, iowait, irq, softirq, stolen, ..] = &ticks[..] else {
            return None;
        };
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let busy = sum(&[user, nice, kernel, irq, softirq]);
        Some(CpuTicks { busy, stolen, total: sum(&[busy, stolen, idle, iowait]) })
    }

    pub(crate) fn ticks_of_children() -> Option<u64> {
        let text = read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in brackets, may hold anything.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(13);
        let (user, kernel): (u64, u64) =
            (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(user.saturating_add(kernel))
    }

    pub(crate) fn holdings() -> Option<Holdings> {
        Some(Holdings {
            resident_kib: status("VmRSS")?,
            threads: status("Threads")?,
            descriptors: read_dir("/proc/self/fd").ok()?.count(),
            mappings: read_to_string("/proc/self/maps").ok()?.lines().count(),
        })
    }

    pub(crate) fn ignored_signals() -> Option<u64> {
        u64::from_str_radix(&status::<String>("SigIgn")?, 16).ok()
    }

    pub(crate) fn thread_ids() -> Option<Vec<i32>> {
        let tasks = read_dir("/proc/self/task").ok()?;
        Some(tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()).collect())
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
