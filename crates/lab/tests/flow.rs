//! `sateen flow`: numbers for a time, the lines of standard input, and what is refused.

mod common;

use common::{arg, assert_refused, output, sateen, stdout};
use std::io::Write;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the program with `input` as its standard input.
fn fed(args: &[&str], input: &[u8]) -> Output {
    let mut command = sateen(&[&["flow", "--stdin"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        // A program that refuses its arguments does not read.
        scope.spawn(move || pipe.write_all(input));
        child.wait_with_output().expect("it ends")
    })
}

/// The same, with success required. Returns standard output.
fn filtered(args: &[&str], input: &[u8]) -> Vec<u8> {
    let done = fed(args, input);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && errors.is_empty(), "{args:?}: {}: {errors}", done.status);
    done.stdout
}

/// Returns a count of a line such as `sent 1,234 …`.
fn counted(line: &str, what: &str) -> u64 {
    let (_, rest) =
        line.split_once(&format!("{what} ")).unwrap_or_else(|| panic!("{what}: {line}"));
    let digits = rest.trim_start().split(' ').next().unwrap_or_default().replace(',', "");
    digits.parse().unwrap_or_else(|_| panic!("{what}: {line}"))
}

/// Runs the program for a short time. Returns the counts of the summary, which must add up.
fn summary(args: &[&str]) -> [u64; 4] {
    let text = stdout(&[&["flow"], args].concat());
    let last = text.lines().last().expect("a summary");
    let all = ["sent", "received", "in queue", "dropped"].map(|what| counted(last, what));
    assert_eq!(all[0], all[1] + all[2] + all[3], "{args:?}: {text}");
    all
}

#[test]
fn values_are_refused_by_name() {
    let cases: &[(&[&str], &str)] = &[
        (&["0", "1", "1", "1", "1"], "'0'"),
        (&["-1", "1", "1", "1", "1"], "'-1'"),
        (&["1025", "1", "1", "1", "1"], "'1025'"),
        (&["two", "1", "1", "1", "1"], "'two'"),
        (&["1", "0", "1", "1", "1"], "a rate of 0"),
        (&["1", "NaN", "1", "1", "1"], "'NaN'"),
        (&["1", "-1", "1", "1", "1"], "'-1'"),
        (&["1", "1e300", "1", "1", "1"], "'1e300'"),
        (&["1", "1", "0", "1", "1"], "'0'"),
        (&["1", "1", "NaN", "1", "1"], "'NaN'"),
        (&["1", "1", "-1", "1", "1"], "'-1'"),
        (&["1", "1", "1e300", "1", "1"], "'1e300'"),
        (&["1", "1", "fast", "1", "1"], "'fast'"),
        (&["1", "1", "1", "0", "1"], "'0'"),
        (&["1", "1", "1", "4097", "1"], "'4097'"),
        (&["1", "1", "1", "1", "-1"], "'-1'"),
        (&["1", "1", "1", "1", "0"], "'0'"),
        (&["1", "1", "1", "1", "1", "1"], "'1'"),
        (&["--threads", "0"], "'0'"),
        (&["--queues", "0"], "'0'"),
        (&["--send-rate", "0"], "'0'"),
        (&["--send-rate", "NaN"], "'NaN'"),
        (&["--receive-rate", "-1"], "'-1'"),
        (&["--receive-rate", "1e300"], "'1e300'"),
        (&["--receive-rate", "inf"], "'inf'"),
        (&["--duration", "-1"], "'-1'"),
        (&["--duration", "soon"], "'soon'"),
        (&["--capacity", "-1"], "'-1'"),
        (&["--capacity", "99999999999"], "'99999999999'"),
        (&["--clock", "sampled:0"], "'sampled:0'"),
        (&["--clock", "sampled:"], "'sampled:'"),
        (&["--clock", "sundial"], "'sundial'"),
        (&["--policy", "lose"], "'lose'"),
        (&["--steal", "maybe"], "'maybe'"),
        (&["--nosuch"], "--nosuch"),
        (&["2", "--threads", "3"], "THREADS and --threads"),
        (&["1", "5", "--send-rate", "6"], "5.0 and 6.0"),
        (&["1", "1", "1", "1", "1", "--duration", "2"], "SECONDS and --duration"),
        (&["profile", "7"], "'7'"),
        (&["profile", "--stdin"], "--stdin"),
        (&["--stdin"], "--exec CMD or --builtin"),
        (&["--stdin", "--builtin", "sort"], "'sort'"),
        (&["--stdin", "--exec", "cat", "--builtin", "hash"], "`cat`"),
        (&["--stdin", "--builtin", "hash", "--duration", "1"], "--duration"),
        (&["--stdin", "--builtin", "hash", "--csv", "x.csv"], "--csv"),
        (&["--stdin", "--builtin", "hash", "--policy", "drop-oldest"], "--policy"),
        (&["--exec", "cat"], "--exec"),
        (&["--builtin", "hash"], "--builtin"),
        (&["--ordered"], "--ordered"),
    ];
    for (args, named) in cases {
        let done = output(&[&["flow"], *args].concat());
        assert!(done.stdout.is_empty(), "{args:?} printed something");
        assert_refused(&done, named);
    }
}

#[test]
fn what_is_sent_is_accounted_for() {
    let [sent, received, ..] = summary(&["2", "1000", "1000", "2", "0.5"]);
    // The first item of each sender goes at once.
    assert!((500..=1102).contains(&sent), "{sent} of 1000");
    assert!(received > 0);
    // First at full speed with the defaults; then as many variants as there are.
    assert!(summary(&["--duration", "0.1"])[0] > 1000);
    let settings: &[&[&str]] = &[
        &["--threads", "1", "--queues", "5"],
        &["--threads", "5", "--queues", "2"],
        &["--threads", "3", "--queues", "2", "--steal", "off"],
        &["--threads", "2", "--capacity", "0"],
        &["--threads", "2", "--queues", "2", "--capacity", "1"],
        &["--clock", "sampled:8", "--send-rate", "10M", "--receive-rate", "10M"],
        &["--policy", "drop-oldest", "--capacity", "4", "--receive-rate", "1000"],
        &["--policy", "drop-newest", "--capacity", "4", "--receive-rate", "1000"],
        &["--policy", "error", "--capacity", "4", "--receive-rate", "1000"],
        &["--policy", "error", "--capacity", "0", "--receive-rate", "1000"],
        &["--policy", "drop-oldest", "--capacity", "0", "--receive-rate", "1000"],
        // Hardly any item comes out, and still the run ends at once.
        &["--receive-rate", "0.001"],
        &["--send-rate", "0.001"],
    ];
    for args in settings {
        let start = Instant::now();
        let [sent, received, _, dropped] = summary(&[*args, &["--duration", "0.1"]].concat());
        assert!(sent > 0 && received > 0, "{args:?}: {sent} {received}");
        let drops = args.contains(&"--policy");
        assert_eq!(dropped > 0, drops, "{args:?}: {dropped} dropped");
        assert!(start.elapsed() < Duration::from_secs(20), "{args:?}");
    }
}

#[test]
fn a_clock_that_is_not_there_is_said() {
    let done = output(&["flow", "--clock", "tsc", "--duration", "0.1"]);
    if !done.status.success() {
        assert_refused(&done, "--clock tsc");
    }
}

#[test]
fn a_line_a_second_and_the_same_in_a_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let csv = dir.path().join("flow.csv");
    let text = stdout(&["flow", "2", "100", "100", "2", "1.2", "--csv", arg(&csv)]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "what runs, a second, a summary: {text}");
    assert!(lines[0].starts_with("2 threads, 2 queues of 65,536, clock exact, steal on"), "{text}");
    assert!(lines[1].trim_start().starts_with("1.0 s  sent") && lines[2].contains(" = "), "{text}");
    let file = std::fs::read_to_string(&csv).expect("written");
    let rows: Vec<Vec<&str>> = file.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 3, "{file}");
    assert_eq!(rows[0][..5], ["seconds", "sent", "received", "in_queue", "dropped"]);
    assert_eq!(rows[2][1].parse::<u64>().ok(), Some(counted(lines[2], "sent")), "{file}");
    let missing = dir.path().join("missing").join("flow.csv");
    let done = output(&["flow", "1", "1", "1", "1", "1", "--csv", arg(&missing)]);
    assert!(done.stdout.is_empty());
    assert_refused(&done, arg(&missing));
}

#[test]
fn the_profile_run_is_one_thread_and_one_queue() {
    let text = stdout(&["flow", "profile", "--duration", "0.1"]);
    let wanted = "1 thread, 1 queue of 65,536, clock exact, steal on: 2.20 M/s sent and 2.20 M/s \
                  received by each";
    assert!(text.starts_with(wanted), "{text}");
}

#[cfg(unix)]
mod signals {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::{BufRead, BufReader};

    /// Starts the program, waits for its first line, and sends the signal. Returns the exit code
    /// and the last line.
    fn after(signal: Signal, args: &[&str]) -> (Option<i32>, String) {
        let mut command = sateen(&[&["flow", "1", "100", "100", "1"], args].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut text = String::new();
        out.read_line(&mut text).expect("a line");
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let lines = out.lines().map(|line| line.expect("UTF-8"));
        let last = lines.last().expect("a summary");
        let done = child.wait().expect("it ends");
        (done.code(), last)
    }

    #[test]
    fn without_a_terminal_it_runs_until_it_is_told_to_end() {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
            let (code, last) = after(signal, &[]);
            assert_eq!(code, Some(0), "{last}");
            assert!(last.starts_with("sent ") && last.contains(" = "), "{last}");
        }
    }

    #[test]
    fn an_interrupted_run_says_so_with_its_status() {
        for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            let (code, last) = after(signal, &["3600"]);
            assert_eq!(code, Some(status), "{last}");
            assert!(last.contains(" = "), "{last}");
        }
    }
}

/// Returns `count` lines that all differ.
fn lines(count: usize) -> Vec<u8> {
    (0..count).flat_map(|i| format!("line {i}\n").into_bytes()).collect()
}

fn sorted(text: &[u8]) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    all.sort_unstable();
    all
}

#[test]
fn lines_are_hashed_in_order() {
    let input = lines(5000);
    let out =
        filtered(&["--builtin", "hash", "--ordered", "--threads", "4", "--queues", "4"], &input);
    let back: Vec<u8> =
        out.split_inclusive(|b| *b == b'\n').flat_map(|row| row[66..].to_vec()).collect();
    assert!(back == input, "not the same lines in the same order");
    let any = filtered(&["--builtin", "hash", "--threads", "4"], &input);
    assert!(sorted(&any) == sorted(&out), "not the same lines");
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n";
    assert_eq!(filtered(&["--builtin", "hash"], b"abc"), abc.as_bytes());
}

#[test]
fn lines_are_counted_as_bytes() {
    let input = b"one two\n\xff\xfe three\n\n\0last";
    assert_eq!(filtered(&["--builtin", "count", "--threads", "3"], input), b"3 5 23\n");
    assert_eq!(filtered(&["--builtin", "count"], b""), b"0 0 0\n");
    assert_eq!(filtered(&["--builtin", "hash"], b""), b"");
}

#[cfg(unix)]
#[test]
fn a_command_gets_each_line() {
    let input = b"a\n\xffb\nc";
    let args = ["--exec", "tr abc xyz", "--ordered", "--threads", "3"];
    assert_eq!(filtered(&args, input), b"x\n\xffy\nz");
    // The second line is slower than the others. In order they wait for it, else they do not.
    let slow = "read n; [ $n = 2 ] && sleep 0.3; echo $n";
    let input = b"1\n2\n3\n4\n";
    assert_eq!(filtered(&["--exec", slow, "--ordered", "--threads", "2"], input), input);
    let out = filtered(&["--exec", slow, "--threads", "2"], input);
    assert!(sorted(&out) == sorted(input) && out != input, "{}", String::from_utf8_lossy(&out));
}

#[cfg(unix)]
#[test]
fn a_command_that_fails_is_said() {
    let done = fed(&["--exec", "grep 2", "--ordered"], b"1\n2\n3\n");
    assert_eq!((done.status.code(), done.stdout), (Some(1), b"2\n".to_vec()));
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(
        errors.contains("`grep 2` failed for 2 of the lines") && errors.contains("line"),
        "{errors}"
    );
}

#[test]
fn lines_come_at_the_rate() {
    let start = Instant::now();
    filtered(&["--builtin", "hash", "--send-rate", "20"], &lines(7));
    assert!(start.elapsed() >= Duration::from_millis(295), "{:?}", start.elapsed());
}

#[cfg(unix)]
#[test]
fn input_and_output_may_be_gone() {
    let shell = |script: &str| {
        let program = env!("CARGO_BIN_EXE_sateen");
        let done =
            std::process::Command::new("sh").args(["-c", script]).env("SATEEN", program).output();
        done.expect("a shell")
    };
    let done = shell("exec \"$SATEEN\" flow --stdin --builtin count <&-");
    assert!(
        done.status.success() && done.stdout == b"0 0 0\n",
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    // The reader takes one line of very many.
    let done = shell(
        "(yes | head -n 1000000; sleep 0.1; yes | head -n 10) | \"$SATEEN\" flow --stdin --builtin \
         hash | head -n 1",
    );
    assert!(
        done.status.success() && done.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let done = shell("exec \"$SATEEN\" flow --stdin --builtin count </");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("cannot read standard input"));
    if cfg!(target_os = "linux") {
        let done = shell("echo x | \"$SATEEN\" flow --stdin --builtin hash >/dev/full");
        assert_eq!(done.status.code(), Some(4));
        assert!(String::from_utf8_lossy(&done.stderr).contains("cannot write to standard output"));
    }
}

/// The longest line, and the longest output of a command for one line.
const MOST: usize = 16 << 20;

#[test]
fn a_line_may_be_long_and_not_too_long() {
    let mut input = b"first\n".to_vec();
    input.resize(input.len() + MOST - 1, b'x');
    input.push(b'\n');
    let all = format!("2 2 {}\n", input.len());
    assert_eq!(filtered(&["--builtin", "count"], &input), all.as_bytes());
    input.insert(10, b'x');
    let done = fed(&["--builtin", "hash"], &input);
    assert_refused(&done, "cannot read standard input: line 2 is longer than 16 MiB");
    let first = filtered(&["--builtin", "hash"], b"first\n");
    assert_eq!(done.stdout, first, "the lines before it are through");
    // It is noticed before its end, which may never come.
    input.truncate(10 + MOST);
    assert_refused(&fed(&["--builtin", "hash"], &input), "line 2 is longer than 16 MiB");
}

#[cfg(unix)]
#[test]
fn a_command_may_print_much_and_not_too_much() {
    let print = |bytes: usize| format!("head -c {bytes} /dev/zero");
    assert_eq!(filtered(&["--exec", &print(MOST)], b"x\n").len(), MOST);
    // One that would print for ever is ended, and the next line is served.
    let command = "read n; [ $n = 2 ] && echo two || yes";
    let done = fed(&["--exec", command, "--threads", "1", "--ordered"], b"1\n2\n");
    assert_eq!((done.status.code(), done.stdout.len()), (Some(1), MOST + 4));
    assert!(done.stdout.ends_with(b"two\n"));
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(errors.contains("line 1: it printed more than 16 MiB"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}
