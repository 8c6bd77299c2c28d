//! The server thread of the inspection socket: it answers each line with a line.
//!
//! It never waits for a client. Each round reads what has arrived and answers at most one line per
//! client. Output that a client has no room for is kept. Questions go to the askers, and clients
//! with questions for the same asker take turns. Whatever a client waits for, or makes others wait
//! for, has a time limit (`Client::until`).

use super::VERSION;
use super::asker::{ASKERS, Desk, Question};
use super::frame::{Program, error};
use super::look::Look;
use super::place;
use super::registry::Registry;
use sateen_base::os::{self, PerProcess, Ready};
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, thread};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The most connections at once.
const CLIENTS: usize = 8;
/// The longest line that is read, in bytes.
const LINE: usize = 4096;
/// Initial capacity for an answer.
const ROOM: usize = 1 << 20;
/// How long a client may take to read an answer, or stay silent while another needs its place. Also
/// how long a question may stay unanswered.
const LIMIT: Duration = Duration::from_secs(3);
/// How often to check for answers and time limits.
const TICK: Duration = Duration::from_millis(10);
/// How often to read what workers run, to tell how long it has not changed.
const GLANCE: Duration = Duration::from_secs(1);
/// The pause after a system error that may persist.
const REST: Duration = Duration::from_millis(100);
/// The stack size of the threads.
const STACK: usize = 1 << 20;

/// Each process removes its own socket when it ends.
static PATH: PerProcess<OnceLock<PathBuf>> = PerProcess::new();

/// Opens the socket, or reports why it cannot.
pub(super) fn start() {
    if let Err(reason) = try_start() {
        os::say(format_args!("nobody can look at this program: {reason}"));
    }
}

fn try_start() -> io::Result<()> {
    // A client runs as the process's user, and may lack the privileges that the process has gained.
    if os::has_gained_privileges() {
        return Err(io::Error::other("it has gained privileges, which clients could use"));
    }
    let (listener, path) = place::open()?;
    _ = PATH.get(OnceLock::new).set(path);
    os::at_exit(remove);
    let start = |name: &str, life: Box<dyn FnOnce() + Send>| {
        os::start_thread(Some(name.to_owned()), Some(STACK), life)
    };
    let mut desks = Vec::new();
    for name in ASKERS {
        let desk = Arc::new(Desk::new());
        let asker = Arc::clone(&desk);
        // A trace may exceed the limit on file sizes.
        let asks = move || {
            os::block_write_signals();
            asker.serve();
        };
        start(name, Box::new(asks))?;
        desks.push(Visited { desk, asked: None, next: 0 });
    }
    let mut server = Server {
        listener,
        rests: None,
        clients: (0..CLIENTS).map(|_| Client::new()).collect(),
        program: Program::new(&place::program()),
        look: Look::new(),
        out: Vec::with_capacity(ROOM),
        desks,
        start: Instant::now(),
    };
    // A client may disconnect while it is written to.
    let serves = move || {
        os::block_write_signals();
        server.serve();
    };
    start("sateen-inspect", Box::new(serves))?;
    Ok(())
}

extern "C" fn remove() {
    if let Some(path) = PATH.get(OnceLock::new).get() {
        _ = std::fs::remove_file(path);
    }
}

/// A slot for a connection.
struct Client {
    /// None if the slot is free.
    stream: Option<UnixStream>,
    /// The bytes received of its next lines.
    line: [u8; LINE],
    len: usize,
    state: State,
    /// When the state times out; `expire` handles it.
    until: Instant,
    /// The answer being written, and how much has been sent.
    out: Vec<u8>,
    written: usize,
}

/// What a client waits for.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Nothing: it may send a line.
    Reads,
    /// Room in its own receive buffer for the answer.
    Writes,
    /// Its turn at a desk.
    Asks(Question),
    /// An asker's answer.
    Asked,
}

impl Client {
    fn new() -> Self {
        let (out, until) = (Vec::with_capacity(ROOM), Instant::now());
        let state = State::Reads;
        Self { stream: None, line: [0; LINE], len: 0, state, until, out, written: 0 }
    }

    fn waits(&mut self, state: State) {
        (self.state, self.until) = (state, Instant::now() + LIMIT);
    }

    /// Whether a line is complete, or too long.
    fn has_line(&self) -> bool {
        let line = &self.line[..self.len];
        self.state == State::Reads && (self.len == LINE || line.contains(&b'\n'))
    }

    /// Takes its question, if that is for this desk.
    fn question(&mut self, desk: usize) -> Option<Question> {
        if !matches!(&self.state, State::Asks(question) if question.desk() == desk) {
            return None;
        }
        match std::mem::replace(&mut self.state, State::Asked) {
            State::Asks(question) => Some(question),
            _ => None,
        }
    }
}

/// An asker's desk and the clients that use it.
struct Visited {
    desk: Arc<Desk>,
    asked: Option<Asked>,
    /// The client whose turn it is. If it asks nothing, the next one that does is served.
    next: usize,
}

/// A pending question and its client.
struct Asked {
    /// None if the client no longer waits.
    client: Option<usize>,
    until: Instant,
}

struct Server {
    listener: UnixListener,
    /// Until when no connection is accepted.
    rests: Option<Instant>,
    clients: Vec<Client>,
    program: Program,
    look: Look,
    /// The answer being composed.
    out: Vec<u8>,
    desks: Vec<Visited>,
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

enum Command {
    Hello,
    Frame,
    Ask(Question),
}

/// Parses a line, or says what is wrong with it.
fn command(line: &[u8]) -> Result<Command, Cow<'static, str>> {
    let Ok(request) = serde_json::from_slice::<Request<'_>>(line) else {
        return Err("the line is no request: {\"version\":1,\"command\":\"frame\"}".into());
    };
    let version = request.version;
    if version != VERSION {
        let text = format!("version {version} is asked for, and this program speaks {VERSION}");
        return Err(text.into());
    }
    match (&*request.command, request.file) {
        ("hello", _) => Ok(Command::Hello),
        ("frame", _) => Ok(Command::Frame),
        ("report", _) => Ok(Command::Ask(Question::Report)),
        #[cfg(feature = "trace")]
        ("trace start", _) => Ok(Command::Ask(Question::TraceStart)),
        #[cfg(feature = "trace")]
        ("trace stop", Some(file)) => Ok(Command::Ask(Question::TraceStop(file.into_owned()))),
        #[cfg(not(feature = "trace"))]
        ("trace start", _) | ("trace stop", Some(_)) => {
            Err("this program cannot trace: it was built without sateen's feature `trace`".into())
        }
        ("trace stop", None) => Err("`trace stop` needs a `file`".into()),
        (command, _) => {
            let command = command.escape_debug();
            let text =
                format!("`{command}` is none of hello, frame, report, trace start, trace stop");
            Err(text.into())
        }
    }
}

impl Server {
    fn serve(&mut self) {
        let mut glance = Instant::now();
        loop {
            self.wait();
            self.collect();
            (0..CLIENTS).for_each(|at| self.answer_line(at));
            self.ask();
            self.expire();
            if glance.elapsed() >= GLANCE {
                glance = Instant::now();
                self.glance();
            }
        }
    }

    /// Waits for input or for room to write, then reads and writes.
    fn wait(&mut self) {
        let now = Instant::now();
        self.rests = self.rests.filter(|&until| now < until);
        let listener = if self.rests.is_none() { self.listener.as_raw_fd() } else { -1 };
        let mut all = [(listener, Ready::Read); CLIENTS + 1];
        let mut limit = if self.rests.is_none() { GLANCE } else { REST };
        for (client, (descriptor, ready)) in self.clients.iter().zip(&mut all[1..]) {
            let Some(stream) = &client.stream else {
                *descriptor = -1;
                continue;
            };
            *descriptor = stream.as_raw_fd();
            match client.state {
                State::Reads if client.has_line() => (*descriptor, limit) = (-1, Duration::ZERO),
                State::Reads => {}
                State::Writes => (*ready, limit) = (Ready::Write, limit.min(TICK)),
                State::Asks(_) | State::Asked => (*descriptor, limit) = (-1, limit.min(TICK)),
            }
        }
        let Ok(ready) = os::wait_ready(&all, limit.as_millis() as i32) else {
            return thread::sleep(REST);
        };
        for at in (0..CLIENTS).filter(|at| ready & 2 << at != 0) {
            match self.clients[at].state {
                State::Writes => self.write(at),
                _ => self.read(at),
            }
        }
        // A client that has just sent something is not silent.
        if ready & 1 != 0 {
            self.accept();
        }
    }

    /// Closes a connection and discards a pending answer.
    fn drop_client(&mut self, at: usize) {
        let client = &mut self.clients[at];
        (client.stream, client.len, client.state) = (None, 0, State::Reads);
        self.forget(at);
    }

    /// The client no longer waits for an answer.
    fn forget(&mut self, at: usize) {
        for asked in self.desks.iter_mut().filter_map(|desk| desk.asked.as_mut()) {
            asked.client = asked.client.filter(|&client| client != at);
        }
    }

    fn accept(&mut self) {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            // For example, no file descriptors are left. Other clients may disconnect.
            Err(_) => return self.rests = Some(Instant::now() + REST),
        };
        // On some systems this is not inherited from the listener.
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        let Some(at) = self.place() else {
            error(&mut self.out, "8 others are looking at this program already");
            _ = (&stream).write(&self.out);
            return;
        };
        let client = &mut self.clients[at];
        client.stream = Some(stream);
        client.waits(State::Reads);
    }

    /// Finds a slot for a new client, perhaps that of the client that has been silent for longest.
    fn place(&mut self) -> Option<usize> {
        let free = self.clients.iter().position(|client| client.stream.is_none());
        if free.is_some() {
            return free;
        }
        let now = Instant::now();
        let silent = |&at: &usize| {
            let client = &self.clients[at];
            client.state == State::Reads && client.until < now && !client.has_line()
        };
        let at = (0..CLIENTS).filter(silent).min_by_key(|&at| self.clients[at].until)?;
        error(&mut self.out, "this connection was silent for 3 s, and its place was needed");
        self.say_last(at);
        Some(at)
    }

    /// Sends `out`, as far as there is room, and closes the connection.
    fn say_last(&mut self, at: usize) {
        if let Some(mut stream) = self.clients[at].stream.as_ref() {
            _ = stream.write(&self.out);
        }
        self.drop_client(at);
    }

    /// Reads what has arrived.
    fn read(&mut self, at: usize) {
        let client = &mut self.clients[at];
        let Some(mut stream) = client.stream.as_ref() else { return };
        match stream.read(&mut client.line[client.len..]) {
            Ok(0) => self.drop_client(at),
            Ok(count) => client.len += count,
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => self.drop_client(at),
        }
    }

    /// Answers the first complete line, so each client gets at most one answer per round.
    fn answer_line(&mut self, at: usize) {
        let client = &mut self.clients[at];
        if !client.has_line() {
            return;
        }
        let Some(end) = client.line[..client.len].iter().position(|&byte| byte == b'\n') else {
            error(&mut self.out, "a line has at most 4095 bytes");
            return self.say_last(at);
        };
        let command = command(&client.line[..end]);
        client.line.copy_within(end + 1..client.len, 0);
        client.len -= end + 1;
        match command {
            Ok(Command::Hello) => self.program.hello(&mut self.out),
            Ok(Command::Frame) => {
                let time = self.start.elapsed().as_nanos() as u64;
                self.program.frame(time, &mut self.look, &mut self.out);
            }
            Ok(Command::Ask(question)) => {
                return client.waits(State::Asks(question));
            }
            Err(text) => error(&mut self.out, &text),
        }
        self.reply(at);
    }

    /// Starts to write `out` as the client's answer.
    fn reply(&mut self, at: usize) {
        let client = &mut self.clients[at];
        std::mem::swap(&mut self.out, &mut client.out);
        client.written = 0;
        client.waits(State::Writes);
        self.write(at);
    }

    /// Writes as much of the client's answer as there is room for.
    fn write(&mut self, at: usize) {
        let client = &mut self.clients[at];
        let Some(mut stream) = client.stream.as_ref() else { return };
        while client.written < client.out.len() {
            match stream.write(&client.out[client.written..]) {
                Ok(count) if count > 0 => client.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => return self.drop_client(at),
            }
        }
        client.waits(State::Reads);
        // Keep the larger buffer for the next answer, so that it need not grow again.
        if client.out.capacity() > self.out.capacity() {
            std::mem::swap(&mut self.out, &mut client.out);
        }
    }

    /// Delivers answers to questions.
    fn collect(&mut self) {
        for desk in 0..self.desks.len() {
            let visited = &mut self.desks[desk];
            let Some(asked) = &visited.asked else { continue };
            let client = asked.client;
            if visited.desk.collect(&mut self.out) {
                visited.asked = None;
                client.into_iter().for_each(|at| self.reply(at));
            } else if asked.until < Instant::now() {
                // The client has been told. Later questions fail at once until the asker answers.
                visited.asked = None;
            }
        }
    }

    /// Puts pending questions on free desks.
    fn ask(&mut self) {
        for desk in 0..self.desks.len() {
            while self.desks[desk].asked.is_none() {
                let Visited { desk: at_desk, asked, next } = &mut self.desks[desk];
                let mut turns = (0..CLIENTS).map(|turn| (*next + turn) % CLIENTS);
                let question = |at: usize| Some((at, self.clients[at].question(desk)?));
                let Some((at, question)) = turns.find_map(question) else { break };
                *next = at + 1;
                if at_desk.ask(question) {
                    let until = Instant::now() + LIMIT;
                    *asked = Some(Asked { client: Some(at), until });
                } else {
                    error(&mut self.out, "a question before this one has no answer yet");
                    self.reply(at);
                }
            }
        }
    }

    /// Handles time limits.
    fn expire(&mut self) {
        let now = Instant::now();
        for at in 0..CLIENTS {
            let client = &self.clients[at];
            if client.stream.is_none() || now <= client.until {
                continue;
            }
            match client.state {
                // It may stay as long as other slots are free.
                State::Reads => {}
                State::Writes => self.drop_client(at),
                State::Asks(_) | State::Asked => {
                    self.forget(at);
                    error(
                        &mut self.out,
                        "the workers and their locks have given no answer for 3 s",
                    );
                    self.reply(at);
                }
            }
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
