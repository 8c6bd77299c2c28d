//! Where a client has a trace written to: nothing there keeps the program, or other clients.
//!
//! Some tests start this program again with one more variable, which says what to do.

#![cfg(all(
    feature = "inspect",
    feature = "trace",
    target_os = "linux",
    not(any(miri, sateen_tsan))
))]

#[path = "common/asked.rs"]
mod asked;
#[path = "common/paths.rs"]
mod paths;
#[path = "common/program.rs"]
mod program;

use asked::{Asker, folder};
use program::{Folder, Program, some_sockets};
use sateen_runtime::Runtime;
use sateen_testkit::until;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Not a test by itself: what the children do, until standard input ends.
#[test]
fn the_child() {
    let Some(what) = program::task() else { return };
    if what == "limited" {
        let few = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
        // SAFETY: the call reads the limits. The signal does what it does by itself.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &few), 0);
        }
    }
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    program::wait_for_the_end();
    drop(runtime);
}

fn stop(file: &Path) -> String {
    format!("{{\"version\":1,\"command\":\"trace stop\",\"file\":{:?}}}\n", file.display())
}

#[test]
fn a_trace_may_have_nowhere_to_go() {
    folder();
    let runtime = Runtime::builder().workers(1).inspect(true).build().expect("a runtime");
    let mut asker = Asker::connect();
    let own = folder().join("nowhere");
    fs::create_dir_all(&own).expect("made");
    let no_files = paths::NoFiles::new(&own);
    let leased = paths::leased(&own.join("leased"));
    let mut all: Vec<_> = no_files.paths.iter().map(|it| (&**it, paths::NO_FILE)).collect();
    let path = own.join("leased");
    all.extend(leased.iter().map(|_| (&*path, "Resource temporarily unavailable")));
    all.extend([(Path::new(""), "No such file"), (Path::new("/a\0b"), "NUL byte")]);
    for (file, why) in all {
        assert_eq!(asker.ask("trace start")["trace"]["running"], true);
        runtime.spawn(|| ()).join().expect("ended");
        asker.send(stop(file).replace("\\0", "\\u0000").as_bytes());
        let answer = asker.line().expect("an answer");
        let text = answer["error"].as_str().expect("an error");
        assert!(text.starts_with("cannot write the trace") && text.contains(why), "{text}");
    }
    // What was traced is still there.
    asker.send(stop(&own.join("file")).as_bytes());
    let answer = asker.line().expect("an answer");
    assert!(answer["trace"]["events"].as_u64() > Some(0), "{answer}");
    drop(no_files);
    fs::remove_dir_all(&own).expect("removed");
}

/// A file system that answers nothing, in a folder that only the program of `command` sees there.
/// It ends when this is dropped. None, and a printed line: there can be none here.
fn stuck(command: &mut Command, folder: &Path) -> Option<File> {
    let skip = |why: io::Error| println!("skipped: no file system of our own: {why}");
    let device = File::options().read(true).write(true).open("/dev/fuse").map_err(skip).ok()?;
    let number = device.as_raw_fd();
    let text = |text: String| CString::new(text).expect("no zero");
    let options = text(format!("fd={number},rootmode=40000,user_id=0,group_id=0"));
    let at = text(folder.to_str().expect("UTF-8").to_owned());
    let mount = move || {
        let (none, fuse, root) = (std::ptr::null(), c"fuse".as_ptr(), c"/".as_ptr());
        let private = libc::MS_REC | libc::MS_PRIVATE;
        // SAFETY: these are system calls, and all texts end with a zero.
        let done = unsafe {
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(none, root, none, private, std::ptr::null()) == 0
                && libc::mount(fuse, at.as_ptr(), fuse, 0, options.as_ptr().cast()) == 0
        };
        if done { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: it does nothing but system calls.
    unsafe { command.pre_exec(mount) };
    Some(device)
}

/// Nothing keeps whoever opens a file there from waiting: those that write traces wait alone.
#[test]
fn a_file_system_that_does_not_answer_stops_no_reports() {
    let folder = Folder::new("stuck");
    let place = folder.0.join("fuse");
    fs::create_dir(&place).expect("made");
    let mut command = program::command(&folder.0, "1", "wait", Stdio::piped());
    let Some(device) = stuck(&mut command, &place) else { return };
    let child = match command.spawn() {
        Ok(child) => Program(child),
        Err(why) => return println!("skipped: no file system of our own: {why}"),
    };
    let socket = &some_sockets(&folder.0, 1)[0];
    let [mut first, mut second] = [(); 2].map(|()| Asker::connect_to(socket));
    assert_eq!(first.ask("trace start")["trace"]["running"], true);
    let is_late = |answer: serde_json::Value| {
        let text = answer["error"].as_str().expect("an error");
        let late = ["have given no answer for 3 s", "a question before this one has no answer yet"];
        assert!(late.iter().any(|it| text.contains(it)), "{text}");
    };
    let stop = stop(&place.join("trace"));
    first.send(stop.as_bytes());
    second.send(stop.as_bytes());
    // Each has a limit of its own: one question waits for its answer, the other for its turn.
    for asker in [&mut first, &mut second] {
        is_late(asker.line().expect("an answer"));
        is_late(asker.ask("trace start"));
        assert!(asker.ask("report")["report"].is_object());
        assert!(asker.ask("frame")["frame"].is_object());
    }
    // The file system is gone, and whoever waits for it gets an error.
    drop(device);
    until(|| second.ask("trace start")["trace"].is_object());
    assert_eq!(child.ends_well(), "");
}

/// The limit of a file's size ends programs that go beyond it by themselves.
#[test]
fn a_trace_that_is_too_large_kills_no_program() {
    let folder = Folder::new("limited");
    let child = program::start("limited", &folder.0, "1");
    let mut asker = Asker::connect_to(&some_sockets(&folder.0, 1)[0]);
    assert_eq!(asker.ask("trace start")["trace"]["running"], true);
    asker.send(stop(&folder.0.join("trace")).as_bytes());
    let answer = asker.line().expect("an answer");
    assert!(answer["error"].as_str().expect("an error").contains("File too large"), "{answer}");
    assert!(asker.ask("report")["report"].is_object());
    assert_eq!(child.ends_well(), "");
}
