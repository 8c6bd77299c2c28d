//! The view on a terminal, and the keys to play with it.

mod draw;
mod keys;
#[cfg(test)]
mod picture;

use super::load::Load;
use super::watch::History;
pub(super) use draw::Title;
use draw::draw;
use keys::{Action, act};
use ratatui::crossterm::event::{self, Event};
use ratatui::{DefaultTerminal, try_init, try_restore};
use sateen::channel::{Receiver, RecvTimeoutError, bounded};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two pictures.
const TICK: Duration = Duration::from_millis(250);
/// How many events wait for a terminal that takes no picture. The others stay in the terminal.
const EVENTS: usize = 64;

/// Returns whether there is a terminal that can show a view: to read keys from, and to draw on.
pub(super) fn is_possible() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb" || term.is_empty());
    !dumb && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Shows `load` until the user, or `stop`, ends it, or the terminal vanishes. Returns `false` if
/// the terminal refuses at once.
pub(super) fn show(load: &Load, title: &Title, stop: &AtomicBool) -> bool {
    let Ok(mut terminal) = try_init() else {
        // The first step may have succeeded.
        let _ = try_restore();
        return false;
    };
    // The user sees that the view has ended. No one else has to know.
    let _ = watch(&mut terminal, load, title, stop);
    if terminal.show_cursor().is_err() {
        // Its destructor would try again, and print a complaint that no one reads.
        std::mem::forget(terminal);
    }
    let _ = try_restore();
    true
}

/// Reads the terminal's events on a thread of its own. If the terminal has vanished, reading may
/// never end, so nobody waits for that thread.
///
/// # Errors
/// The thread cannot be started.
fn events() -> io::Result<Receiver<Event>> {
    let (sender, events) = bounded(EVENTS);
    let read = move || {
        while let Ok(event) = event::read()
            && sender.send(event).is_ok()
        {}
    };
    thread::Builder::new().name("keys".to_owned()).spawn(read)?;
    Ok(events)
}

/// # Errors
/// The terminal is gone.
fn watch(
    terminal: &mut DefaultTerminal,
    load: &Load,
    title: &Title,
    stop: &AtomicBool,
) -> io::Result<()> {
    let events = events()?;
    let mut history = History::default();
    while !stop.load(Ordering::Relaxed) {
        history.add(load.look());
        terminal.draw(|frame| draw(frame, title, &load.wanted(), &history))?;
        let next = Instant::now() + TICK;
        loop {
            match events.recv_deadline(next) {
                Ok(Event::Key(key)) => match act(key, load.wanted(), title.threads) {
                    Some(Action::End) => return Ok(()),
                    Some(Action::Change(wanted)) => load.change(wanted),
                    None => continue,
                },
                Ok(Event::Resize(..)) => {}
                Ok(_) => continue,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            terminal.draw(|frame| draw(frame, title, &load.wanted(), &history))?;
        }
    }
    Ok(())
}
