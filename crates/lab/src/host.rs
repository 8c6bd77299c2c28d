//! The machine: what it is, and whether it is fit for the figure being taken.

use crate::costs::Costs;
use crate::proc::{self, CpuTicks};
use sateen_base::os;
use sateen_top::foreign::Foreign;
use serde_json::{Map, Value, json};
use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Share of the machine's time that other processes may use before a figure is marked.
const BUSY: f64 = 0.10;
/// Share of our time that the hypervisor may take before a figure is marked.
const STOLEN: f64 = 0.03;

/// Returns how many threads can run at once. Asks the system only once, because it answers slowly.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(os::usable_cores)
}

/// Note on a figure: other processes used that share of the machine's processor time.
const BUSY_WORD: &str = "busy";
/// Note on a figure: the hypervisor took that share of it.
const STOLEN_WORD: &str = "stolen";

/// Returns whether `note` says that there were more threads than cores.
pub(crate) fn is_crowd(note: &str) -> bool {
    note.contains(" threads on ")
}

/// Returns whether `note` says that the machine was not ours alone.
pub(crate) fn is_disturbance(note: &str) -> bool {
    note.starts_with(BUSY_WORD) || note.starts_with(STOLEN_WORD)
}

/// Explains the words in `notes`, if any of them needs it: a line each.
pub(crate) fn legend(notes: &[&str]) -> Vec<String> {
    let has = |word: &str| notes.iter().any(|n| n.starts_with(word));
    let others = has(BUSY_WORD).then_some("busy: share of the machine that other processes used");
    let host = has(STOLEN_WORD).then_some("stolen: share of our time that the hypervisor took");
    others.into_iter().chain(host).map(str::to_owned).collect()
}

/// Returns the names and versions of the crates that were linked.
pub(crate) fn linked_crates() -> Vec<(&'static str, &'static str)> {
    env!("SATEEN_LAB_CRATES").split(',').filter_map(|pair| pair.split_once('=')).collect()
}

/// Returns the commit that the lab was built from. Changes that were not committed do not show.
fn commit() -> Option<&'static str> {
    Some(env!("SATEEN_LAB_COMMIT")).filter(|commit| !commit.is_empty())
}

/// Returns what a reader of the figures must know about their origin.
pub(crate) fn provenance() -> Map<String, Value> {
    let peer = |name: &str| cfg!(feature = "peers") || name.starts_with("sateen");
    let crates: Map<String, Value> = linked_crates()
        .into_iter()
        .filter(|(name, _)| peer(name))
        .map(|(name, version)| (name.to_owned(), json!(version)))
        .collect();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let fields = [
        ("cpu", json!(cpu_model())),
        ("cores", json!(cores())),
        ("kernel", json!(kernel())),
        ("target", json!(env!("SATEEN_LAB_TARGET"))),
        ("rustc", json!(env!("SATEEN_LAB_RUSTC"))),
        ("profile", json!(env!("SATEEN_LAB_PROFILE"))),
        ("opt_level", json!(env!("SATEEN_LAB_OPT_LEVEL"))),
        ("lab", json!(env!("CARGO_PKG_VERSION"))),
        ("commit", commit().map_or(Value::Null, Value::from)),
        ("crates", Value::Object(crates)),
        ("asymmetric_fence", json!(sateen_base::fence::is_asymmetric())),
        ("costs", json!(Costs::measure())),
        ("load_1min", json!(proc::load())),
        ("unix_time", json!(started)),
    ];
    fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// Returns one line for the head of a report.
pub(crate) fn summary() -> String {
    let (cpu, cores, kernel) = (cpu_model(), cores(), kernel());
    let rustc = env!("SATEEN_LAB_RUSTC").split(" (").next().unwrap_or("rustc");
    let profile = env!("SATEEN_LAB_PROFILE");
    format!("{cpu}, {cores} usable cores, {kernel}, {rustc}, {profile} build")
}

/// Returns what is wrong with the machine before anything was measured, one sentence each.
pub(crate) fn complaints() -> Vec<String> {
    let mut found = Vec::new();
    if env!("SATEEN_LAB_OPT_LEVEL") != "3" {
        found.push("This is not a release build: its figures mean nothing.".to_owned());
    }
    let cores = cores();
    if let Some(load) = proc::load()
        && load > 0.5 * cores as f64
    {
        found.push(format!("The machine is busy: load {load:.2} on {cores} usable cores."));
    }
    found
}

/// Returns how many threads the system's limit of memory maps leaves room for, if there is a limit.
/// A thread takes four maps (its stack, its signal stack, a guard each), and std aborts the process
/// if the last ones fail.
pub(crate) fn most_threads() -> Option<usize> {
    const MAPS_OF_A_THREAD: usize = 4;
    const MAPS_OF_THE_REST: usize = 200;
    let maps = proc::memory_map_limit()?;
    Some(maps.saturating_sub(MAPS_OF_THE_REST) / MAPS_OF_A_THREAD)
}

fn cpu_model() -> String {
    let named = proc::cpu_model().map(Foreign::from);
    named.map_or(std::env::consts::ARCH.to_owned(), |name| name.plain().to_owned())
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = Foreign::from(release.trim());
    format!("{} {}", std::env::consts::OS, release.plain()).trim().to_owned()
}

/// Watches the machine while a group is measured.
pub(crate) struct Watch {
    start: Instant,
    ticks: Option<CpuTicks>,
    own: Option<Duration>,
    /// Processor time of child processes, which also counts as ours, in ticks.
    children: u64,
}

impl Watch {
    /// Starts watching.
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            ticks: proc::cpu_ticks(),
            own: os::process_cpu_time(),
            children: proc::ticks_of_children().unwrap_or(0),
        }
    }

    /// Returns why the machine was not fit for figures that need `threads` threads; empty if it
    /// was.
    pub(crate) fn notes(&self, threads: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let cores = cores();
        if threads > cores {
            notes.push(format!("{threads} threads on {cores} core{}", plural(cores)));
        }
        notes.extend(self.disturbance());
        notes
    }

    /// Ticks are 10 ms long, so a shorter time says nothing.
    fn disturbance(&self) -> Option<String> {
        if self.start.elapsed().as_millis() < 200 {
            return None;
        }
        let (before, after) = (self.ticks?, proc::cpu_ticks()?);
        let own = os::process_cpu_time()?.saturating_sub(self.own?);
        let children = proc::ticks_of_children().unwrap_or(0).saturating_sub(self.children);
        let own = own.as_secs_f64() * 100.0 + children as f64;
        let total = after.total.saturating_sub(before.total) as f64;
        if total <= 0.0 {
            return None;
        }
        let others = (after.busy.saturating_sub(before.busy) as f64 - own) / total;
        let stolen = after.stolen.saturating_sub(before.stolen) as f64 / total;
        if others > BUSY {
            Some(format!("{BUSY_WORD} {:.0} %", 100.0 * others))
        } else if stolen > STOLEN {
            Some(format!("{STOLEN_WORD} {:.0} %", 100.0 * stolen))
        } else {
            None
        }
    }
}

/// Returns `s` unless `n` is one.
pub(crate) fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
