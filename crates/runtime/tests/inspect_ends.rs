//! The socket of a program: where it is, who may use it, and what is left of it.
//!
//! Each test starts this program again with one more variable, which says what to do.

#![cfg(all(feature = "inspect", target_os = "linux", not(any(miri, sateen_tsan))))]

#[path = "common/asked.rs"]
mod asked;
#[path = "common/program.rs"]
mod program;

use asked::{Asker, sockets};
use program::{Folder, Program, some_sockets, wait_for_the_end};
use sateen_runtime::Runtime;
use sateen_testkit::until;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn child(what: &str, folder: &Path, inspect: &str) -> Program {
    program::start(what, folder, inspect)
}

/// Not a test by itself: what the children do.
#[test]
fn the_child() {
    let Some(what) = program::task() else { return };
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    if what == "fork" {
        // SAFETY: the child uses what may be used there: a new runtime.
        let forked = unsafe { libc::fork() };
        if forked == 0 {
            let runtime = Runtime::builder().workers(1).build().expect("a runtime");
            wait_for_the_end();
            drop(runtime);
            // As a program ends, but not as a test does.
            // SAFETY: no other thread exits.
            unsafe { libc::exit(0) };
        }
        let mut status = 0;
        // SAFETY: the status has a place.
        unsafe { libc::waitpid(forked, &mut status, 0) };
        assert_eq!(status, 0);
    }
    wait_for_the_end();
    runtime.spawn(|| ()).join().expect("ended");
}

#[test]
fn the_socket_is_the_users_alone_and_goes_with_the_program() {
    let folder = Folder::new("alone");
    let child = child("wait", &folder.0, "1");
    let [socket] = &some_sockets(&folder.0, 1)[..] else { panic!() };
    let name = socket.file_name().and_then(|it| it.to_str()).expect("a name");
    assert!(name.ends_with(&format!("-{}.sock", child.0.id())), "{name}");
    Asker::connect_to(socket).ask("hello");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(socket), mode(&folder.0.join("sateen"))), (0o600, 0o700));
    assert_eq!(child.ends_well(), "");
    assert!(sockets(&folder.0).is_empty(), "it goes at the end");
}

#[test]
fn what_is_left_of_a_killed_program_goes_with_the_next() {
    let folder = Folder::new("left");
    let mut first = child("wait", &folder.0, "1");
    let left = some_sockets(&folder.0, 1);
    first.0.kill().expect("killed");
    first.0.wait().expect("ended");
    assert_eq!(sockets(&folder.0), left, "nobody has removed it");
    let second = child("wait", &folder.0, "1");
    until(|| sockets(&folder.0) != left && sockets(&folder.0).len() == 1);
    second.ends_well();
}

#[test]
fn without_the_variable_there_is_no_socket() {
    for value in ["0", ""] {
        let folder = Folder::new(&format!("none{value}"));
        assert_eq!(child("wait", &folder.0, value).ends_well(), "");
        assert!(!folder.0.join("sateen").exists());
    }
}

#[test]
fn what_cannot_be_is_said_and_the_program_runs() {
    let folder = Folder::new("value");
    let said = child("wait", &folder.0, "yes").ends_well();
    assert!(said.starts_with("sateen: SATEEN_INSPECT: `yes` is neither 0 nor 1"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");

    let folder = Folder::new("mode");
    fs::create_dir(folder.0.join("sateen")).expect("made");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.0.join("sateen"), open).expect("set");
    let said = child("wait", &folder.0, "1").ends_well();
    assert!(said.contains("others may use it: its mode is 755"), "{said}");

    let folder = Folder::new("link");
    std::os::unix::fs::symlink("/tmp", folder.0.join("sateen")).expect("made");
    let said = child("wait", &folder.0, "1").ends_well();
    assert!(said.contains("it is no folder"), "{said}");

    let folder = Folder::new("long");
    let deep = folder.0.join("x".repeat(120));
    fs::create_dir(&deep).expect("made");
    let said = child("wait", &deep, "1").ends_well();
    assert!(said.starts_with("sateen: nobody can look at this program: `"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");

    // Only root can give a folder away.
    // SAFETY: it always succeeds.
    if unsafe { libc::geteuid() } == 0 {
        let folder = Folder::new("given");
        fs::create_dir(folder.0.join("sateen")).expect("made");
        std::os::unix::fs::chown(folder.0.join("sateen"), Some(12_345), None).expect("given");
        let said = child("wait", &folder.0, "1").ends_well();
        assert!(said.contains("it belongs to user 12345"), "{said}");
    } else {
        eprintln!("skipped: only root can give a folder away");
    }
}

#[test]
fn a_process_that_forked_has_a_socket_of_its_own() {
    let folder = Folder::new("fork");
    let child = child("fork", &folder.0, "1");
    let both = some_sockets(&folder.0, 2);
    let pids =
        both.iter().map(|socket| Asker::connect_to(socket).ask("hello")["hello"]["pid"].as_u64());
    let pids: Vec<_> = pids.collect();
    assert!(pids[0] != pids[1] && pids.contains(&Some(child.0.id().into())), "{pids:?}");
    assert_eq!(child.ends_well(), "");
    assert!(sockets(&folder.0).is_empty(), "each removes its own");
}
