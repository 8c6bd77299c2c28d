//! `sateen-top` sees the pools of a program.

#![cfg(all(feature = "inspect", unix, not(miri)))]

mod common;

use common::{is_child, pool, run_child, stderr};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Asks this program for a frame.
fn frame() -> String {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").expect("set");
    let mut sockets = fs::read_dir(std::path::Path::new(&folder).join("sateen")).expect("there");
    let socket = sockets.next().expect("one").expect("read").path();
    let mut stream = UnixStream::connect(socket).expect("connected");
    stream.write_all(b"{\"version\":1,\"command\":\"frame\"}\n").expect("sent");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("an answer");
    line
}

/// Waits until so many pools are seen.
fn until(count: usize) -> String {
    let is_wanted = |frame: &String| frame.matches("\"workers\":[").count() == count;
    sateen_testkit::until_some(|| Some(frame()).filter(is_wanted))
}

#[test]
fn pools_are_seen_until_they_end() {
    const NAME: &str = "pools_are_seen_until_they_end";
    if !is_child() {
        let folder = std::env::temp_dir().join(format!("rayon-core-{}", std::process::id()));
        fs::create_dir(&folder).expect("made");
        let run = folder.to_str().expect("UTF-8");
        let child = run_child(NAME, &[("SATEEN_INSPECT", "1"), ("XDG_RUNTIME_DIR", run)]);
        assert!(child.status.success(), "{}", stderr(&child));
        fs::remove_dir_all(&folder).expect("removed");
        return;
    }
    assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
    until(1);
    let (two, one) = (pool(2), pool(1));
    until(3);
    let (go, wait) = channel::<()>();
    one.spawn(move || wait.recv().expect("sent"));
    drop(two);
    until(2);
    // A pool whose handle has gone is there as long as its jobs run.
    drop(one);
    let start = Instant::now();
    while !frame().contains("\"doing\":\"works\"") {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", frame());
    }
    go.send(()).expect("received");
    until(1);
}
