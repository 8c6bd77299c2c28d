//! The picture of a program.

use super::super::seen::Seen;
use super::super::sheet::{Section, head, section};
use super::super::table::cut;
use super::keys::State;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use sateen_top::foreign::visible;

/// Lines of a section that are shown in any case: its title, its heads, a row.
const LEAST: usize = 3;

const HELP: [&str; 11] = [
    "q, Esc     end",
    "space, f   freeze, and go on",
    "s          sort in another way",
    "/          show only what has a text",
    "Tab, 1-6   one section; 0 shows all",
    "up, down   scroll a section",
    "r          ask for a report",
    "d          write the report to a file",
    "t          start a trace; again: save it",
    "?          these keys",
    "Bars show the share of time a worker was busy.",
];

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, seen: &Seen, state: &mut State) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut lines = head(seen, &state.wish, width);
    if seen.last().is_none() {
        lines.push(Line::raw("…"));
    }
    // A line at the end is the keys'.
    let room = height.saturating_sub(1);
    lines.truncate(room);
    let room = room - lines.len();
    if state.help {
        lines.extend(HELP.iter().take(room).map(|line| Line::raw(cut(line, width))));
    } else if let Some(only) = state.only {
        let all = section(only, seen, &state.wish, width);
        // Never past the last screen.
        state.top = state.top.min(all.len().saturating_sub(room));
        let nothing = all.is_empty().then(|| Line::raw(format!("{}: none", only.name())));
        lines.extend(nothing);
        lines.extend(all.into_iter().skip(state.top).take(room));
    } else {
        let all = Section::ALL.map(|only| section(only, seen, &state.wish, width));
        lines.extend(shared_out(all, room));
    }
    frame.render_widget(Text::from(lines), Rect { height: area.height.saturating_sub(1), ..area });
    if height > 0 {
        let bottom = Rect { y: area.bottom() - 1, height: 1, ..area };
        frame.render_widget(foot(state, width), bottom);
    }
}

/// Shares the room out among sections. Each has a few lines first, and then the first ones as many
/// as they want.
fn shared_out(
    sections: [Vec<Line<'static>>; Section::ALL.len()],
    room: usize,
) -> Vec<Line<'static>> {
    let sections: Vec<_> = sections.into_iter().filter(|lines| !lines.is_empty()).collect();
    let mut shares: Vec<usize> = Vec::new();
    let mut left = room;
    for lines in &sections {
        // And a blank line between two.
        let share = lines.len().min(LEAST).min(left.saturating_sub(1));
        shares.push(share);
        left = left.saturating_sub(share + 1);
    }
    // Round by round, so that a long section leaves the others something.
    let mut grows = true;
    while left > 0 && grows {
        grows = false;
        for (share, lines) in shares.iter_mut().zip(&sections) {
            if left > 0 && *share < lines.len() {
                (*share, left, grows) = (*share + 1, left - 1, true);
            }
        }
    }
    let mut out = Vec::new();
    for (lines, share) in sections.into_iter().zip(shares).filter(|(_, share)| *share > 0) {
        if !out.is_empty() {
            out.push(Line::default());
        }
        out.extend(lines.into_iter().take(share));
    }
    out
}

/// The last line: what is typed, what was done, or the keys.
fn foot(state: &State, width: usize) -> Line<'static> {
    let text = if state.typing {
        format!("filter: {}_", state.wish.filter)
    } else if !state.note.is_empty() {
        state.note.clone()
    } else {
        let mut text = String::new();
        for (holds, what) in [(state.frozen, "frozen  "), (state.tracing, "tracing  ")] {
            text.push_str(if holds { what } else { "" });
        }
        if !state.wish.filter.is_empty() {
            text.push_str(&format!("filter: {}  ", state.wish.filter));
        }
        text + "q end  ? keys  s sort  / filter  space freeze  d report  t trace  1-6 sections"
    };
    // A note may quote a path, and a filter is whatever was typed.
    Line::styled(cut(&visible(&text), width), Style::new().add_modifier(Modifier::REVERSED))
}

#[cfg(test)]
mod tests {
    use super::super::super::protocol::parse;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    const FRAME: &str = r#"{"version":1,"frame":{"program":"bakery","pid":7,"time_ns":1,
        "runtimes":[{"number":1,"workers":[{"index":0,"doing":"works","busy_ns":1,"idle_ns":0,
        "asleep_ns":0,"ended":3,"queued":12,"pinned":null,"ready":1,"suspended":2,"runs":
        {"id":4,"name":"baker 漢字","spawned_at":"/a/b/src/main.rs:7:9","for_ns":1500000000}}],
        "tasks":null,"waits":[{"worker":0,"kind":"timer","address":"0x0","id":9,"name":null,
        "spawned_at":null,"for_ns":30000000}],"places":[]}],
        "queues":[{"number":2,"name":"oven","depth":1,"capacity":0,"sent":null,"handled":1,
        "dropped":0,"workers":1,"busy":0,"closed":true}]}}"#;

    fn screen(state: &mut State, width: u16, height: u16) -> String {
        let mut seen = Seen::default();
        let answer = parse(FRAME.as_bytes()).expect("of the protocol");
        seen.add(answer.frame.expect("a frame"));
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a backend");
        terminal.draw(|frame| draw(frame, &seen, state)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn it_fits_any_terminal() {
        for width in [1, 7, 20, 40, 80, 120, 200] {
            for height in [1, 2, 5, 12, 40] {
                for state in [
                    State::default(),
                    State { help: true, ..State::default() },
                    State { only: Some(Section::Queues), top: 999, ..State::default() },
                    State { typing: true, ..State::default() },
                ] {
                    screen(&mut state.clone(), width, height);
                }
            }
        }
        let wide = screen(&mut State::default(), 120, 20);
        for part in [
            "bakery (7)",
            "not known, a worker was stopped",
            "baker 漢字",
            "1.5 s",
            "src/main.rs:7:9",
            "task 9",
            "timer",
            "oven (closed)",
        ] {
            assert!(wide.contains(part), "no `{part}`: {wide}");
        }
        let narrow = screen(&mut State::default(), 20, 40);
        assert!(narrow.contains("workers: 1") && narrow.contains("task 9"), "{narrow}");
    }

    #[test]
    fn a_section_alone_scrolls_to_its_end_and_no_further() {
        let mut state = State { only: Some(Section::Workers), top: 999, ..State::default() };
        let screen = screen(&mut state, 80, 20);
        assert_eq!(state.top, 0);
        assert!(screen.contains("workers: 1"), "{screen}");
    }
}
