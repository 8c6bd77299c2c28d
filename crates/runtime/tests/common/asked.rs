//! Asks this process, or another, through its socket.
#![allow(dead_code)]

use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// More than enough on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The folder of this process's socket, which no other process uses.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("sateen-asked-{}", std::process::id()));
        // An earlier process of this number may have left one.
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).expect("made");
        // SAFETY: tests call this before they make a runtime, and nothing else reads the
        // environment meanwhile but through the standard library, which locks it.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", &folder) };
        folder
    })
}

/// The sockets in a folder.
pub(crate) fn sockets(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("sateen")).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("read").path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "sock")).collect()
}

pub(crate) struct Asker {
    stream: UnixStream,
    rest: Vec<u8>,
}

impl Asker {
    /// Connects to this process, which has made a runtime with `Builder::inspect`.
    pub(crate) fn connect() -> Self {
        let [socket] = &sockets(folder())[..] else { panic!("not one socket") };
        Self::connect_to(socket)
    }

    pub(crate) fn connect_to(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        Self { stream, rest: Vec::with_capacity(1 << 20) }
    }

    pub(crate) fn into_stream(self) -> UnixStream {
        self.stream
    }

    pub(crate) fn raw(&mut self) -> &mut UnixStream {
        &mut self.stream
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("sent");
    }

    /// The next line; none at the end.
    pub(crate) fn line(&mut self) -> Option<Value> {
        let start = Instant::now();
        let mut bytes = [0; 1 << 14];
        loop {
            if let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let value: Value = serde_json::from_slice(&line).expect("JSON");
                assert_eq!(value["version"], 1);
                return Some(value);
            }
            assert!(start.elapsed() < PATIENCE, "no line");
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.rest.extend_from_slice(&bytes[..count]),
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return None,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => panic!("no line: {e}"),
            }
        }
    }

    pub(crate) fn ask(&mut self, command: &str) -> Value {
        self.try_ask(command).expect("an answer")
    }

    /// None if the connection ends.
    pub(crate) fn try_ask(&mut self, command: &str) -> Option<Value> {
        let line = format!("{{\"version\":1,\"command\":\"{command}\"}}\n");
        // A line that says why may be there, though it takes no more.
        _ = self.stream.write_all(line.as_bytes());
        self.line()
    }

    /// Asks for frames until one is as wanted.
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let _dog = sateen_testkit::Watchdog::new(what);
        sateen_testkit::until_some(|| Some(self.ask("frame")["frame"].take()).filter(&wanted))
    }
}

/// The runtimes of a frame.
pub(crate) fn runtimes(frame: &Value) -> &[Value] {
    frame["runtimes"].as_array().map_or(&[], Vec::as_slice)
}

/// All that is in such a list of any runtime.
pub(crate) fn all<'a>(frame: &'a Value, list: &'a str) -> impl Iterator<Item = &'a Value> {
    runtimes(frame).iter().flat_map(move |it| it[list].as_array().expect("a list"))
}
