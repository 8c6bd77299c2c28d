//! Runs `examples/metrics.rs` and reads its page as Prometheus does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The built example; `cargo test` builds it beside the tests, unless it is told to build one test.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let name = format!("metrics{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    assert!(program.is_file(), "{}: first `cargo build --examples`", program.display());
    program
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().expect("the server runs until it is ended");
        self.0.wait().expect("the server ends");
    }
}

fn scrape(address: &str) -> String {
    let mut connection = TcpStream::connect(address).expect("it listens");
    connection.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    connection.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("it answers");
    let (head, page) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    page.to_owned()
}

/// The sum of the values of `name`.
fn sum(page: &str, name: &str) -> f64 {
    let is_of =
        |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
    let values = page.lines().filter(is_of).filter_map(|line| line.rsplit(' ').next());
    values.map(|value| value.parse::<f64>().expect("a number")).sum()
}

#[test]
fn the_page_has_what_prometheus_reads() {
    let mut command = Command::new(program());
    command.arg("127.0.0.1:0").env("SATEEN_WORKERS", "2").stdout(Stdio::piped());
    let mut server = Server(command.spawn().expect("the example can be started"));
    let output = server.0.stdout.take().expect("its output is a pipe");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("it says where it listens");
    let address = line.trim().strip_prefix("listening on http://").expect("an address");
    let address = address.strip_suffix("/metrics").expect("a path");
    let end = Instant::now() + Duration::from_secs(60);
    let first = loop {
        let page = scrape(address);
        if sum(&page, "sateen_ready_seconds_count") > 8.0 {
            break page;
        }
        assert!(Instant::now() < end, "{page}");
    };
    let counts = sateen::WorkerMetrics::default().counts();
    let counts = counts.map(|(name, ..)| format!("{name}_total"));
    for name in counts.chain(["busy_seconds_total", "queued", "stacks"].map(str::to_owned)) {
        let name = format!("sateen_{name}");
        assert!(first.contains(&format!("# HELP {name} ")), "{name}: {first}");
        assert!(first.contains(&format!("{name}{{worker=\"1\"}} ")), "{name}: {first}");
    }
    assert!(first.contains("sateen_ready_seconds_bucket{task=\"sum\",le=\"+Inf\"}"), "{first}");
    let second = scrape(address);
    for name in ["sateen_started_total", "sateen_busy_seconds_total"] {
        assert!(sum(&second, name) >= sum(&first, name), "{name}: {first}{second}");
    }
}
