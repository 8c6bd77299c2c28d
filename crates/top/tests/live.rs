//! `sateen-top` looks at a real program: the facade's example `inspect`, which `.ci/run inspect`
//! builds, and whose path it puts into `SATEEN_EXAMPLE`. Without that there is nothing to look at.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, assert_lost, assert_refused, text};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn example() -> Option<OsString> {
    let program = std::env::var_os("SATEEN_EXAMPLE");
    if program.is_none() {
        eprintln!("skipped: SATEEN_EXAMPLE does not name a program");
    }
    program
}

/// Starts the program for longer than the test takes.
fn start(program: &OsString, folder: &Folder) -> Child {
    let mut command = Command::new(program);
    command.arg("600").env("XDG_RUNTIME_DIR", folder.path());
    command.spawn().expect("the program starts")
}

fn end(mut child: Child) {
    child.kill().expect("killed");
    child.wait().expect("ended");
}

/// Looks until what is printed has all of `words`.
fn until(folder: &Folder, program: &str, words: &[&str]) -> String {
    let start = Instant::now();
    loop {
        let done = folder.output(&[program, "--once", "--columns", "150"]);
        let (printed, errors) = (text(&done.stdout), text(&done.stderr));
        if words.iter().all(|word| printed.contains(word)) {
            return printed;
        }
        assert!(start.elapsed() < PATIENCE, "no {words:?}: {printed}{errors}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_deadlock_and_a_queue_are_seen_until_the_program_dies() {
    let Some(example) = example() else { return };
    let folder = Folder::new();
    let child = start(&example, &folder);
    let program = child.id().to_string();
    let words =
        ["3 workers; tasks: ", "cook A", "cook B", "deadlock: task ", "kitchen", " busy", "/s"];
    let printed = until(&folder, &program, &words);
    assert!(printed.contains("which waits for mutex 0x"), "{printed}");
    let json = folder.output(&[&program, "--format", "json"]).stdout;
    let frame: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(frame["frame"]["queues"][0]["name"], "kitchen", "{frame}");
    assert!(text(&folder.output(&[]).stdout).contains(&program));
    // A process that is stopped does not answer.
    let process = Pid::from_child(&child);
    kill_process(process, Signal::STOP).expect("it runs");
    assert_lost(&folder.output(&[&program, "--once"]), "does not answer");
    kill_process(process, Signal::CONT).expect("it is there");
    until(&folder, &program, &["deadlock: task "]);
    end(child);
    assert_refused(&folder.output(&[&program]), "is gone: nobody serves its socket");
}

#[test]
fn two_programs_of_one_name_are_both_seen() {
    let Some(example) = example() else { return };
    let folder = Folder::new();
    let both = [start(&example, &folder), start(&example, &folder)];
    for child in &both {
        until(&folder, &child.id().to_string(), &["cook A"]);
    }
    let listed = text(&folder.output(&[]).stdout);
    assert_eq!(listed.lines().filter(|line| line.ends_with("  inspect")).count(), 2, "{listed}");
    assert_refused(&folder.output(&["inspect"]), "2 programs have the name `inspect`");
    both.into_iter().for_each(end);
    assert_refused(&folder.output(&[]), "no program can be looked at");
}
