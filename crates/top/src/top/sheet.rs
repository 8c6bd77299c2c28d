//! What has been seen, as lines: one section for each question.

use super::protocol::{Frame, Queue, Runtime, Work, Worker};
use super::seen::Seen;
use super::table::{Cell, Column, cut, table};
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use std::cmp::{Ordering, Reverse};

/// The most letters of a picture of a worker's time.
const PICTURE: usize = 30;
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Workers,
    Waits,
    Locks,
    Queues,
    Report,
    Counts,
}

impl Section {
    pub(super) const ALL: [Self; 6] =
        [Self::Workers, Self::Waits, Self::Locks, Self::Queues, Self::Report, Self::Counts];

    /// Each one's name, and by what it can be sorted, the usual way first.
    const ABOUT: [(&str, &[&str]); Self::ALL.len()] = [
        ("workers", &["number", "busy", "time"]),
        ("waits", &["time", "name", "kind", "worker"]),
        ("locks", &["waiters", "time"]),
        ("queues", &["depth", "rate", "name"]),
        ("report", &["order"]),
        ("counts", &["name", "rate"]),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ABOUT[self as usize].0
    }

    pub(super) fn sorts(self) -> &'static [&'static str] {
        Self::ABOUT[self as usize].1
    }
}

/// How the user wants to see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    /// Only rows that have this text.
    pub(super) filter: String,
    /// Which sort of each section.
    pub(super) sorts: [usize; Section::ALL.len()],
    pub(super) colour: bool,
}

impl Wish {
    fn sort(&self, section: Section) -> &'static str {
        let sorts = section.sorts();
        sorts[self.sorts[section as usize] % sorts.len()]
    }

    fn keeps(&self, row: &[Cell]) -> bool {
        let filter = self.filter.to_lowercase();
        filter.is_empty() || row.iter().any(|cell| cell.text.to_lowercase().contains(&filter))
    }

    fn paint(&self, color: Color) -> Style {
        if self.colour { Style::new().fg(color) } else { Style::new() }
    }
}

/// A table without the wish's filter: its columns, and its rows in order.
type Table = (&'static [Column], Vec<Vec<Cell>>);

/// The lines of a section, the first of which is its title. None: it has nothing to say.
pub(super) fn section(what: Section, seen: &Seen, wish: &Wish, width: usize) -> Vec<Line<'static>> {
    let Some(frame) = seen.last() else { return Vec::new() };
    let (columns, mut rows) = match what {
        Section::Workers => workers(frame, seen, wish),
        Section::Waits => waits(frame, seen, wish),
        Section::Locks => locks(frame, seen, wish),
        Section::Queues => match &frame.queues {
            Some(all) => queues(all, seen, wish),
            None => return vec![Line::raw(cut("queues: their list is locked", width))],
        },
        Section::Report => return report(seen, wish, width),
        Section::Counts => counts(frame, seen, wish),
    };
    rows.retain(|row| wish.keeps(row));
    let count = rows.len();
    if count == 0 && what != Section::Workers {
        return Vec::new();
    }
    let sort = if count > 1 { format!(", by {}", wish.sort(what)) } else { String::new() };
    let head = wish.paint(Color::DarkGray);
    let mut lines = table(columns, &rows, head, width);
    let title = cut(&format!("{}: {count}{sort}", what.name()), width);
    lines.insert(0, Line::styled(title, head.bold()));
    lines
}

/// The lines on top of all sections.
pub(super) fn head(seen: &Seen, wish: &Wish, width: usize) -> Vec<Line<'static>> {
    let Some(frame) = seen.last() else { return Vec::new() };
    let title = format!("{} ({})", frame.program.plain(), frame.pid);
    let mut lines = vec![Line::styled(cut(&title, width), wish.paint(Color::Cyan).bold())];
    let Some(runtimes) = &frame.runtimes else {
        let text = "its list of runtimes is locked: a thread was stopped as it made or dropped one";
        lines.extend(wrapped(text, width, wish.paint(Color::Red)));
        return lines;
    };
    if runtimes.is_empty() {
        lines.push(Line::raw(cut("no runtime is there now", width)));
    }
    for runtime in runtimes {
        let which = match runtimes.len() {
            1 => String::new(),
            _ => format!("runtime {}: ", runtime.number),
        };
        lines.extend(wrapped(&format!("{which}{}", tasks(runtime)), width, Style::new()));
    }
    lines
}

/// The tasks of a runtime by state, in words.
fn tasks(runtime: &Runtime) -> String {
    let workers = runtime.workers.len();
    let ended = runtime.workers.iter().fold(0_u64, |sum, worker| sum.saturating_add(worker.ended));
    let mut out = format!("{workers} worker{}; tasks: ", if workers == 1 { "" } else { "s" });
    match &runtime.tasks {
        None => out.push_str("not known, a worker was stopped with their list locked"),
        Some(tasks) => {
            out.push_str(&format!(
                "{} running, {} ready, {} waiting, {} queued",
                tasks.running, tasks.ready, tasks.waiting, tasks.queued
            ));
            if tasks.futures > 0 {
                out.push_str(&format!(", {} futures", tasks.futures));
            }
        }
    }
    if runtime.without_stack > 0 {
        out.push_str(&format!(", {} without a stack", runtime.without_stack));
    }
    out + &format!(", {ended} ended")
}

/// Breaks `text` between words.
fn wrapped(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            *line = cut(word, width);
        } else if super::table::width(line) + 1 + super::table::width(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(cut(word, width));
        }
    }
    lines.into_iter().map(|line| Line::styled(line, style)).collect()
}

/// The runtimes of a frame; and whether a row says which it is of.
fn runtimes(frame: &Frame) -> (impl Iterator<Item = &Runtime>, bool) {
    let several = frame.runtimes.as_ref().is_some_and(|all| all.len() > 1);
    (frame.runtimes.iter().flatten(), several)
}

fn numbered(runtime: &Runtime, several: bool, index: u64) -> String {
    if several { format!("{}.{index}", runtime.number) } else { index.to_string() }
}

/// What it is called: its name, or its number and what is known.
fn who(work: &Work) -> String {
    match &work.name {
        Some(name) if work.name_cut => format!("{}…", name.plain()),
        Some(name) => name.plain().to_owned(),
        None => format!("task {}", work.id),
    }
}

/// Where it was spawned: the end of the path tells.
fn place(work: &Work) -> String {
    let Some(at) = &work.spawned_at else { return String::new() };
    let at = at.plain();
    let from = at.rmatch_indices('/').nth(1).map_or(0, |(slash, _)| slash + 1);
    at[from..].to_owned()
}

/// A time in few letters.
pub(super) fn time(nanos: u64) -> String {
    let seconds = nanos as f64 / 1e9;
    match seconds {
        s if s < 0.000_95 => format!("{:.0} µs", s * 1e6),
        s if s < 0.95 => format!("{:.0} ms", s * 1e3),
        s if s < 99.5 => format!("{s:.1} s"),
        s if s < 5970.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

/// A rate with three digits or more.
fn per_second(rate: Option<f64>) -> String {
    match rate {
        None => String::new(),
        Some(rate) if rate >= 1e6 => format!("{rate:.3e}/s"),
        Some(rate) => format!("{rate:.*}/s", usize::from(rate < 100.0) + usize::from(rate < 10.0)),
    }
}

fn picture(shares: impl Iterator<Item = f64>) -> String {
    let all: Vec<f64> = shares.collect();
    let last = &all[all.len().saturating_sub(PICTURE)..];
    let step = |share: &f64| STEPS[((share * 8.0) as usize).min(STEPS.len() - 1)];
    last.iter().map(step).collect()
}

fn order(a: Option<f64>, b: Option<f64>) -> Ordering {
    b.unwrap_or(-1.0).total_cmp(&a.unwrap_or(-1.0))
}

fn workers(frame: &Frame, seen: &Seen, wish: &Wish) -> Table {
    const COLUMNS: &[Column] = &[
        Column::number("#", 0),
        Column::text("does", 5, 0),
        Column::number("busy", 0),
        Column::text("over time", 6, 6),
        Column::number("queue", 4),
        Column::number("ready", 8),
        Column::number("waits", 9),
        Column::text("runs", 0, 8),
        Column::number("for", 3),
        Column::text("spawned at", 7, 12),
    ];
    let (all, several) = runtimes(frame);
    let mut all: Vec<(&Runtime, &Worker)> =
        all.flat_map(|it| it.workers.iter().map(move |worker| (it, worker))).collect();
    let busy = |&(runtime, worker): &(&Runtime, &Worker)| seen.busy(runtime.number, worker);
    match wish.sort(Section::Workers) {
        "busy" => all.sort_by(|a, b| order(busy(a), busy(b))),
        "time" => all.sort_by_key(|(_, it)| Reverse(it.runs.as_ref().map(|work| work.for_ns))),
        _ => {}
    }
    let row = |&(runtime, worker): &(&Runtime, &Worker)| {
        let busy = busy(&(runtime, worker));
        let hot = match busy {
            Some(share) if share >= 0.9 => wish.paint(Color::Green),
            Some(share) if share >= 0.3 => wish.paint(Color::Yellow),
            _ => Style::new(),
        };
        let queue = worker.queued.saturating_add(worker.pinned.unwrap_or(0));
        let runs = worker.runs.as_ref();
        vec![
            Cell::from(numbered(runtime, several, worker.index)),
            worker.doing.plain().into(),
            Cell::styled(busy.map(|it| format!("{:.0} %", it * 100.0)).unwrap_or_default(), hot),
            Cell::styled(picture(seen.shares(runtime.number, worker.index)), hot),
            queue.to_string().into(),
            worker.ready.to_string().into(),
            worker.suspended.to_string().into(),
            runs.map(who).unwrap_or_default().into(),
            runs.map(|work| time(work.for_ns)).unwrap_or_default().into(),
            runs.map(place).unwrap_or_default().into(),
        ]
    };
    (COLUMNS, all.iter().map(row).collect())
}

fn waits(frame: &Frame, seen: &Seen, wish: &Wish) -> Table {
    const COLUMNS: &[Column] = &[
        Column::number("for", 0),
        Column::text("who", 0, 8),
        Column::text("waits for", 4, 16),
        Column::text("last held by", 5, 12),
        Column::number("worker", 8),
        Column::text("spawned at", 7, 12),
    ];
    let (all, several) = runtimes(frame);
    let mut all: Vec<_> = all.flat_map(|it| it.waits.iter().map(move |wait| (it, wait))).collect();
    // Those of several runtimes, and of any program.
    all.sort_by_key(|(_, wait)| Reverse(wait.work.for_ns));
    match wish.sort(Section::Waits) {
        "name" => all.sort_by_key(|(_, wait)| who(&wait.work)),
        "kind" => all.sort_by_key(|(_, wait)| (wait.kind.clone(), wait.address.clone())),
        "worker" => all.sort_by_key(|(it, wait)| (it.number, wait.worker)),
        _ => {}
    }
    let rows = all.iter().map(|(runtime, wait)| {
        let long = match wait.work.for_ns {
            10_000_000_000.. => wish.paint(Color::Red),
            1_000_000_000.. => wish.paint(Color::Yellow),
            _ => Style::new(),
        };
        let what = match wait.address.plain() {
            "0x0" => wait.kind.plain().to_owned(),
            address => format!("{} {address}", wait.kind.plain()),
        };
        let holder = seen.holder(runtime.number, &wait.address);
        vec![
            Cell::styled(time(wait.work.for_ns), long),
            who(&wait.work).into(),
            what.into(),
            holder.unwrap_or_default().into(),
            numbered(runtime, several, wait.worker).into(),
            place(&wait.work).into(),
        ]
    });
    (COLUMNS, rows.collect())
}

fn locks(frame: &Frame, seen: &Seen, wish: &Wish) -> Table {
    const COLUMNS: &[Column] = &[
        Column::number("waiters", 0),
        Column::text("what", 0, 16),
        Column::number("longest", 3),
        Column::text("last held by", 5, 12),
        Column::number("runtime", 8),
    ];
    let (all, several) = runtimes(frame);
    let mut all: Vec<_> = all
        .flat_map(|it| it.places.iter().map(move |place| (it, place)))
        .filter(|(_, place)| place.waiters > 1)
        .collect();
    all.sort_by_key(|(_, place)| Reverse((place.waiters, place.longest_ns)));
    if wish.sort(Section::Locks) == "time" {
        all.sort_by_key(|(_, place)| Reverse(place.longest_ns));
    }
    let rows = all.iter().map(|(runtime, place)| {
        vec![
            Cell::styled(place.waiters.to_string(), wish.paint(Color::Magenta)),
            format!("{} {}", place.kind.plain(), place.address.plain()).into(),
            time(place.longest_ns).into(),
            seen.holder(runtime.number, &place.address).unwrap_or_default().into(),
            if several { runtime.number.to_string() } else { String::new() }.into(),
        ]
    });
    (COLUMNS, rows.collect())
}

fn queues(all: &[Queue], seen: &Seen, wish: &Wish) -> Table {
    const COLUMNS: &[Column] = &[
        Column::text("queue", 0, 8),
        Column::number("depth", 0),
        Column::number("of", 5),
        Column::number("in", 4),
        Column::number("out", 3),
        Column::text("workers", 6, 0),
        Column::number("dropped", 7),
    ];
    let mut all: Vec<&Queue> = all.iter().collect();
    match wish.sort(Section::Queues) {
        "name" => all.sort_by_key(|queue| &queue.name),
        "rate" => all.sort_by(|a, b| order(seen.rates(a).1, seen.rates(b).1)),
        _ => all.sort_by_key(|queue| Reverse(queue.depth)),
    }
    let rows = all.iter().map(|queue| {
        let (came, went) = seen.rates(queue);
        let name = match queue.closed {
            true => format!("{} (closed)", queue.name.plain()),
            false => queue.name.plain().to_owned(),
        };
        vec![
            Cell::from(name),
            Cell::styled(queue.depth.to_string(), wish.paint(Color::Magenta)),
            queue.capacity.to_string().into(),
            per_second(came).into(),
            per_second(went).into(),
            format!("{} of {} busy", queue.busy, queue.workers).into(),
            match queue.dropped {
                0 => String::new(),
                count => count.to_string(),
            }
            .into(),
        ]
    });
    (COLUMNS, rows.collect())
}

/// What the workers have counted, without what they have not met.
fn counts(frame: &Frame, seen: &Seen, wish: &Wish) -> Table {
    const COLUMNS: &[Column] = &[
        Column::text("what", 0, 8),
        Column::number("count", 0),
        Column::number("growth", 4),
        Column::number("runtime", 8),
    ];
    let (all, several) = runtimes(frame);
    let mut all: Vec<_> = all
        .flat_map(|it| seen.counts(it).map(move |count| (it.number, count)))
        .filter(|(_, (_, sum, _))| *sum > 0)
        .collect();
    if wish.sort(Section::Counts) == "rate" {
        all.sort_by(|(_, a), (_, b)| order(a.2, b.2));
    }
    let rows = all.iter().map(|(number, (name, sum, rate))| {
        vec![
            Cell::from(name.plain()),
            sum.to_string().into(),
            per_second(*rate).into(),
            if several { number.to_string() } else { String::new() }.into(),
        ]
    });
    (COLUMNS, rows.collect())
}

/// Deadlocks, and whether anything can go on.
fn report(seen: &Seen, wish: &Wish, width: usize) -> Vec<Line<'static>> {
    let Some(report) = &seen.report else { return Vec::new() };
    let mut lines = Vec::new();
    for told in &report.runtimes {
        let found = told.deadlocks.iter().chain(&told.blocked);
        for text in found {
            lines.extend(wrapped(text.plain(), width, wish.paint(Color::Red)));
        }
    }
    if lines.is_empty() {
        return lines;
    }
    let title = wish.paint(Color::DarkGray).bold();
    lines.insert(0, Line::styled(cut("report", width), title));
    lines
}

/// All of it as text.
pub(super) fn text(seen: &Seen, width: usize) -> String {
    let wish = Wish::default();
    let mut lines = head(seen, &wish, width);
    for what in Section::ALL {
        let section = section(what, seen, &wish, width);
        if !section.is_empty() {
            lines.push(Line::default());
            lines.extend(section);
        }
    }
    lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
