//! What Sateen does in a program that is built with `panic = "abort"`: each row of the table in the
//! guide's page `panic_abort`, in each place where a program may call it.
//!
//! Without an argument it runs itself as children, and looks at what they say and how they end.
//! With `cases` it runs the cases, or those whose names begin with the second argument.

mod cases;

use sateen::Runtime;
use std::process::{Command, ExitCode, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What is wrong, if anything is.
pub(crate) type Checked = Result<(), String>;
pub(crate) type Case = fn() -> Checked;

/// What the process says once.
const LINE: &str = "sateen: this program is built with panic = \"abort\"";
/// A case takes less than a second. One that hangs ends the process after this.
const LONGEST: Duration = Duration::from_secs(30);

/// Returns from the caller if `$holds` is false.
#[macro_export]
macro_rules! ensure {
    ($holds:expr) => {
        if !$holds {
            return Err(format!("{}:{}: not so: {}", file!(), line!(), stringify!($holds)));
        }
    };
}

pub(crate) fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("a runtime")
}

// ---- Places ----

/// Calls a case in a place.
type Call = fn(Case) -> Checked;

/// Where a case is called.
const PLACES: [(&str, Call); 6] = [
    ("on a thread", |case| std::thread::spawn(case).join().expect("a panic aborts")),
    ("in a task", |case| ended(runtime(2).spawn(case))),
    ("in a future", |case| ended(runtime(2).spawn_async(async move { case() }))),
    ("in a destructor", |case| ended(runtime(2).spawn(move || in_destructor(case)))),
    ("nested", |case| ended(runtime(2).spawn(move || ended(sateen::spawn(case))))),
    ("in a strict runtime", |case| {
        let strict = Runtime::builder().workers(2).strict(true).build().expect("a runtime");
        ended(strict.spawn(case))
    }),
];

fn ended(task: sateen::JoinHandle<Checked>) -> Checked {
    task.join().map_err(|error| error.to_string())?
}

fn in_destructor(case: Case) -> Checked {
    struct Caller<'a>(Case, &'a mut Checked);
    impl Drop for Caller<'_> {
        fn drop(&mut self) {
            *self.1 = (self.0)();
        }
    }
    let mut checked = Err("not called".to_owned());
    drop(Caller(case, &mut checked));
    checked
}

// ---- The program ----

/// How many cases have ended.
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Ends the process if no case has ended for [`LONGEST`].
fn watch() {
    let mut ended = ENDED.load(Ordering::Relaxed);
    loop {
        std::thread::sleep(LONGEST);
        let now = ENDED.load(Ordering::Relaxed);
        if now == ended {
            println!("FAILED: the case after these hangs");
            std::process::exit(1);
        }
        ended = now;
    }
}

/// Runs the chosen cases everywhere, and prints a line for each.
fn run(chosen: &str) -> ExitCode {
    std::thread::spawn(watch);
    let (mut ran, mut failed) = (0, 0);
    for (name, case) in cases::ALL.iter().filter(|(name, _)| name.starts_with(chosen)) {
        for (place, call) in PLACES {
            match call(*case) {
                Ok(()) => println!("ok {name}, {place}"),
                Err(wrong) => {
                    failed += 1;
                    println!("FAILED {name}, {place}: {wrong}");
                }
            }
            ran += 1;
            ENDED.fetch_add(1, Ordering::Relaxed);
        }
    }
    // Threads of runtimes that gave up may be left: they end with the process.
    if ran > 0 && failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Nothing is cancelled that would have unwound, so nothing is said.
fn quiet() -> ExitCode {
    let runtime = runtime(1);
    let task = runtime.spawn(|| sateen::timeout(Duration::from_secs(600), sateen::yield_now));
    assert_eq!(task.join().expect("it ends"), Ok(()));
    let future = runtime.spawn_async(std::future::pending::<()>());
    future.cancel();
    assert!(future.join().is_err());
    ExitCode::SUCCESS
}

/// A panic of a task ends the process, after a hook that waits.
fn panicking() -> ExitCode {
    let gate = std::sync::Arc::new(sateen::sync::Event::new());
    let hook = std::sync::Arc::clone(&gate);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        hook.wait();
        before(info);
    }));
    let runtime = runtime(1);
    let task = runtime.spawn(|| panic!("as it should"));
    while !runtime.report().fibers.iter().any(|fiber| fiber.waits_for.is_some()) {
        std::thread::yield_now();
    }
    gate.set();
    println!("{:?}", task.join());
    ExitCode::SUCCESS
}

fn child(arguments: &[&str]) -> Output {
    let program = std::env::current_exe().expect("a path");
    let output =
        Command::new(program).args(arguments).env("RUST_BACKTRACE", "0").output().expect("a child");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn parent() -> Checked {
    let said =
        |output: &Output, text| String::from_utf8_lossy(&output.stderr).matches(text).count();
    let cases = child(&["cases"]);
    ensure!(cases.status.success());
    ensure!(said(&cases, LINE) == 1);
    println!("ok it is said once");
    let quiet = child(&["quiet"]);
    ensure!(quiet.status.success());
    ensure!(said(&quiet, LINE) == 0);
    println!("ok it is not said where nothing differs");
    let panicking = child(&["panicking"]);
    ensure!(!panicking.status.success());
    ensure!(said(&panicking, "as it should") == 1);
    println!("ok a panic ends the process, after a hook that waits");
    Ok(())
}

fn main() -> ExitCode {
    if cfg!(panic = "unwind") {
        println!("FAILED: this program is to be built with panic = \"abort\"");
        return ExitCode::FAILURE;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words = arguments.iter().map(String::as_str);
    match words.next() {
        Some("cases") => run(words.next().unwrap_or_default()),
        Some("quiet") => quiet(),
        Some("panicking") => panicking(),
        _ => match parent() {
            Ok(()) => ExitCode::SUCCESS,
            Err(wrong) => {
                println!("FAILED: {wrong}");
                ExitCode::FAILURE
            }
        },
    }
}
