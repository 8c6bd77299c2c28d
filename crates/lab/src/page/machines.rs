//! Where the figures come from, and how fit the hosts were.

use super::runs::Run;
use crate::plot::{escaped, number};
use std::time::{Duration, UNIX_EPOCH};

/// Returns a table with a column for each run, and what is wrong with each.
pub(super) fn table(runs: &[Run]) -> String {
    let mut rows = String::new();
    for (name, of) in ROWS {
        let cells: Vec<String> = runs.iter().map(of).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        rows += &format!("<tr><th scope=\"row\">{name}");
        for cell in cells {
            rows += &format!("<td>{}", escaped(&cell));
        }
        rows.push('\n');
    }
    let heads: String =
        runs.iter().map(|r| format!("<th scope=\"col\">{}", escaped(&r.label))).collect();
    let mut out = format!(
        "<section id=\"machines\"><h2>Where the figures come from</h2>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Machines\"><table>\
         <caption>Each figure is a median; its interval holds the median with 95 per cent \
         confidence.</caption>\n<thead><tr><th scope=\"col\">Run{heads}</thead>\n<tbody>\n\
         {rows}</tbody></table></div>\n"
    );
    for run in runs {
        for complaint in complaints(run) {
            let label = if runs.len() > 1 { format!("{}: ", run.label) } else { String::new() };
            out += &format!("<p class=\"bad\">{}</p>\n", escaped(&(label + &complaint)));
        }
    }
    out + "</section>\n"
}

type Row = (&'static str, fn(&Run) -> String);

const ROWS: [Row; 12] = [
    ("Processor", |run| text(run, "cpu")),
    ("Cores", |run| run.cores().map_or(String::new(), |n| n.to_string())),
    ("System", |run| text(run, "kernel")),
    ("Target", |run| text(run, "target")),
    ("Compiler", |run| text(run, "rustc")),
    ("Build", |run| text(run, "profile")),
    ("Version of the lab", |run| text(run, "lab")),
    ("Commit", |run| text(run, "commit")),
    ("Measured", |run| run.document.machine.whole("unix_time").map_or(String::new(), date)),
    ("Time for each figure", |run| {
        run.document.machine.number("budget_s").map_or(String::new(), |s| format!("{s} s"))
    }),
    ("Load before the run", |run| {
        run.document.machine.number("load_1min").map_or(String::new(), number)
    }),
    ("Figures", fitness),
];

fn text(run: &Run, key: &str) -> String {
    run.document.machine.text(key).unwrap_or_default().plain().to_owned()
}

/// Returns how many figures there are, and how many of them are marked as unfit.
fn fitness(run: &Run) -> String {
    let count = run.document.metrics().count();
    let noted = |of: &dyn Fn(&str) -> bool| {
        run.document.metrics().filter(|m| run.notes(&m.id).iter().any(|n| of(n))).count()
    };
    let crowded = noted(&is_crowded);
    let disturbed = noted(&|n| !is_crowded(n));
    let mut text = count.to_string();
    if crowded > 0 {
        text += &format!("; {crowded} with more threads than cores");
    }
    if disturbed > 0 {
        text += &format!("; {disturbed} disturbed by other programs");
    }
    text
}

/// Returns whether a note says that there were more threads than cores.
pub(super) fn is_crowded(note: &str) -> bool {
    note.contains(" on ") && note.contains(" core")
}

/// Returns what is wrong with the run as a whole, one sentence each.
fn complaints(run: &Run) -> Vec<String> {
    let machine = &run.document.machine;
    let mut found = Vec::new();
    if let Some(why) = machine.text("partial") {
        found.push(format!("The run is not complete: {}.", why.plain()));
    }
    if machine.text("sizes").is_some_and(|sizes| sizes == *"smoke") {
        found.push("The smallest sizes: this shows that all works, and measures nothing.".into());
    }
    if machine.text("opt_level").is_some_and(|level| level != *"3") {
        found.push("This is not a release build: its figures mean nothing.".to_owned());
    }
    let load = machine.number("load_1min");
    if let (Some(load), Some(cores)) = (load, run.cores())
        && load > 0.5 * cores as f64
    {
        let load = number(load);
        found.push(format!("The machine was busy before the run: load {load} on {cores} cores."));
    }
    found
}

/// Returns a time in seconds since 1970 as a date, such as `2026-11-24 10:20 UTC`.
pub(crate) fn date(seconds: u64) -> String {
    let Some(_) = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)) else {
        return String::new();
    };
    let days = seconds / 86_400;
    if days > 3_000_000 {
        return String::new();
    }
    // Days since 1 March of year 0, so that the leap day is a year's last.
    let days = days as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_795_515_604), "2026-11-24 10:20 UTC");
        assert_eq!(date(u64::MAX), "");
    }
}
