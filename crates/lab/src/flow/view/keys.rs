//! What the keys do.

use super::super::units::step;
use super::super::watch::Wanted;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Change(Wanted),
    End,
}

/// Returns what `key` does to the `wanted` settings of this many workers, or nothing if the key has
/// no meaning.
pub(super) fn act(key: KeyEvent, wanted: Wanted, workers: usize) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let Wanted { send_rate, receive_rate, paused, slow } = wanted;
    let changed = match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return Some(Action::End),
        KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            return Some(Action::End);
        }
        KeyCode::Up => Wanted { send_rate: step(send_rate, true), ..wanted },
        KeyCode::Down => Wanted { send_rate: step(send_rate, false), ..wanted },
        KeyCode::Right => Wanted { receive_rate: step(receive_rate, true), ..wanted },
        KeyCode::Left => Wanted { receive_rate: step(receive_rate, false), ..wanted },
        KeyCode::Char('p' | ' ') => Wanted { paused: !paused, ..wanted },
        KeyCode::Char('s') => Wanted { slow: workers.min(slow + 1), ..wanted },
        KeyCode::Char('S') => Wanted { slow: slow.saturating_sub(1), ..wanted },
        _ => return None,
    };
    (changed != wanted).then_some(Action::Change(changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(codes: &[KeyCode], mut wanted: Wanted) -> Wanted {
        for code in codes {
            match act(KeyEvent::from(*code), wanted, 2) {
                Some(Action::Change(changed)) => wanted = changed,
                other => assert_eq!(other, None, "{code:?}"),
            }
        }
        wanted
    }

    #[test]
    fn keys_change_what_is_wanted() {
        let start = Wanted { send_rate: 1000.0, receive_rate: 500.0, paused: false, slow: 0 };
        let codes = [KeyCode::Up, KeyCode::Left, KeyCode::Char('p'), KeyCode::Char('x')];
        let wanted = after(&codes, start);
        assert_eq!(
            wanted,
            Wanted { send_rate: 2000.0, receive_rate: 200.0, paused: true, slow: 0 }
        );
        let codes = [KeyCode::Down, KeyCode::Right, KeyCode::Char(' ')];
        assert_eq!(after(&codes, wanted), start);
        let more = [KeyCode::Char('s'); 3];
        assert_eq!(after(&more, start).slow, 2, "no more than there are workers");
        assert_eq!(after(&[KeyCode::Char('S'); 3], after(&more, start)).slow, 0);
    }

    #[test]
    fn some_keys_end_it() {
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        let keys = [KeyEvent::from(KeyCode::Char('q')), KeyEvent::from(KeyCode::Esc), control('c')];
        for key in keys {
            assert_eq!(act(key, Wanted::default(), 1), Some(Action::End), "{key:?}");
        }
    }
}
