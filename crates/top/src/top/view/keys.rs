//! What the keys do.

use super::super::sheet::{Section, Wish};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks of the program that is looked at, or of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    End,
    Report,
    /// A report, into a file.
    Dump,
    TraceStart,
    TraceStop,
}

/// What the user has chosen.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) wish: Wish,
    /// Only this section; none: all.
    pub(super) only: Option<Section>,
    /// The first line that is shown of it.
    pub(super) top: usize,
    pub(super) frozen: bool,
    /// A filter is being typed.
    pub(super) typing: bool,
    pub(super) tracing: bool,
    /// The keys are explained.
    pub(super) help: bool,
    /// What was done last.
    pub(super) note: String,
}

impl State {
    /// A key was pressed.
    pub(super) fn press(&mut self, key: KeyEvent) -> Option<Action> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Action::End);
        }
        if self.typing {
            self.type_filter(key.code);
            return None;
        }
        self.note.clear();
        match key.code {
            KeyCode::Char('q') => return Some(Action::End),
            KeyCode::Esc if self.help || self.only.is_some() || !self.wish.filter.is_empty() => {
                self.help = false;
                self.only = None;
                self.wish.filter.clear();
            }
            KeyCode::Esc => return Some(Action::End),
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Char(' ' | 'f') => self.frozen = !self.frozen,
            KeyCode::Char('/') => self.typing = true,
            KeyCode::Char('s') => {
                // Of all sections it is the waits that one looks through.
                let section = self.only.unwrap_or(Section::Waits);
                let sort = &mut self.wish.sorts[section as usize];
                *sort = (*sort + 1) % section.sorts().len();
                self.note = format!("{} by {}", section.name(), section.sorts()[*sort]);
            }
            KeyCode::Char('0') => self.show(None),
            KeyCode::Char(digit @ '1'..='6') => {
                self.show(Section::ALL.get(digit as usize - '1' as usize).copied());
            }
            KeyCode::Tab => {
                let next = self.only.map_or(0, |only| only as usize + 1);
                self.show(Section::ALL.get(next).copied());
            }
            KeyCode::Down | KeyCode::Char('j') => self.top += 1,
            KeyCode::Up | KeyCode::Char('k') => self.top = self.top.saturating_sub(1),
            KeyCode::PageDown => self.top += 10,
            KeyCode::PageUp => self.top = self.top.saturating_sub(10),
            KeyCode::Home => self.top = 0,
            KeyCode::Char('r') => return Some(Action::Report),
            KeyCode::Char('d') => return Some(Action::Dump),
            KeyCode::Char('t') if self.tracing => return Some(Action::TraceStop),
            KeyCode::Char('t') => return Some(Action::TraceStart),
            _ => {}
        }
        None
    }

    fn show(&mut self, only: Option<Section>) {
        (self.only, self.top) = (only, 0);
    }

    fn type_filter(&mut self, code: KeyCode) {
        let filter = &mut self.wish.filter;
        match code {
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => {
                filter.clear();
                self.typing = false;
            }
            KeyCode::Backspace => drop(filter.pop()),
            KeyCode::Char(c) if filter.chars().count() < 100 => filter.push(c),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(state: &mut State, keys: &str) -> Vec<Action> {
        keys.chars().filter_map(|c| state.press(KeyEvent::from(KeyCode::Char(c)))).collect()
    }

    #[test]
    fn keys_sort_filter_and_freeze() {
        let mut state = State::default();
        assert_eq!(pressed(&mut state, "1s"), []);
        assert_eq!((state.only, state.wish.sorts[0]), (Some(Section::Workers), 1));
        assert_eq!(state.note, "workers by busy");
        pressed(&mut state, "ss");
        assert_eq!(state.wish.sorts[0], 0, "it begins anew");
        pressed(&mut state, "0s f/quid");
        assert_eq!(state.wish.sorts[Section::Waits as usize], 1);
        assert!(!state.frozen && state.typing);
        assert_eq!(state.wish.filter, "quid", "keys are letters now");
        state.press(KeyEvent::from(KeyCode::Backspace));
        state.press(KeyEvent::from(KeyCode::Enter));
        assert_eq!((state.typing, &*state.wish.filter), (false, "qui"));
        assert_eq!(state.press(KeyEvent::from(KeyCode::Esc)), None);
        assert!(state.wish.filter.is_empty());
    }

    #[test]
    fn some_keys_ask() {
        let mut state = State::default();
        let asked = [Action::Report, Action::Dump, Action::TraceStart, Action::End];
        assert_eq!(pressed(&mut state, "rdtq"), asked);
        state.tracing = true;
        assert_eq!(pressed(&mut state, "t"), [Action::TraceStop]);
        assert_eq!(state.press(KeyEvent::from(KeyCode::Esc)), Some(Action::End));
        state.typing = true;
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(state.press(control), Some(Action::End), "also in the midst of a filter");
    }

    #[test]
    fn a_tab_goes_round_the_sections() {
        let mut state = State::default();
        for expected in Section::ALL.map(Some).into_iter().chain([None]) {
            state.press(KeyEvent::from(KeyCode::Tab));
            assert_eq!(state.only, expected);
        }
    }
}
