//! The thread that serves the socket: it answers each line with a line.

use super::VERSION;
use super::asker::{Desk, Question};
use super::frame::{Program, error};
use super::look::Look;
use super::place;
use super::registry::Registry;
use sateen_base::os::{self, PerProcess};
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
/// The most bytes of a line that is read.
const LINE: usize = 4096;
/// Room for a line that is written, made at the start.
const ROOM: usize = 1 << 20;
/// How long a reader may take to make room for the answers to what it has sent at once.
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
        os::say(format_args!("nobody can look at this program: {reason}"));
    }
}

fn try_start() -> io::Result<()> {
    // Whoever may connect has the process's user, and perhaps not what it has gained besides.
    if os::has_gained_privileges() {
        return Err(io::Error::other("it has gained privileges, which clients could use"));
    }
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
    // A client may go while it is written to, and a trace be written into a pipe.
    let asks = move || {
        os::block_broken_pipes();
        asker.serve();
    };
    let serves = move || {
        os::block_broken_pipes();
        server.serve();
    };
    thread("sateen-ask").spawn(asks)?;
    thread("sateen-inspect").spawn(serves)?;
    Ok(())
}

extern "C" fn remove() {
    if let Some(path) = PATH.get(OnceLock::new).get() {
        _ = std::fs::remove_file(path);
    }
}

/// Writes all of `bytes`, and counts off the time for which it waits. False: the connection has
/// ended, or the time is over.
fn send(mut stream: &UnixStream, mut bytes: &[u8], left: &mut Duration) -> bool {
    loop {
        match stream.write(bytes) {
            Ok(count) if count == bytes.len() => return true,
            Ok(count) if count > 0 => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && !left.is_zero() => {
                let start = Instant::now();
                let milliseconds = left.as_millis() as i32 + 1;
                if os::wait_writable(stream.as_raw_fd(), milliseconds).is_err() {
                    return false;
                }
                *left = left.saturating_sub(start.elapsed());
            }
            _ => return false,
        }
    }
}

/// A connection, and what has been read of its next line.
struct Client {
    stream: UnixStream,
    line: [u8; LINE],
    len: usize,
    /// For the answer to its question, or for its turn to ask.
    waits: bool,
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

enum Command {
    Hello,
    Frame,
    Ask(Question),
}

/// Reads a line, or says what is wrong with it.
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
        ("trace start", _) => Ok(Command::Ask(Question::TraceStart)),
        ("trace stop", Some(file)) => Ok(Command::Ask(Question::TraceStop(file.into_owned()))),
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
            if let Some(client) = client.as_ref().filter(|client| !client.waits) {
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
        // Not everywhere as the listener is.
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        match self.clients.iter_mut().find(|client| client.is_none()) {
            Some(place) => *place = Some(Client { stream, line: [0; LINE], len: 0, waits: false }),
            None => {
                error(&mut self.out, "8 others are looking at this program already");
                send(&stream, &self.out, &mut Duration::default());
            }
        }
    }

    /// Reads what there is, and answers whole lines. False: the connection has ended.
    fn read(&mut self, at: usize) -> bool {
        let Some(client) = &mut self.clients[at] else { return true };
        match client.stream.read(&mut client.line[client.len..]) {
            Ok(0) => return false,
            Ok(count) => client.len += count,
            Err(error) => {
                return matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock);
            }
        }
        self.lines(at)
    }

    /// Answers the whole lines that have been read, up to a question. False: the connection has
    /// ended.
    fn lines(&mut self, at: usize) -> bool {
        let mut left = WRITE_LIMIT;
        loop {
            let Some(client) = &mut self.clients[at] else { return true };
            let Some(end) = client.line[..client.len].iter().position(|&byte| byte == b'\n') else {
                if client.len == LINE {
                    error(&mut self.out, "a line has at most 4095 bytes");
                    send(&client.stream, &self.out, &mut left);
                    return false;
                }
                return true;
            };
            let command = command(&client.line[..end]);
            // One question at a time.
            client.waits = self.asked.is_some() && matches!(command, Ok(Command::Ask(_)));
            if client.waits {
                return true;
            }
            client.line.copy_within(end + 1..client.len, 0);
            client.len -= end + 1;
            match command {
                Ok(Command::Hello) => self.program.hello(&mut self.out),
                Ok(Command::Frame) => {
                    let time = self.start.elapsed().as_nanos() as u64;
                    self.program.frame(time, &mut self.look, &mut self.out);
                }
                Ok(Command::Ask(question)) => {
                    if self.desk.ask(question) {
                        client.waits = true;
                        let until = Instant::now() + ANSWER_LIMIT;
                        self.asked = Some(Asked { client: at, until });
                        return true;
                    }
                    error(&mut self.out, "a question before this one has no answer yet");
                }
                Err(text) => error(&mut self.out, &text),
            }
            if !self.send(at, &mut left) {
                return false;
            }
        }
    }

    /// Sends `out`, as [`send`].
    fn send(&mut self, at: usize, left: &mut Duration) -> bool {
        let Some(client) = &mut self.clients[at] else { return true };
        send(&client.stream, &self.out, left)
    }

    /// Passes on the answer to a question, if it is there or overdue, and goes on with the lines
    /// that have waited for that.
    fn collect(&mut self) {
        let Some(asked) = &self.asked else { return };
        let at = asked.client;
        if !self.desk.collect(&mut self.out) {
            if Instant::now() < asked.until {
                return;
            }
            error(&mut self.out, "the workers and their locks have given no answer for 3 s");
        }
        self.asked = None;
        if at < CLIENTS && !self.send(at, &mut { WRITE_LIMIT }) {
            self.drop_client(at);
        }
        for at in 0..CLIENTS {
            let waited = self.clients[at].as_mut().is_some_and(|it| std::mem::take(&mut it.waits));
            if waited && !self.lines(at) {
                self.drop_client(at);
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
