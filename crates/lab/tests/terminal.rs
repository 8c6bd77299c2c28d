//! Tables on a terminal: as wide as it is, with colours unless they are refused.
#![cfg(target_os = "linux")]

mod common;

use common::{arg, sateen};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

/// Returns what the program prints on a terminal of that width.
fn on_terminal(columns: u16, args: &[&str], variables: &[(&str, &str)]) -> String {
    on_terminals(columns, args, variables, false).replace('\r', "")
}

/// The same, as it is. With `both`, standard error goes there, too.
fn on_terminals(columns: u16, args: &[&str], variables: &[(&str, &str)], both: bool) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
        .expect("a pseudo-terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let size = Winsize { ws_row: 30, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("resized");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let end = open(&*name, flags, Mode::empty()).expect("its terminal");
    let mut command = sateen(args);
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color").envs(variables.iter().copied());
    if both {
        command.stderr(end.try_clone().expect("a copy"));
    }
    let mut child = command.stdin(Stdio::null()).stdout(end).spawn().expect("the program starts");
    // The command keeps its end open.
    drop(command);
    let (mut master, mut text, mut buffer) = (File::from(master), Vec::new(), [0; 4096]);
    // Reading fails once the program has closed its end.
    while let Ok(n @ 1..) = master.read(&mut buffer) {
        text.extend_from_slice(&buffer[..n]);
    }
    assert!(child.wait().expect("it ends").success());
    String::from_utf8(text).expect("UTF-8")
}

fn write_results(path: &Path, value: f64) {
    let metric = serde_json::json!({
        "id": "pool/long-single-fresh/locked-flags-ttas-adaptive-futex/t1", "name": "x",
        "value": value, "units": "ns", "trend": "lower-is-better", "description": "",
        "best": value, "worst": value, "mean": value, "median": value, "sd": 1.0, "runs": 20,
    });
    let machine = serde_json::json!({"cpu": format!("a name with many words, number {value}")});
    let results = serde_json::json!([{"name": "pool", "metrics": [metric]}]);
    let document = serde_json::json!({"schema": 1, "machine": machine, "results": results});
    fs::write(path, document.to_string()).expect("written");
}

#[test]
fn tables_are_as_wide_as_the_terminal_and_coloured() {
    let dir = tempfile::tempdir().expect("a directory");
    let (base, new) = (dir.path().join("base.json"), dir.path().join("new.json"));
    write_results(&base, 100.0);
    write_results(&new, 150.0);
    let args = ["diff", arg(&base), arg(&new)];
    let plain = |text: &str| text.replace("\x1b[31m", "").replace("\x1b[0m", "");
    for columns in [60, 80, 120] {
        let text = on_terminal(columns, &args, &[]);
        assert!(text.contains("\x1b[31m"), "no colour: {text}");
        let longest = plain(&text).lines().map(|line| line.chars().count()).max();
        // Identities are whole.
        assert!(longest <= Some(usize::from(columns).max(63)), "{columns}: {text}");
    }
    let refused: [&[(&str, &str)]; 2] = [&[("NO_COLOR", "1")], &[("TERM", "dumb")]];
    for variables in refused {
        let text = on_terminal(80, &args, variables);
        assert!(!text.contains('\x1b') && text.contains("1.5 × slower"), "{variables:?}: {text}");
    }
    let text = on_terminal(80, &args, &[("NO_COLOR", "")]);
    assert!(text.contains('\x1b'), "an empty NO_COLOR refuses nothing: {text}");
}

#[test]
fn a_terminal_of_20_columns_is_enough() {
    let text = on_terminal(20, &["run", "--smoke", "forkjoin/fib/sateen/w1"], &[]);
    assert!(text.contains("fib/w1") && text.contains("sateen"), "{text}");
}

/// A line that is wrapped would stay when the next one is drawn.
#[test]
fn the_line_of_progress_is_cut_where_the_terminal_ends() {
    const LONG: [&str; 3] =
        ["run", "--smoke", "^pool/short-almostfull/locked-flags-ttas-adaptive-futex/t1"];
    let escapes = regex::Regex::new("\x1b\\[[0-9;?]*[A-Za-z]").expect("an expression");
    for columns in [20, 80] {
        let text = on_terminals(columns, &LONG, &[], true);
        let plain = escapes.replace_all(&text, "\n");
        let drawn: Vec<&str> = plain.split(['\r', '\n']).filter(|it| it.contains("/1")).collect();
        assert!(!drawn.is_empty(), "no progress: {text}");
        for line in drawn {
            assert!(line.chars().count() <= usize::from(columns), "{columns}: `{line}`");
        }
    }
}
