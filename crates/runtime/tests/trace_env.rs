//! `SATEEN_TRACE`: what is saved when a process ends in its various ways, and what runs besides.
//!
//! Each test starts this program again with one more variable, which says what to do.

#![cfg(all(feature = "trace", unix))]

#[path = "common/paths.rs"]
mod paths;
#[path = "common/traced.rs"]
mod traced;

use sateen_runtime::{Runtime, Spawn, sleep};
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

const CHILD: &str = "SATEEN_TEST_CHILD";

/// A file that is gone when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("sateen-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// Runs `what` in a process of its own that traces into `file`.
fn child(what: &str, file: impl AsRef<OsStr>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args(["--exact", "the_child", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, what).env("SATEEN_TRACE", file);
    if what == "few events" {
        command.env("SATEEN_TRACE_EVENTS", "32");
    }
    if what == "bad events" {
        command.env("SATEEN_TRACE_EVENTS", "many");
    }
    command.output().expect("the child starts")
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

/// The trace of a child that does `what`, and its output.
fn traced(what: &str) -> (traced::Read, Output) {
    let file = Temporary::new(&what.replace(' ', "-"));
    let output = child(what, &file.0);
    let bytes = std::fs::read(&file.0).unwrap_or_else(|e| panic!("{e}: {}", text(&output)));
    assert!(!bytes.is_empty(), "nothing was saved: {}", text(&output));
    (traced::read(&bytes), output)
}

/// Kills this process by `signal`, as another one would.
fn kill_self(signal: libc::c_int) -> ! {
    // SAFETY: it sends a signal to this process.
    unsafe { libc::kill(libc::getpid(), signal) };
    loop {
        std::thread::park();
    }
}

fn install(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: the handler writes, and ends the process.
    unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
}

extern "C" fn ends_with_7(_: libc::c_int) {
    sateen_base::os::write_stderr(b"the handler from before\n");
    // SAFETY: it ends the process.
    unsafe { libc::_exit(7) };
}

/// Not a test by itself: what the children do.
#[test]
fn the_child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    if what == "handler" {
        install(libc::SIGTERM, ends_with_7);
    }
    if what == "ignored" {
        // SAFETY: the signal is ignored from here on.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }
    if what == "limited" {
        let few = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
        // SAFETY: the call reads the limits. The signal does what it does by itself: it ends the
        // process.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &few), 0);
        }
    }
    if what == "hook" {
        std::panic::set_hook(Box::new(|_| eprintln!("the hook from before")));
    }
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    rt.spawn_with(Spawn::new().name("before the end"), || sleep(Duration::from_millis(1)))
        .join()
        .expect("no panic");
    match &*what {
        "exit" | "bad events" | "limited" => {}
        "pipe at the end" => {
            let file = PathBuf::from(std::env::var_os("SATEEN_TRACE").expect("set"));
            std::fs::remove_file(&file).expect("it was made at the start");
            paths::make_pipe(&file);
        }
        // More than both workers' rings hold.
        "few events" => (0..100).for_each(|_| rt.spawn(|| ()).join().expect("no panic")),
        "two runtimes" => {
            drop(rt);
            let rt = Runtime::builder().workers(1).build().expect("another");
            rt.spawn_with(Spawn::new().name("in the second"), || ()).join().expect("no panic");
        }
        "hook" => {
            let task = rt.spawn_with(Spawn::new().name("panics"), || panic!("in a task"));
            assert!(task.join().is_err());
            // SAFETY: ends the process with nothing that runs at an exit.
            unsafe { libc::_exit(3) };
        }
        "term" | "handler" => kill_self(libc::SIGTERM),
        "ignored" => {
            // SAFETY: it sends a signal to this process, which ignores it.
            unsafe { libc::kill(libc::getpid(), libc::SIGHUP) };
        }
        "abort" => std::process::abort(),
        "fault" => {
            let task = rt.spawn_with(Spawn::new().name("faults"), || {
                let nowhere = std::hint::black_box(8 as *mut u8);
                // SAFETY: none. The kernel refuses it.
                unsafe { nowhere.write_volatile(1) };
            });
            drop(task.join());
        }
        "overflow" => {
            fn down(n: u64) -> u64 {
                let room = std::hint::black_box([n; 64]);
                if n == 0 { 0 } else { down(n + 1) + room[0] }
            }
            drop(rt.spawn_with(Spawn::new().name("too deep"), || down(1)).join());
        }
        "fork" => {
            // SAFETY: the child ends at once.
            unsafe {
                if libc::fork() == 0 {
                    libc::exit(0);
                }
                libc::wait(std::ptr::null_mut());
            }
        }
        other => panic!("{other}: what is that?"),
    }
}

fn has_task(read: &traced::Read, name: &str) -> bool {
    !read.tracks_like(&format!("{name} #")).is_empty()
}

#[test]
fn an_exit_saves() {
    let (read, output) = traced("exit");
    assert!(output.status.success(), "{}", text(&output));
    assert!(has_task(&read, "before the end"));
    assert_eq!(read.workers().len(), 2);
    let (read, output) = traced("few events");
    assert!(output.status.success() && read.lost, "{}", text(&output));
    let (read, output) = traced("two runtimes");
    assert!(output.status.success());
    assert!(has_task(&read, "before the end") && has_task(&read, "in the second"));
    assert!(has_task(&traced("fork").0, "before the end"));
}

#[test]
fn a_panic_saves_and_the_hook_from_before_runs() {
    let (read, output) = traced("hook");
    assert_eq!(output.status.code(), Some(3));
    assert!(has_task(&read, "panics"));
    assert!(text(&output).contains("the hook from before"), "{}", text(&output));
}

#[test]
fn signals_save_and_then_do_what_they_did() {
    for (what, signal) in [("term", libc::SIGTERM), ("abort", libc::SIGABRT)] {
        let (read, output) = traced(what);
        assert_eq!(output.status.signal(), Some(signal), "{}", text(&output));
        assert!(has_task(&read, "before the end"));
    }
    let (read, output) = traced("handler");
    assert_eq!(output.status.code(), Some(7), "{}", text(&output));
    assert!(text(&output).contains("the handler from before"));
    assert!(has_task(&read, "before the end"));
    assert!(traced("ignored").1.status.success());
}

#[test]
fn a_fault_saves_what_led_to_it() {
    let (read, output) = traced("fault");
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{}", text(&output));
    assert!(has_task(&read, "faults"));
    let (read, output) = traced("overflow");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{}", text(&output));
    assert!(has_task(&read, "too deep"));
    assert!(text(&output).contains("overflowed its stack"), "{}", text(&output));
}

#[test]
fn what_cannot_be_done_is_said_in_a_line() {
    let output = child("exit", "/no/such/folder/trace");
    assert!(output.status.success());
    let said = "sateen: SATEEN_TRACE: cannot write the trace `/no/such/folder/trace`: No such file";
    assert_eq!(text(&output).matches(said).count(), 1, "{}", text(&output));
    let file = Temporary::new("limited");
    let output = child("limited", &file.0);
    assert!(output.status.success(), "{}", text(&output));
    let said = format!("sateen: SATEEN_TRACE: cannot write the trace `{}`: File", file.0.display());
    assert_eq!(text(&output).matches(&said).count(), 1, "{}", text(&output));
    let (_, output) = traced("bad events");
    let said = "sateen: SATEEN_TRACE_EVENTS: `many` is no number above 0";
    assert_eq!(text(&output).matches(said).count(), 1, "{}", text(&output));
}

/// The program starts and ends as without the variable, and says why there is no trace.
#[test]
fn what_would_keep_the_process_is_refused() {
    let folder = std::env::temp_dir().join(format!("sateen-{}-keeps", std::process::id()));
    // An earlier process of this number may have been killed.
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir(&folder).expect("made");
    let no_files = paths::NoFiles::new(&folder);
    let mut all: Vec<_> =
        no_files.paths.iter().map(|path| (path.clone(), paths::NO_FILE)).collect();
    #[cfg(target_os = "linux")]
    let leased = paths::leased(&folder.join("leased"));
    #[cfg(target_os = "linux")]
    all.extend(leased.iter().map(|_| (folder.join("leased"), "Resource temporarily unavailable")));
    let refused = |what: &str, path: &std::path::Path, why: &str| {
        let output = child(what, path);
        let said = format!("SATEEN_TRACE: cannot write the trace `{}`: {why}", path.display());
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(text(&output).matches(&said).count(), 1, "{}", text(&output));
    };
    all.iter().for_each(|(path, why)| refused("exit", path, why));
    refused("pipe at the end", &folder.join("changes"), paths::NO_FILE);
    drop(no_files);
    std::fs::remove_dir_all(&folder).expect("removed");
}
