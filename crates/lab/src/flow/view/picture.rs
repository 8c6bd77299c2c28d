//! What the view draws of a made-up run, in windows of all sizes. The picture in the guide is of a
//! real run: `scripts/pictures flow` draws it, by a test of `tests/flow_view.rs`.

use super::draw::{Title, draw};
use crate::flow::watch::{History, Look, Waits, Wanted};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use std::time::Duration;

fn title() -> Title {
    Title {
        threads: 8,
        rest: "8 threads, 8 queues of 65,536, clock sampled:8, steal on".to_owned(),
    }
}

/// Half a minute: the receivers' rate rises, then one handler becomes slow.
fn made_up() -> History {
    let mut history = History::default();
    let (mut sent, mut workers) = (0.0, [0.0; 8]);
    for tick in 0..=120u32 {
        let second = f64::from(tick) / 4.0;
        let wave = 1.0 + 0.04 * (second * 2.1).sin();
        let each = if second < 10.0 { 50_000.0 } else { 125_000.0 };
        for (i, worker) in workers.iter_mut().enumerate() {
            let slow = i == 0 && second > 20.0;
            *worker += if slow { 25.0 } else { each / 4.0 * (1.0 + 0.01 * i as f64) };
        }
        sent += 800_000.0 / 4.0 * wave;
        let received: f64 = workers.iter().sum::<f64>().min(sent);
        let depth = (sent - received).max(0.0) / 8.0;
        history.add(Look {
            at: Duration::from_millis(250) * tick,
            sent: sent as u64,
            received: received as u64,
            dropped: 0,
            depths: (0..8).map(|i| (depth * (1.0 + 0.05 * f64::from(i))) as u64).collect(),
            workers: workers.map(|n| n as u64).to_vec(),
            waits: Waits {
                p50: Duration::from_micros(8_300),
                p90: Duration::from_micros(31_000),
                p99: Duration::from_millis(180),
                max: Duration::from_millis(412),
            },
        });
    }
    history
}

fn drawn(width: u16, height: u16, wanted: &Wanted, history: &History) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("in memory");
    terminal.draw(|frame| draw(frame, &title(), wanted, history)).expect("in memory");
    terminal.backend().buffer().clone()
}

const WANTED: Wanted =
    Wanted { send_rate: 100_000.0, receive_rate: 125_000.0, paused: false, slow: 1 };

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width);
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).chain(["\n"]).collect::<String>();
    rows.map(row).collect()
}

#[test]
fn everything_is_on_it() {
    let text = text(&drawn(100, 30, &WANTED, &made_up()));
    let words = [
        "sateen flow",
        "wanted: sent 800 k/s = 8 × 100 k",
        "received 1.00 M/s = 8 × 125 k",
        "1 slow",
        "in queue",
        "wait in queue",
        "412 ms",
        "worker: items a second",
        "end",
    ];
    for word in words {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    let paused = Wanted { paused: true, slow: 0, send_rate: f64::INFINITY, ..WANTED };
    let text = self::text(&drawn(100, 30, &paused, &History::default()));
    assert!(text.contains(" paused ") && text.contains("sent unlimited/s"), "{text}");
}

#[test]
fn any_window_will_do() {
    let history = made_up();
    for width in [1, 10, 49, 50, 64, 250] {
        for height in [1, 5, 13, 14, 24, 100] {
            drawn(width, height, &WANTED, &history);
            drawn(width, height, &WANTED, &History::default());
        }
    }
    let small = text(&drawn(49, 5, &WANTED, &history));
    assert!(small.contains("sent ") && small.contains("q ends it"), "{small}");
}

#[test]
fn what_has_no_room_is_counted() {
    let mut history = History::default();
    history.add(Look { depths: vec![3; 1000], workers: vec![0; 300], ..Look::default() });
    let text = text(&drawn(80, 24, &WANTED, &history));
    assert!(text.contains("… and 993 more"), "{text}");
}
