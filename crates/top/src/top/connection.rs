//! A connection to a program: a line is asked, a line comes back.

use super::error::{Error, input};
use super::place::Place;
use super::protocol::{Answer, Frame, Report, Trace, parse, request};
use sateen_top::foreign;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The most bytes of a line.
const LINE: usize = 64 << 20;

pub(super) struct Connection {
    stream: UnixStream,
    /// What was read behind the last line.
    rest: Vec<u8>,
    /// The program, in words.
    who: String,
}

impl Connection {
    /// # Errors
    /// The socket is not this user's, or nobody serves it.
    pub(super) fn open(place: &Place) -> Result<Self, Error> {
        place.check()?;
        let who = match place.pid {
            0 => format!("`{}`", place.path.display()),
            pid => format!("{} ({pid})", place.name.plain()),
        };
        let stream = place.connect().map_err(|e| match e.kind() {
            ErrorKind::ConnectionRefused => {
                input(format!("{who} is gone: nobody serves its socket any more"))
            }
            ErrorKind::WouldBlock => Error::Lost(format!("{who} does not answer")),
            _ => input(format!("cannot look at {who}: {e}")),
        })?;
        let prepared = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(Duration::from_millis(100))))
            .and_then(|()| stream.set_write_timeout(Some(LIMIT)));
        prepared.map_err(|e| input(format!("cannot look at {who}: {e}")))?;
        Ok(Self { stream, rest: Vec::new(), who })
    }

    fn lost(&self, what: &str) -> Error {
        Error::Lost(format!("{} {what}", self.who))
    }

    /// Asks, and returns the line that comes back, without its end.
    fn line(&mut self, command: &str, file: Option<&str>) -> Result<Vec<u8>, Error> {
        let request = request(command, file);
        if self.stream.write_all(request.as_bytes()).is_err() {
            return Err(self.lost("has ended"));
        }
        let until = Instant::now() + LIMIT;
        let mut looked = 0;
        let mut bytes = vec![0; 1 << 16];
        loop {
            if let Some(end) = self.rest[looked..].iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.rest.drain(..=looked + end).collect();
                line.pop();
                return Ok(line);
            }
            looked = self.rest.len();
            if looked > LINE {
                return Err(self.lost("answers with a line that does not end"));
            }
            match self.stream.read(&mut bytes) {
                Ok(0) if self.rest.is_empty() => return Err(self.lost("has ended")),
                Ok(0) => return Err(self.lost("has ended in the middle of a line")),
                Ok(count) => self.rest.extend_from_slice(&bytes[..count]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.lost("has ended")),
            }
            if Instant::now() > until {
                return Err(self.lost("does not answer"));
            }
        }
    }

    /// Asks, and returns that part of the answer, and its line.
    fn ask<T>(
        &mut self,
        command: &str,
        file: Option<&str>,
        part: fn(Answer) -> Option<T>,
    ) -> Result<(T, Vec<u8>), Error> {
        let line = self.line(command, file)?;
        let answer = parse(&line).map_err(|fault| self.lost(&fault))?;
        if let Some(text) = &answer.error {
            return Err(self.lost(&format!("says: {}", text.plain())));
        }
        let part = part(answer).ok_or_else(|| self.lost("answers what was not asked"))?;
        Ok((part, line))
    }

    /// The first answer, as JSON that acts on no terminal.
    pub(super) fn hello_line(&mut self) -> Result<String, Error> {
        let (_, line) = self.ask("hello", None, |it| it.hello)?;
        Ok(foreign::json(&String::from_utf8_lossy(&line)))
    }

    /// A look, likewise.
    pub(super) fn frame_line(&mut self) -> Result<String, Error> {
        let (_, line) = self.ask("frame", None, |it| it.frame)?;
        Ok(foreign::json(&String::from_utf8_lossy(&line)))
    }

    pub(super) fn frame(&mut self) -> Result<Frame, Error> {
        self.ask("frame", None, |it| it.frame).map(|(frame, _)| frame)
    }

    pub(super) fn report(&mut self) -> Result<Report, Error> {
        self.ask("report", None, |it| it.report).map(|(report, _)| report)
    }

    /// Starts a trace, or stops and saves it.
    pub(super) fn trace(&mut self, file: Option<&str>) -> Result<Trace, Error> {
        let command = if file.is_some() { "trace stop" } else { "trace start" };
        self.ask(command, file, |it| it.trace).map(|(trace, _)| trace)
    }
}
