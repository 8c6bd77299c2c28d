//! Runs `examples/echo.rs` and talks to it over a thousand connections at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const CONNECTIONS: usize = 1000;
/// Descriptors that a process has open for other things.
const SPARE: usize = 64;

/// The built example; `cargo test` builds it beside the tests, unless it is told to build one test.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let name = format!("echo{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    assert!(program.is_file(), "{}: first `cargo build --examples`", program.display());
    program
}

/// Raises the limit on open files of this process, and of those that it starts. Returns the limit.
#[cfg(unix)]
fn most_files() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is valid; both calls only exchange numbers.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit), 0);
        limit.rlim_cur = limit.rlim_max.min(10_000);
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit), 0);
    }
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
fn most_files() -> usize {
    usize::MAX
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().expect("the server runs until it is ended");
        self.0.wait().expect("the server ends");
    }
}

fn start(workers: usize) -> (Server, String) {
    let mut command = Command::new(program());
    command.arg("127.0.0.1:0").env("SATEEN_WORKERS", workers.to_string()).stdout(Stdio::piped());
    let mut server = Server(command.spawn().expect("the example can be started"));
    let output = server.0.stdout.take().expect("its output is a pipe");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("it says where it listens");
    let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
    (server, address)
}

#[test]
fn a_thousand_connections_at_once() {
    let files = most_files();
    let count = CONNECTIONS.min(files.saturating_sub(SPARE));
    if count < CONNECTIONS {
        eprintln!("only {count} connections: this process may open {files} files");
    }
    for workers in [1, 2] {
        let (_server, address) = start(workers);
        let connect = |i: usize| {
            let mut stream = TcpStream::connect(&address).expect("a connection");
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
            // The system keeps 128 connections that are not accepted yet. Others try again after a
            // second.
            if i.is_multiple_of(100) {
                stream.write_all(b"?").expect("sent");
                stream.read_exact(&mut [0]).expect("an answer");
            }
            stream
        };
        let mut connections: Vec<_> = (0..count).map(connect).collect();
        for round in 0..3 {
            let message = |i: usize| format!("{round}: what {i} says\n").repeat(20);
            for (i, connection) in connections.iter_mut().enumerate() {
                connection.write_all(message(i).as_bytes()).expect("sent");
            }
            // The last one first: no connection waits for another.
            for (i, connection) in connections.iter_mut().enumerate().rev() {
                let mut answer = vec![0; message(i).len()];
                connection.read_exact(&mut answer).expect("an answer");
                assert_eq!(answer, message(i).as_bytes());
            }
        }
        for mut connection in connections {
            connection.shutdown(Shutdown::Write).expect("said goodbye");
            assert_eq!(connection.read(&mut [0]).expect("the end"), 0);
        }
    }
}
