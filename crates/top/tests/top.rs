//! `sateen-top`: which programs it finds, what it prints, and what it says of those that cannot be
//! looked at.
#![cfg(unix)]

mod common;

use common::{Folder, assert_ended, assert_lost, assert_refused, frame, text};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::Output;
use std::time::{Duration, Instant};

#[test]
fn it_lists_programs_and_prints_one() {
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame("a task"));
    let listed = folder.output(&[]);
    assert!(listed.status.success());
    assert_eq!(text(&listed.stdout), "      77  fake\n");
    let json = text(&folder.output(&["--format", "json"]).stdout);
    assert!(json.starts_with(r#"{"version":1,"hello":"#), "{json}");
    for program in ["fake", "77", "fake-77", folder.socket("fake-77").to_str().expect("UTF-8")] {
        let done = folder.output(&[program, "--once", "--every", "0.001"]);
        let printed = text(&done.stdout);
        assert!(done.status.success(), "{}", text(&done.stderr));
        for part in [
            "fake (77)",
            "2 workers; tasks: 1 running, 0 ready, 2 waiting, 5 queued, 4 futures, 6 ended",
            "workers: 2, by number",
            "b/main.rs:3:4",
            "12.0 s  a task  mutex 0x10  task 8",
            "      2  mutex 0x10   12.0 s  task 8",
            "a task     12  1000",
            "deadlock: task 7",
            "all blocked, no timer pending",
            "counts: 3, by name",
            "thefts      6",
        ] {
            assert!(printed.contains(part), "no `{part}`: {printed}");
        }
    }
    let raw = text(&folder.output(&["fake", "--format", "json"]).stdout);
    assert_eq!(raw.trim_end(), frame("a task"), "as the program says it");
}

#[test]
fn it_fits_any_width_without_colour() {
    let folder = Folder::new();
    let wide = "漢字かな".repeat(30);
    folder.serve_frame("fake-77", frame(&wide));
    for width in ["20", "40", "80", "120", "200"] {
        let done = folder.output(&["fake", "--once", "--every", "0.001", "--columns", width]);
        let printed = text(&done.stdout);
        assert!(done.status.success() && printed.contains("workers: 2"), "{printed}");
        let room: usize = width.parse().expect("a number");
        for line in printed.lines() {
            let columns: usize = line.chars().map(|c| if c < '\u{2e80}' { 1 } else { 2 }).sum();
            assert!(columns <= room, "{columns} of {room}: {line}");
        }
        assert!(!printed.contains('\x1b'), "{printed}");
    }
}

/// Requires that nothing that is printed acts on a terminal.
fn assert_tame(done: &Output, args: &[&str]) {
    let acts = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    for bytes in [&done.stdout, &done.stderr] {
        let text = text(bytes);
        assert!(!text.contains(acts), "{args:?}: {text:?}");
    }
}

#[test]
fn text_of_others_cannot_steer_the_terminal() {
    let evil = "\x1b[2J\x07\r\n\u{9b}31m\u{7f}\u{202e}evil\"\\";
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame(evil));
    let name = "x\u{1b}[2J\u{9b}\u{202e}";
    folder.serve_frame(&format!("{name}-78"), frame(evil));
    let hello = json!({"version": 1, "hello": {"program": evil, "pid": 1}}).to_string();
    let hello = hello.replacen(',', ",\t\r", 1) + "\n";
    folder.serve("says-79", move |_, _| Some(hello.clone().into_bytes()));
    let error = json!({"version": 1, "error": evil}).to_string() + "\n";
    folder.serve("refuses-80", move |_, _| Some(error.clone().into_bytes()));
    for args in [
        &[][..],
        &["--format", "json"],
        &["fake", "--format", "json"],
        &[name, "--once", "--every", "0.001"],
        &["refuses", "--once"],
        &["says", "--once"],
        &[evil],
        &["x", evil],
        &["--format", evil],
        &["--columns", evil],
        &[&format!("--{evil}")],
    ] {
        assert_tame(&folder.output(args), args);
    }
    let done = folder.output(&["fake", "--once", "--every", "0.001"]);
    assert_tame(&done, &["--once"]);
    let printed = text(&done.stdout);
    let shown = r#"\u{1b}[2J\u{7}\r\n\u{9b}31m\u{7f}\u{202e}evil"\"#;
    assert!(printed.contains(shown), "{printed}");
    let printed = folder.output(&["fake", "--format", "json"]).stdout;
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text).expect("JSON");
    assert_eq!(read(&printed), read(frame(evil).as_bytes()), "as the program says it");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = Folder::new();
    let none = "no program can be looked at: none has a socket in `";
    assert_refused(&folder.output(&[]), none);
    assert_refused(&folder.output(&["nobody"]), "no program `nobody` can be looked at");
    assert_refused(&folder.output(&["4711"]), "no program `4711` can be looked at");
    assert_refused(&folder.output(&["/no/such.sock"]), "cannot look at `/no/such.sock`: No such");
    fs::remove_dir(folder.path().join("sateen")).expect("removed");
    assert_refused(&folder.output(&[]), none);
    fs::write(folder.path().join("sateen"), "").expect("written");
    assert_refused(&folder.output(&[]), "Not a directory");
}

#[test]
fn a_stale_socket_is_no_program() {
    let folder = Folder::new();
    drop(UnixListener::bind(folder.socket("gone-5")).expect("bound"));
    let done = folder.output(&["gone", "--once"]);
    assert_refused(&done, "gone (5) is gone: nobody serves its socket any more");
    assert_refused(&folder.output(&[]), "no program can be looked at");
    // Beside one that lives, it is not in doubt.
    folder.serve_frame("gone-6", frame("x"));
    assert!(folder.output(&["gone", "--once"]).status.success());
    fs::write(folder.socket("file-7"), "").expect("written");
    assert_refused(&folder.output(&["file"]), "is no socket");
    assert_eq!(text(&folder.output(&[]).stdout), "       6  gone\n");
}

/// One that is stopped accepts nobody, and its socket may have no room for one more.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_accepts_nobody_does_not_answer() {
    let folder = Folder::new();
    let path = folder.socket("full-5");
    let full = UnixListener::bind(&path).expect("bound");
    rustix::net::listen(&full, 0).expect("fewer may wait");
    // There is room for one.
    let _kept = std::os::unix::net::UnixStream::connect(&path).expect("connected");
    assert_lost(&folder.output(&["full", "--once"]), "sateen-top: full (5) does not answer");
    assert_eq!(text(&folder.output(&[]).stdout), "       5  full: full (5) does not answer\n");
    folder.serve_frame("full-6", frame("x"));
    assert_refused(&folder.output(&["full"]), "2 programs have the name `full`");
}

#[test]
fn two_programs_of_one_name_are_told_apart_by_number() {
    let folder = Folder::new();
    folder.serve_frame("twin-8", frame("x"));
    folder.serve_frame("twin-9", frame("x"));
    let both = "2 programs have the name `twin`: `sateen-top 8` or `sateen-top 9`";
    assert_refused(&folder.output(&["twin", "--once"]), both);
    assert!(folder.output(&["9", "--once"]).status.success());
    assert!(folder.output(&["twin-8", "--once"]).status.success());
}

#[test]
fn a_socket_of_another_user_is_refused() {
    let folder = Folder::new();
    folder.serve_frame("other-3", frame("x"));
    if std::os::unix::fs::chown(folder.socket("other-3"), Some(12_345), None).is_err() {
        eprintln!("skipped: only root can give a socket away");
        return;
    }
    assert_refused(&folder.output(&["other"]), "belongs to user 12345, not to you");
    let sockets = folder.path().join("sateen");
    std::os::unix::fs::chown(&sockets, Some(12_345), None).expect("given");
    assert_refused(&folder.output(&[]), "belongs to user 12345, not to you");
}

#[test]
fn lines_that_make_no_sense_are_told_apart() {
    let folder = Folder::new();
    let lines: [(&str, &[u8], &str); 11] = [
        ("empty", b"\n", "answers with an empty line"),
        ("blank", b"  \r\n", "answers with an empty line"),
        (
            "foreign",
            b"HTTP/1.1 400 Bad\x1b Request\n",
            "none of the protocol's: `HTTP/1.1 400 Bad\\u",
        ),
        ("binary", b"\xff\xfe\n", "none of the protocol's"),
        ("bare", b"{}\n", "none of the protocol's: `{}`"),
        ("number", b"{\"version\":1,\"frame\":7}\n", "none of the protocol's"),
        ("deep", &[b'['; 100_000], "has ended in the middle of a line"),
        (
            "newer",
            b"{\"version\":2,\"frame\":\"?\"}\n",
            "version 2 of the protocol, and this `sateen-top`",
        ),
        ("older", b"{\"version\":0}\n", "speaks version 0 of the protocol, which is none"),
        ("cut", b"{\"version\":1,\"fra", "has ended in the middle of a line"),
        ("says", b"{\"version\":1,\"error\":\"no\"}\n", "says: no"),
    ];
    for (name, line, expected) in lines {
        // After a line without an end the connection ends.
        let name = format!("{name}-1");
        let whole = line.ends_with(b"\n");
        let listener = UnixListener::bind(folder.socket(&name)).expect("bound");
        let line = line.to_vec();
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accepted");
            drop(std::io::Read::read(&mut stream, &mut [0; 100]));
            stream.write_all(&line).expect("written");
            if whole {
                drop(std::io::Read::read(&mut stream, &mut [0; 100]));
            }
        });
        let start = Instant::now();
        assert_lost(&folder.output(&[&name, "--once"]), expected);
        assert!(start.elapsed() < Duration::from_secs(30));
        served.join().expect("no panic");
    }
}

#[test]
fn a_program_that_ends_or_hangs_meanwhile_is_named() {
    let folder = Folder::new();
    let whole = format!("{}\n", frame("x")).into_bytes();
    folder.serve("dies-1", move |_, count| (count == 0).then(|| whole.clone()));
    assert_lost(&folder.output(&["dies", "--once", "--every", "0.001"]), "dies (1) has ended");
    folder.serve("mute-2", |_, _| Some(Vec::new()));
    assert_lost(&folder.output(&["mute", "--once"]), "mute (2) does not answer");
    // In the list it stands with the reason.
    let listed = text(&folder.output(&[]).stdout);
    assert!(listed.contains("mute: mute (2) does not answer"), "{listed}");
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame("x"));
    assert_refused(
        &folder.output(&["fake"]),
        "there is no terminal to show the program on: `--once`",
    );
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    for (args, named) in [
        (&["x", "--columns", "19"][..], "\"19\": not a number from 20 to 1000"),
        (&["x", "--columns", "-1"], "\"-1\": not a number from 20 to 1000"),
        (&["x", "--every", "0"], "\"0\": not a number from 0.001 to 86400"),
        (&["x", "--every", "NaN"], "\"NaN\": not a number"),
        (&["x", "--format=csv"], "\"csv\": not one of text, json"),
        (&["x", "--every"], "missing argument for option '--every'"),
        (&["x", "--once=1"], "unexpected argument for option '--once'"),
        (&["x", "--twice"], "invalid option '--twice'"),
        (&["x", "y"], "unexpected argument \"y\""),
    ] {
        assert_refused(&folder.output(args), named);
    }
}

#[test]
fn it_says_what_it_can_do() {
    let folder = Folder::new();
    let help = text(&folder.output(&["--help"]).stdout);
    for part in ["Usage: sateen-top", "--every SECONDS", "Examples:", "\n  5  the program has"] {
        assert!(help.contains(part), "no `{part}`: {help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    let version = text(&folder.output(&["-V"]).stdout);
    assert_eq!(version, concat!("sateen-top ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// Numbers below what is asked for, from a seed.
fn draws(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    }
}

/// A program may count whatever it likes, and one look need not fit the next.
#[test]
fn counts_of_any_size_are_shown() {
    let folder = Folder::new();
    let sizes = ["18446744073709551615", "18446744073709551614", "9223372036854775808", "0", "1"];
    let mut draw = draws(16);
    for round in 0..30 {
        // Numbers of the frame, except for the version and the process.
        let mut numbers = || {
            let mut frame = String::new();
            for (at, part) in frame_parts().iter().enumerate() {
                if at > 0 {
                    let every = if round < sizes.len() { round } else { draw(sizes.len()) };
                    frame += sizes[every];
                }
                frame += part;
            }
            frame + "\n"
        };
        let looks = [numbers(), numbers()];
        let name = format!("large-{round}");
        folder.serve(&name, move |line, count| {
            let report = r#"{"version":1,"report":{"runtimes":[]}}"#.to_owned() + "\n";
            let answer = if line.contains("report") { &report } else { &looks[count % 2] };
            Some(answer.clone().into_bytes())
        });
        let done = folder.output(&[&name, "--once", "--every", "0.001"]);
        let (printed, errors) = (text(&done.stdout), text(&done.stderr));
        assert_eq!(done.status.code(), Some(0), "{round}: {errors}");
        assert!(printed.contains("2 workers") && errors.is_empty(), "{round}: {printed}{errors}");
        if round == 0 {
            let most = format!("{} ended", u64::MAX);
            assert!(printed.contains(&most), "a sum ends at the largest number: {printed}");
        }
    }
}

/// A frame without its counts: what stands between them.
fn frame_parts() -> Vec<String> {
    let frame = frame("x");
    let (mut parts, mut rest) = (vec![String::new()], &*frame);
    while let Some(colon) = rest.find(':') {
        let (head, tail) = rest.split_at(colon + 1);
        let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let fixed = head.ends_with("\"version\":") || head.ends_with("\"pid\":");
        let counts = digits > 0 && !fixed && head.ends_with("\":");
        let last = parts.len() - 1;
        parts[last] += head;
        if counts {
            parts.push(String::new());
            rest = &tail[digits..];
        } else {
            rest = tail;
        }
    }
    let last = parts.len() - 1;
    parts[last] += rest;
    parts
}

/// Bytes of a frame are changed, left out and doubled: each time there is a frame, or one line.
#[test]
fn frames_with_faults_end_in_one_line() {
    let folder = Folder::new();
    let mut draw = draws(11);
    for round in 0..60 {
        let mut bytes = frame("x").into_bytes();
        for _ in 0..=draw(3) {
            let at = draw(bytes.len());
            match draw(4) {
                0 => bytes[at] = draw(256) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"0{}[],\":-e9"[draw(11)]),
                _ => bytes.truncate(at),
            }
        }
        bytes.retain(|&byte| byte != b'\n');
        bytes.push(b'\n');
        let name = format!("bad-{round}");
        folder.serve(&name, move |_, _| Some(bytes.clone()));
        let done = folder.output(&[&name, "--once", "--every", "0.001"]);
        let errors = text(&done.stderr);
        match done.status.code() {
            Some(0) => assert!(errors.is_empty(), "{round}: {errors}"),
            Some(5) => assert_eq!(errors.lines().count(), 1, "{round}: {errors}"),
            other => panic!("{round}: {other:?}: {errors}"),
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_look_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame("x"));
    for args in [&[][..], &["fake", "--once", "--every", "0.001"], &["77", "--format", "json"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("opened");
        let done = folder.top(args).stdout(full).output().expect("the program starts");
        assert_ended(&done, 4, "sateen-top: cannot write to standard output: No space");
    }
}
