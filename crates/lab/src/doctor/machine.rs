//! What this machine and its kernel offer, and what is lost where they do not.

use crate::host;
use sateen_base::{fence, os};
use sateen_top::foreign::Foreign;
use std::fs;
use std::path::Path;

/// One line of the report.
pub(super) struct Fact {
    pub(super) what: &'static str,
    pub(super) value: String,
    /// What is lost, if something is.
    pub(super) lost: Option<&'static str>,
}

impl Fact {
    fn new(what: &'static str, value: impl Into<String>) -> Self {
        // Names of control groups, for one, are whatever somebody has chosen.
        let value = Foreign::from(value.into());
        Self { what, value: value.plain().to_owned(), lost: None }
    }

    /// What is lost if `holds`.
    fn if_so(mut self, holds: bool, lost: &'static str) -> Self {
        self.lost = holds.then_some(lost);
        self
    }
}

/// Returns all facts.
pub(super) fn facts() -> Vec<Fact> {
    vec![cores(), limits(), threads_of_a_core(), governor(), maps(), guards(), heavy_fence()]
}

fn cores() -> Fact {
    let (usable, allowed) = (host::cores(), os::allowed_cores().len());
    let there = list("/sys/devices/system/cpu/online").unwrap_or(allowed);
    Fact::new(
        "cores",
        format!("{usable} usable, {allowed} allowed to this process, {there} online"),
    )
    .if_so(
        usable < allowed,
        "A quota of processor time is below the cores: a runtime has as many workers as the \
             quota has cores, and loses all of them for the rest of a period when it is used up.",
    )
}

/// The quotas of the control groups that this process is in.
fn limits() -> Fact {
    let found = control_group();
    let words = match &found {
        Some((path, quota)) => format!("{quota} ({path})"),
        None => "none".to_owned(),
    };
    Fact::new("quota of processor time", words)
}

/// The first quota on the way from this process's control group up: its file, and cores.
fn control_group() -> Option<(String, String)> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/');
    let mut folder = Path::new("/sys/fs/cgroup").join(own);
    loop {
        let file = folder.join("cpu.max");
        if let Ok(text) = fs::read_to_string(&file)
            && let Some((quota, period)) = text.trim().split_once(' ')
            && let (Ok(quota), Ok(period)) = (quota.parse::<f64>(), period.parse::<f64>())
        {
            let cores = quota / period.max(1.0);
            return Some((file.display().to_string(), format!("{cores:.2} cores")));
        }
        if !folder.pop() || !folder.starts_with("/sys/fs/cgroup") {
            return None;
        }
    }
}

fn threads_of_a_core() -> Fact {
    let siblings = list("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    let words = match siblings {
        Some(1) => "one".to_owned(),
        Some(n) => n.to_string(),
        None => "unknown".to_owned(),
    };
    Fact::new("threads of a core", words).if_so(
        siblings.is_some_and(|n| n > 1),
        "Two workers on one core share its units: a thread that spins slows the other one down.",
    )
}

fn governor() -> Fact {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let named = fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let words = named.as_deref().unwrap_or("none that the system shows").to_owned();
    Fact::new("frequency governor", words).if_so(
        named.is_some_and(|name| name != "performance"),
        "Frequencies follow the load: short figures of one run differ from those of the next. \
         `performance` holds them up.",
    )
}

fn maps() -> Fact {
    let words = match (crate::proc::memory_map_limit(), host::most_threads()) {
        (Some(maps), Some(threads)) => format!("{maps}, which is room for {threads} threads"),
        _ => "unknown".to_owned(),
    };
    Fact::new("limit of memory maps", words)
}

fn guards() -> Fact {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let light = version(&release).is_some_and(|version| version >= (6, 13));
    Fact::new("guard pages", if light { "without memory maps" } else { "one memory map each" })
        .if_so(
            !light,
            "Each stack of a blocked task takes two memory maps, so their limit is the limit of \
             such tasks, and a new stack takes a system call more. Linux 6.13 has lighter guards.",
        )
}

/// The first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn heavy_fence() -> Fact {
    let asymmetric = fence::is_asymmetric();
    Fact::new("asymmetric fence", if asymmetric { "membarrier" } else { "none" }).if_so(
        !asymmetric,
        "Each push of a task costs a full fence, as this kernel refuses `membarrier` with private \
         expedited barriers (Linux 4.14), or SATEEN_NO_MEMBARRIER is set.",
    )
}

/// How many numbers a list such as `0-3,8` has, in the file at `path`.
fn list(path: &str) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    count(text.trim())
}

fn count(list: &str) -> Option<usize> {
    let part = |part: &str| match part.split_once('-') {
        None => part.parse::<usize>().ok().map(|_| 1),
        Some((first, last)) => {
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            last.checked_sub(first)?.checked_add(1)
        }
    };
    list.split(',').map(part).try_fold(0_usize, |sum, count| sum.checked_add(count?))
}

#[cfg(test)]
mod tests {
    use super::{count, version};

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,8"), Some(5));
        assert_eq!(count("3-0"), None);
        assert_eq!(count(""), None);
        assert_eq!(count("0-18446744073709551615"), None);
        assert_eq!(count("1-18446744073709551615,7"), None, "more than can be counted");
    }

    #[test]
    fn releases_are_read() {
        assert_eq!(version("6.18.5-x86_64\n"), Some((6, 18)));
        assert_eq!(version("5.4"), Some((5, 4)));
        assert_eq!(version(""), None);
    }
}
