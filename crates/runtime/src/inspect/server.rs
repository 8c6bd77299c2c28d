//! The thread that serves the socket: it answers each line with a line.

use super::VERSION;
use super::asker::{Desk, Question};
use super::frame::{Program, error};
use super::look::Look;
use super::place;
use super::registry::Registry;
use sateen_base::os::{self, PerProcess};
use sateen_base::prim::time::{Duration, Instant};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;

/// The most connections at once.
const CLIENTS: usize = 8;
/// The most bytes of a line that is read.
const LINE: usize = 4096;
/// Room for a line that is written, made at the start.
const ROOM: usize = 1 << 20;
/// How long a reader may take to make room for more.
const WRITE_LIMIT: Duration = Duration::from_millis(500);
/// How long a question may stay without an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// How often it is looked whether an answer is there.
const ANSWER_TICK: Duration = Duration::from_millis(10);
/// How often workers are looked at, to tell for how long they have run the same.
const GLANCE: Duration = Duration::from_secs(1);
/// Wait after an error of the system's that may last.
const REST: Duration = Duration::from_millis(100);
/// The stacks of the two threads.
const STACK: usize = 1 << 20;

/// Each process removes its own socket at its end.
static PATH: PerProcess<OnceLock<PathBuf>> = PerProcess::new();

/// Opens the socket, or says why there is none.
pub(super) fn start() {
    if let Err(reason) = try_start() {
        eprintln!("sateen: nobody can look at this program: {reason}");
    }
}

fn try_start() -> io::Result<()> {
    let (listener, path) = place::open()?;
    _ = PATH.get(OnceLock::new).set(path);
    os::at_exit(remove);
    let desk = Arc::new(Desk::new());
    let asker = Arc::clone(&desk);
    let thread = |name: &str| thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    let mut server = Server {
        listener,
        clients: (0..CLIENTS).map(|_| None).collect(),
        program: Program::new(&place::program()),
        look: Look::new(),
        out: Vec::with_capacity(ROOM),
        desk,
        asked: None,
        start: Instant::now(),
    };
    thread("sateen-ask").spawn(move || asker.serve())?;
    thread("sateen-inspect").spawn(move || server.serve())?;
    Ok(())
}

extern "C" fn remove() {
    if let Some(path) = PATH.get(OnceLock::new).get() {
        _ = std::fs::remove_file(path);
    }
}

/// A connection, and what has been read of its next line.
struct Client {
    stream: UnixStream,
    line: [u8; LINE],
    len: usize,
}

/// A question that waits for an answer, and whose it is.
struct Asked {
    client: usize,
    until: Instant,
}

struct Server {
    listener: UnixListener,
    clients: Vec<Option<Client>>,
    program: Program,
    look: Look,
    /// The line that is being written.
    out: Vec<u8>,
    desk: Arc<Desk>,
    asked: Option<Asked>,
    start: Instant,
}

/// What a client sends.
#[derive(Deserialize)]
struct Request<'a> {
    version: u32,
    #[serde(borrow, default)]
    command: Cow<'a, str>,
    #[serde(borrow, default)]
    file: Option<Cow<'a, str>>,
}

impl Server {
    fn serve(&mut self) {
        let mut glance = Instant::now();
        loop {
            let limit = if self.asked.is_some() { ANSWER_TICK } else { GLANCE };
            self.wait(limit);
            self.collect();
            if glance.elapsed() >= GLANCE {
                glance = Instant::now();
                self.glance();
            }
        }
    }

    /// Waits for requests, for `limit` at most, and answers them.
    fn wait(&mut self, limit: Duration) {
        let mut all = [self.listener.as_raw_fd(); CLIENTS + 1];
        let mut whose = [CLIENTS; CLIENTS + 1];
        let mut count = 1;
        for (at, client) in self.clients.iter().enumerate() {
            // While its question waits, a client's next lines wait, too.
            let waits = self.asked.as_ref().is_some_and(|asked| asked.client == at);
            if let Some(client) = client.as_ref().filter(|_| !waits) {
                (all[count], whose[count]) = (client.stream.as_raw_fd(), at);
                count += 1;
            }
        }
        let Ok(ready) = os::wait_readable(&all[..count], limit.as_millis() as i32) else {
            return thread::sleep(REST);
        };
        for (bit, &at) in whose[..count].iter().enumerate() {
            if ready & 1 << bit == 0 {
            } else if at == CLIENTS {
                self.accept();
            } else if !self.read(at) {
                self.drop_client(at);
            }
        }
    }

    fn drop_client(&mut self, at: usize) {
        self.clients[at] = None;
        // Its answer, if one comes, is for nobody.
        if let Some(asked) = self.asked.as_mut().filter(|asked| asked.client == at) {
            asked.client = CLIENTS;
        }
    }

    fn accept(&mut self) {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            // Without descriptors, say. Others may end their connections.
            Err(_) => return thread::sleep(REST),
        };
        let prepared = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_write_timeout(Some(WRITE_LIMIT)));
        if prepared.is_err() {
            return;
        }
        match self.clients.iter_mut().find(|client| client.is_none()) {
            Some(place) => *place = Some(Client { stream, line: [0; LINE], len: 0 }),
            None => {
                error(&mut self.out, "8 others are looking at this program already");
                _ = (&stream).write_all(&self.out);
            }
        }
    }

    /// Reads what there is, and answers whole lines. False: the connection has ended.
    fn read(&mut self, at: usize) -> bool {
        let Some(client) = &mut self.clients[at] else { return true };
        match client.stream.read(&mut client.line[client.len..]) {
            Ok(0) => return false,
            Ok(count) => client.len += count,
            Err(error) => return error.kind() == ErrorKind::Interrupted,
        }
        self.lines(at)
    }

    /// Answers the whole lines that have been read, up to a question.
    fn lines(&mut self, at: usize) -> bool {
        loop {
            let Some(client) = &mut self.clients[at] else { return true };
            let Some(end) = client.line[..client.len].iter().position(|&byte| byte == b'\n') else {
                if client.len == LINE {
                    error(&mut self.out, "a line has at most 4095 bytes");
                    _ = client.stream.write_all(&self.out);
                    return false;
                }
                return true;
            };
            let (line, len) = (client.line, client.len);
            client.line.copy_within(end + 1..len, 0);
            client.len -= end + 1;
            if !self.answer(at, &line[..end]) {
                return false;
            }
            if self.asked.as_ref().is_some_and(|asked| asked.client == at) {
                return true;
            }
        }
    }

    /// Answers a line. False: the connection has ended.
    fn answer(&mut self, at: usize, line: &[u8]) -> bool {
        let request = match serde_json::from_slice::<Request<'_>>(line) {
            Ok(request) => request,
            Err(_) => {
                error(
                    &mut self.out,
                    "the line is no request: {\"version\":1,\"command\":\"frame\"}",
                );
                return self.send(at);
            }
        };
        if request.version != VERSION {
            let version = request.version;
            let text = format!("version {version} is asked for, and this program speaks {VERSION}");
            error(&mut self.out, &text);
            return self.send(at);
        }
        let question = match (&*request.command, request.file) {
            ("hello", _) => {
                self.program.hello(&mut self.out);
                return self.send(at);
            }
            ("frame", _) => {
                let time = self.start.elapsed().as_nanos() as u64;
                self.program.frame(time, &mut self.look, &mut self.out);
                return self.send(at);
            }
            ("report", _) => Question::Report,
            ("trace start", _) => Question::TraceStart,
            ("trace stop", Some(file)) => Question::TraceStop(file.into_owned()),
            ("trace stop", None) => {
                error(&mut self.out, "`trace stop` needs a `file`");
                return self.send(at);
            }
            (command, _) => {
                let text = format!(
                    "`{}` is none of hello, frame, report, trace start, trace stop",
                    command.escape_debug()
                );
                error(&mut self.out, &text);
                return self.send(at);
            }
        };
        if self.asked.is_none() && self.desk.ask(question) {
            let until = Instant::now() + ANSWER_LIMIT;
            self.asked = Some(Asked { client: at, until });
            return true;
        }
        error(&mut self.out, "a question before this one has no answer yet");
        self.send(at)
    }

    /// Sends `out`. False: the connection has ended, or nobody reads.
    fn send(&mut self, at: usize) -> bool {
        let Some(client) = &mut self.clients[at] else { return true };
        client.stream.write_all(&self.out).is_ok()
    }

    /// Passes on the answer to a question, if it is there or overdue.
    fn collect(&mut self) {
        let Some(asked) = &self.asked else { return };
        let at = asked.client;
        if !self.desk.collect(&mut self.out) {
            if Instant::now() < asked.until {
                return;
            }
            let text = "the workers and their locks have given no answer for 3 s";
            error(&mut self.out, text);
        }
        self.asked = None;
        if at < CLIENTS && !(self.send(at) && self.lines(at)) {
            self.drop_client(at);
        }
    }

    fn glance(&mut self) {
        let Some(runtimes) = Registry::get().try_runtimes() else { return };
        self.look.begin_round();
        for entry in runtimes.iter() {
            self.look.glance(entry.number, &entry.shared);
        }
        self.look.end_round();
    }
}
