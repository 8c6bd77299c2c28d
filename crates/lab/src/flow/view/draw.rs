//! The picture of a run.

use super::super::units::{grouped, per_second, time};
use super::super::watch::{History, Look, Rates, Wanted};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph};

const SENT: Color = Color::Yellow;
const RECEIVED: Color = Color::Cyan;
const DEPTH: Color = Color::Magenta;
const SLOW: Color = Color::Red;
/// In a smaller window there is room only for the counts.
const SMALLEST: (u16, u16) = (50, 14);
/// How many lines the bars and the percentiles take, with their frame.
const BELOW: u16 = 10;

/// What does not change during a run.
#[derive(Clone, Debug)]
pub(in super::super) struct Title {
    pub(in super::super) threads: usize,
    /// The rest, in words.
    pub(in super::super) rest: String,
}

/// Draws everything.
pub(in super::super) fn draw(
    frame: &mut Frame<'_>,
    title: &Title,
    wanted: &Wanted,
    history: &History,
) {
    let nothing = Look::default();
    let look = history.last().unwrap_or(&nothing);
    let area = frame.area();
    let rates = history.now();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        frame.render_widget(Paragraph::new(counts(look, &rates)), area);
        return;
    }
    let below = BELOW.min(area.height / 2);
    let rows = [
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Min(5),
        Constraint::Length(below),
        Constraint::Length(1),
    ];
    let [head, state, graph, lower, keys] = Layout::vertical(rows).areas(area);
    let name = Span::from(" sateen flow ").black().on_cyan();
    frame.render_widget(Line::from(vec![name, Span::from(format!(" {}", title.rest))]), head);
    frame.render_widget(Paragraph::new(self::state(title, wanted, look, &rates)), state);
    chart(frame, graph, history);
    let thirds = [Constraint::Fill(1), Constraint::Fill(1), Constraint::Length(19)];
    let [queues, workers, waits] = Layout::horizontal(thirds).areas(lower);
    self::queues(frame, queues, look);
    self::workers(frame, workers, &rates, wanted.slow);
    self::waits(frame, waits, look);
    frame.render_widget(help(keys.width), keys);
}

/// Returns the two lines below the title: what is wanted, and what is.
fn state(title: &Title, wanted: &Wanted, look: &Look, rates: &Rates) -> Vec<Line<'static>> {
    let of_all = |rate: f64| {
        let all = per_second(rate * title.threads as f64);
        if title.threads == 1 {
            format!("{all}/s")
        } else {
            format!("{all}/s = {} × {}", title.threads, per_second(rate))
        }
    };
    let mut first = vec![
        Span::from(format!(" wanted: sent {}", of_all(wanted.send_rate))).fg(SENT),
        Span::from(format!("   received {}", of_all(wanted.receive_rate))).fg(RECEIVED),
    ];
    if wanted.paused {
        first.push(Span::from("   "));
        first.push(Span::from(" paused ").black().on_yellow());
    }
    if wanted.slow > 0 {
        first.push(Span::from(format!("   {} slow", wanted.slow)).fg(SLOW));
    }
    let [sent, received, rest] = counted(look, rates);
    let second = Line::from(vec![
        Span::from(format!("         {sent}")).fg(SENT),
        Span::from(format!("   {received}")).fg(RECEIVED),
        Span::from(format!("   {rest}")),
    ]);
    vec![Line::from(first), second]
}

/// Returns the counts in words.
fn counted(look: &Look, rates: &Rates) -> [String; 3] {
    let dropped = match look.dropped {
        0 => String::new(),
        n => format!("   dropped {}", grouped(n)),
    };
    [
        format!("sent {} ({}/s)", grouped(look.sent), per_second(rates.sent)),
        format!("received {} ({}/s)", grouped(look.received), per_second(rates.received)),
        format!("in queue {}{dropped}", grouped(look.in_queue())),
    ]
}

/// Returns what a small window has room for.
fn counts(look: &Look, rates: &Rates) -> Vec<Line<'static>> {
    let lines = counted(look, rates).into_iter();
    lines.chain(["q ends it".to_owned()]).map(Line::from).collect()
}

/// Draws the sent and received rates over time.
fn chart(frame: &mut Frame<'_>, area: Rect, history: &History) {
    let points = |rate: fn(&Rates) -> f64| -> Vec<(f64, f64)> {
        history.rates().map(|r| (r.at.as_secs_f64(), rate(r))).collect()
    };
    let (sent, received) = (points(|r| r.sent), points(|r| r.received));
    let highest = sent.iter().chain(&received).map(|p| p.1).fold(0.0, f64::max);
    let top = nice(highest);
    let end = history.last().map_or(0.0, |look| look.at.as_secs_f64());
    let begin = sent.first().map_or(0.0, |p| p.0).min(end - 1.0).max(0.0);
    // The two lines above are the legend: they have the same colours.
    let line = |color, data| {
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(color))
            .data(data)
    };
    let x = Axis::default()
        .bounds([begin, end.max(begin + 1.0)])
        .labels([format!("{begin:.0} s"), format!("{end:.0} s")])
        .style(Style::new().dark_gray());
    let y = Axis::default()
        .bounds([0.0, top])
        .labels(["0".to_owned(), per_second(top / 2.0), per_second(top)])
        .style(Style::new().dark_gray());
    let chart = Chart::new(vec![line(SENT, &sent), line(RECEIVED, &received)])
        .block(Block::bordered().title(" items a second ").border_style(Style::new().dark_gray()))
        .x_axis(x)
        .y_axis(y);
    frame.render_widget(chart, area);
}

/// Returns the next of 1, 2, 5, 10 … that is not below `value`.
fn nice(value: f64) -> f64 {
    let magnitude = 10f64.powf(value.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * magnitude);
    steps.into_iter().find(|step| *step >= value).unwrap_or(steps[3])
}

/// A labelled bar.
struct Bar {
    name: String,
    value: f64,
    /// The value in words.
    text: String,
    color: Color,
}

fn queues(frame: &mut Frame<'_>, area: Rect, look: &Look) {
    let bar = |(i, depth): (usize, &u64)| Bar {
        name: i.to_string(),
        value: *depth as f64,
        text: grouped(*depth),
        color: DEPTH,
    };
    let all: Vec<Bar> = look.depths.iter().enumerate().map(bar).collect();
    bars(frame, area, " items in queue ", &all);
}

fn workers(frame: &mut Frame<'_>, area: Rect, rates: &Rates, slow: usize) {
    let bar = |(i, rate): (usize, &f64)| Bar {
        name: i.to_string(),
        value: *rate,
        text: per_second(*rate),
        color: if i < slow { SLOW } else { RECEIVED },
    };
    let all: Vec<Bar> = rates.workers.iter().enumerate().map(bar).collect();
    bars(frame, area, " worker: items a second ", &all);
}

/// Draws one bar a line, as many as there is room for. The longest fills its line.
fn bars(frame: &mut Frame<'_>, area: Rect, title: &'static str, bars: &[Bar]) {
    let block = Block::bordered().title(title).border_style(Style::new().dark_gray());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let longest = bars.iter().map(|b| b.value).fold(1.0, f64::max);
    let names = bars.iter().map(|b| b.name.len()).max().unwrap_or(0);
    let texts = bars.iter().map(|b| b.text.len()).max().unwrap_or(0);
    let columns = [
        Constraint::Length(names as u16 + 1),
        Constraint::Fill(1),
        Constraint::Length(texts as u16 + 1),
    ];
    let room = usize::from(inner.height);
    // The last line says how many bars have no room.
    let shown = if bars.len() > room { room.saturating_sub(1) } else { bars.len() };
    let mut rows = inner.rows();
    for (bar, row) in bars[..shown].iter().zip(&mut rows) {
        let [name, strip, text] = Layout::horizontal(columns).areas(row);
        frame.render_widget(Line::from(format!("{:>names$}", bar.name)), name);
        let gauge = Gauge::default()
            .ratio((bar.value / longest).clamp(0.0, 1.0))
            .use_unicode(true)
            .label("")
            .gauge_style(Style::new().fg(bar.color));
        frame.render_widget(gauge, strip);
        frame.render_widget(Line::from(format!(" {:>texts$}", bar.text)), text);
    }
    if let Some(row) = rows.next()
        && shown < bars.len()
    {
        let hidden = bars.len() - shown;
        frame.render_widget(Line::from(format!("… and {hidden} more")).dark_gray(), row);
    }
}

fn waits(frame: &mut Frame<'_>, area: Rect, look: &Look) {
    let all = [
        ("50 %", look.waits.p50),
        ("90 %", look.waits.p90),
        ("99 %", look.waits.p99),
        ("max", look.waits.max),
    ];
    let lines = all.map(|(name, wait)| Line::from(format!("{name:>4} {:>10}", time(wait))));
    let block = Block::bordered().title(" wait in queue ").border_style(Style::new().dark_gray());
    frame.render_widget(Paragraph::new(lines.to_vec()).block(block), area);
}

/// Keys and what they do, in the longest words that fit into `width`.
fn help(width: u16) -> Line<'static> {
    const KEYS: [&str; 5] = ["↑↓", "→←", "p", "s S", "q"];
    const WORDS: [[&str; 5]; 3] = [
        ["send rate", "receive rate", "pause", "one more, one less slow handler", "end"],
        ["send rate", "receive rate", "pause", "slow handlers", "end"],
        ["send", "receive", "pause", "slow", "end"],
    ];
    let line = |words: [&'static str; 5], after: &'static str| {
        let pairs = KEYS.into_iter().zip(words);
        let spans = pairs.flat_map(|(key, what)| {
            let key = Span::from(format!(" {key} ")).black().on_gray();
            [key, Span::from(format!(" {what}{after}"))]
        });
        Line::from(spans.collect::<Vec<_>>())
    };
    let lines = WORDS.map(|words| line(words, "  "));
    let fitting = lines.into_iter().find(|line| line.width() <= usize::from(width));
    fitting.unwrap_or_else(|| line(WORDS[2], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_fit_the_smallest_view() {
        for width in SMALLEST.0..200 {
            let line = help(width);
            assert!(line.width() <= usize::from(width), "{width}: {line}");
            assert!(line.to_string().contains(" end"), "{line}");
        }
        assert!(help(80).to_string().contains("slow handlers"));
        assert!(help(100).to_string().contains("one more, one less slow handler"));
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let tops = [0.0, 1.0, 1.5, 99.0, 1000.0, 5.1e6].map(nice);
        assert_eq!(tops, [1.0, 1.0, 2.0, 100.0, 1000.0, 1e7]);
    }
}
