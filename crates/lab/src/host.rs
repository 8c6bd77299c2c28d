//! The machine: what it is, and whether it is fit for the figure being taken.

use sateen_base::os;
use serde_json::{Map, Value, json};
use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Share of the machine that others may use before we say that it is busy.
const BUSY: f64 = 0.10;
/// Share of our time that the hypervisor may take before we say so.
const STOLEN: f64 = 0.03;

/// How many threads can run at once. Asked once: the system takes its time to answer.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(os::usable_cores)
}

/// Note on a figure: others used that share of the machine's processor time.
const BUSY_WORD: &str = "busy";
/// Note on a figure: the hypervisor took that share of it away.
const STOLEN_WORD: &str = "stolen";

/// What the words in `notes` mean, if any of them needs a meaning.
pub(crate) fn legend(notes: &[&str]) -> Option<String> {
    let has = |word: &str| notes.iter().any(|n| n.starts_with(word));
    let others = has(BUSY_WORD).then_some("busy: share of the machine that other processes used");
    let host = has(STOLEN_WORD).then_some("stolen: share of our time that the hypervisor took");
    let lines: Vec<&str> = others.into_iter().chain(host).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Versions of the crates that were linked, as (name, version).
pub(crate) fn linked_crates() -> Vec<(&'static str, &'static str)> {
    env!("SATEEN_LAB_CRATES").split(',').filter_map(|pair| pair.split_once('=')).collect()
}

/// What a reader of the figures must know about where they come from.
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
        ("crates", Value::Object(crates)),
        ("asymmetric_fence", json!(sateen_base::fence::is_asymmetric())),
        ("load_1min", json!(load())),
        ("unix_time", json!(started)),
    ];
    fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// One line for the head of a report.
pub(crate) fn summary() -> String {
    let (cpu, cores, kernel) = (cpu_model(), cores(), kernel());
    let rustc = env!("SATEEN_LAB_RUSTC").split(" (").next().unwrap_or("rustc");
    let profile = env!("SATEEN_LAB_PROFILE");
    format!("{cpu}, {cores} usable cores, {kernel}, {rustc}, {profile} build")
}

/// What is wrong with the machine before anything was measured; one sentence each.
pub(crate) fn complaints() -> Vec<String> {
    let mut found = Vec::new();
    if env!("SATEEN_LAB_OPT_LEVEL") != "3" {
        found.push("This is not a release build: its figures mean nothing.".to_owned());
    }
    let cores = cores();
    if let Some(load) = load()
        && load > 0.5 * cores as f64
    {
        found.push(format!("The machine is busy: load {load:.2} on {cores} usable cores."));
    }
    found
}

/// How many threads the system's limit of memory maps leaves room for, where there is such a limit.
/// A thread takes four (its stack, its signal stack, a guard each), and std aborts the process if
/// the last ones fail.
pub(crate) fn most_threads() -> Option<usize> {
    const MAPS_OF_A_THREAD: usize = 4;
    const MAPS_OF_THE_REST: usize = 200;
    let maps = fs::read_to_string("/proc/sys/vm/max_map_count").ok()?;
    let maps: usize = maps.trim().parse().ok()?;
    Some(maps.saturating_sub(MAPS_OF_THE_REST) / MAPS_OF_A_THREAD)
}

/// Bytes of memory that can be had without swapping, where the system tells.
pub(crate) fn free_memory() -> Option<u64> {
    kilobytes("/proc/meminfo", &["MemAvailable:"]).map(|k| k * 1024)
}

/// Bytes of resident memory and page tables of this process, where the system tells.
pub(crate) fn own_memory() -> Option<u64> {
    kilobytes("/proc/self/status", &["VmRSS:", "VmPTE:"]).map(|k| k * 1024)
}

/// The sum of the fields `names` of `file`.
fn kilobytes(file: &str, names: &[&str]) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let value = |name: &&str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    names.iter().map(value).sum()
}

fn cpu_model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name"));
    model.map_or_else(
        || std::env::consts::ARCH.to_owned(),
        |m| m.trim_start_matches([' ', '\t', ':']).to_owned(),
    )
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned()
}

/// Load average of the last minute, where the system tells.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The machine's CPU time so far, in ticks of 10 ms.
struct Ticks {
    busy: u64,
    stolen: u64,
    total: u64,
}

impl Ticks {
    fn now() -> Option<Self> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let t: Vec<u64> = line.split_whitespace().filter_map(|n| n.parse().ok()).take(8).collect();
        // user nice system idle iowait irq softirq steal
        let total: u64 = t.iter().sum();
        let idle = t.get(3)? + t.get(4)?;
        let stolen = *t.get(7)?;
        Some(Self { busy: total.saturating_sub(idle + stolen), stolen, total })
    }
}

/// Processor time that ended child processes have used, theirs included, in ticks; 0 where the
/// system does not tell.
fn ticks_of_children() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may hold anything.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // state, then ten fields, utime stime cutime cstime
    fields.skip(13).take(2).filter_map(|f| f.parse::<u64>().ok()).sum()
}

/// Watches the machine while a group is measured.
pub(crate) struct Watch {
    start: Instant,
    ticks: Option<Ticks>,
    own: Option<Duration>,
    /// Processor time of child processes, which is ours too, in ticks.
    children: u64,
}

impl Watch {
    /// Starts watching.
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            ticks: Ticks::now(),
            own: os::process_cpu_time(),
            children: ticks_of_children(),
        }
    }

    /// Why the host was not fit for figures that need `threads` threads; empty if it was.
    pub(crate) fn notes(&self, threads: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let cores = cores();
        if threads > cores {
            notes.push(format!("{threads} threads on {cores} core{}", plural(cores)));
        }
        notes.extend(self.disturbance());
        notes
    }

    /// Ticks are 10 ms long, so shorter stretches say nothing.
    fn disturbance(&self) -> Option<String> {
        if self.start.elapsed().as_millis() < 200 {
            return None;
        }
        let (before, after) = (self.ticks.as_ref()?, Ticks::now()?);
        let own = os::process_cpu_time()?.saturating_sub(self.own?);
        let children = ticks_of_children().saturating_sub(self.children);
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

/// `s` unless `n` is one.
pub(crate) fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
