//! Clients that do what none should, and programs to which everything happens: the program goes on,
//! and others are served.
//!
//! Some tests start this program again with one more variable, which says what to do.

#![cfg(all(feature = "inspect", target_os = "linux", not(any(miri, sateen_tsan))))]

#[path = "common/asked.rs"]
mod asked;
#[path = "common/program.rs"]
mod program;

use asked::{Asker, PATIENCE, all, folder, runtimes, sockets};
use program::{Folder, some_sockets};
use sateen_runtime::{JoinHandle, Runtime, Spawn, policy};
use sateen_sync::Event;
use sateen_testkit::{until, until_some};
use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// So many connections there may be at once.
const CLIENTS: usize = 8;
/// Far less than a reader that is waited for would take.
const SOON: Duration = Duration::from_secs(20);
const FRAME: &str = "{\"version\":1,\"command\":\"frame\"}\n";

/// Each test has all of this process's connections.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime() -> Runtime {
    folder();
    Runtime::builder().workers(1).inspect(true).build().expect("a runtime")
}

/// So many tasks wait that a frame is tens of kilobytes.
struct Crowd {
    event: Arc<Event>,
    tasks: Vec<JoinHandle<()>>,
}

impl Crowd {
    fn gather(runtime: &Runtime) -> Self {
        let event = Arc::new(Event::new());
        let wait = |_| {
            let event = Arc::clone(&event);
            runtime.spawn_with(Spawn::new().name("x".repeat(64)), move || event.wait())
        };
        let tasks = (0..100).map(wait).collect();
        Self { event, tasks }
    }

    /// Until frames tell of all of them. A frame from before that is small: a client that does not
    /// read has room for many, and keeps its place.
    fn is_seen(&self, asker: &mut Asker) {
        let waiting = |it: &serde_json::Value| it["tasks"]["waiting"].as_u64();
        asker.until("crowd", |frame| {
            runtimes(frame).iter().any(|it| waiting(it) >= Some(self.tasks.len() as u64))
        });
    }

    fn leave(mut self) {
        self.event.set();
        self.tasks.drain(..).for_each(|task| task.join().expect("ended"));
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // Their runtime waits for them, also after a failed assertion.
        self.event.set();
    }
}

/// As many requests as one read takes. The answers are more than a socket holds.
fn many() -> Vec<u8> {
    FRAME.repeat(4095 / FRAME.len()).into_bytes()
}

/// Waits for a place, and says hello.
fn served() -> Asker {
    until_some(|| {
        let mut asker = Asker::connect();
        asker.try_ask("hello").is_some_and(|answer| answer["hello"].is_object()).then_some(asker)
    })
}

#[test]
fn those_that_do_not_read_lose_their_places() {
    let _alone = alone();
    let runtime = runtime();
    let crowd = Crowd::gather(&runtime);
    crowd.is_seen(&mut served());
    let mut lazy: Vec<Asker> = (0..CLIENTS).map(|_| served()).collect();
    lazy.iter_mut().for_each(|asker| asker.send(&many()));
    drop((0..CLIENTS).map(|_| served()).collect::<Vec<_>>());
    for mut asker in lazy {
        let mut lines = 0;
        while asker.line().is_some() {
            lines += 1;
        }
        assert!(lines < many().len() / FRAME.len(), "it was not left");
    }
    crowd.leave();
}

#[test]
fn those_that_read_a_little_now_and_then_keep_nobody_waiting() {
    let _alone = alone();
    let runtime = runtime();
    let crowd = Crowd::gather(&runtime);
    let mut slow = served();
    let mut other = served();
    crowd.is_seen(&mut other);
    let over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&over);
    slow.send(&many());
    let reads = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while !ends.load(Ordering::Relaxed) && slow.raw().read(&mut bytes).is_ok_and(|n| n > 0) {
            thread::sleep(Duration::from_millis(50));
        }
    });
    let start = Instant::now();
    for _ in 0..3 {
        assert!(other.ask("hello")["hello"].is_object());
    }
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    over.store(true, Ordering::Relaxed);
    reads.join().expect("no panic");
    crowd.leave();
}

#[test]
fn each_line_gets_a_line_whatever_it_is() {
    let _alone = alone();
    let _runtime = runtime();
    let deep =
        |open: &str| format!("{{\"version\":1,\"command\":\"hello\",\"x\":{}", open.repeat(600));
    let padded = |len: usize| {
        let (head, tail) = ("{\"version\":1,\"command\":\"hello\"", "}");
        format!("{head}{}{tail}", " ".repeat(len - head.len() - tail.len()))
    };
    let (no, long) = ("the line is no request", "a line has at most 4095 bytes");
    let lines: [(Vec<u8>, &str); 14] = [
        (vec![b'x'; 1 << 20], long),
        (vec![0; 1 << 20], long),
        (padded(4095).into_bytes(), ""),
        (padded(4096).into_bytes(), long),
        (vec![b'['; 4095], no),
        (deep("[").into_bytes(), no),
        (deep("{\"x\":").into_bytes(), no),
        (b"{\"version\":1,\"command\":\"\xff\xfe\"}".to_vec(), no),
        (b"{\"version\":1,\"command\":\"\\ud800\"}".to_vec(), no),
        (b"{\"version\":1,\"version\":1,\"command\":\"hello\"}".to_vec(), no),
        (b"{\"version\":1e400,\"command\":\"hello\"}".to_vec(), no),
        (b"{\"version\":4294967296,\"command\":\"hello\"}".to_vec(), no),
        (b"{\"version\":4294967295,\"command\":\"hello\"}".to_vec(), "version 4294967295 is asked"),
        (b"{\"version\":1,\"command\":\"stop\\nnow\"}".to_vec(), "`stop\\nnow` is none of"),
    ];
    for (mut line, expected) in lines {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        line.push(b'\n');
        let mut asker = served();
        // It may have been left before it has sent all.
        _ = asker.raw().write_all(&line);
        let answer = asker.line().expect("an answer");
        match answer["error"].as_str() {
            Some(text) => assert!(text.starts_with(expected) && !expected.is_empty(), "{text}"),
            None => assert!(expected.is_empty() && answer["hello"].is_object(), "{shown}"),
        }
        if expected != long {
            assert!(asker.ask("hello")["hello"].is_object(), "{shown}");
        }
    }
}

#[test]
fn hundreds_come_at_once() {
    const THREADS: usize = 10;
    let _alone = alone();
    let _runtime = runtime();
    // Those of the tests before are gone.
    drop((0..CLIENTS).map(|_| served()).collect::<Vec<_>>());
    let places = AtomicUsize::new(0);
    let all = Barrier::new(THREADS);
    let socket = &sockets(folder())[0];
    let start = Instant::now();
    while places.load(Ordering::Relaxed) != CLIENTS {
        // A place may not be free yet.
        assert!(start.elapsed() < PATIENCE, "{places:?} were served");
        places.store(0, Ordering::Relaxed);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let mut askers: Vec<_> = (0..30).map(|_| Asker::connect_to(socket)).collect();
                    askers.retain_mut(|asker| {
                        let Some(answer) = asker.try_ask("hello") else { return false };
                        let Some(text) = answer["error"].as_str() else { return true };
                        // On a busy machine it may have been silent for long.
                        let known = text.starts_with("8 others are") || text.contains("silent");
                        assert!(known, "{text}");
                        false
                    });
                    // Nobody comes any more, so nobody gives a place up: those are there at once.
                    all.wait();
                    for asker in &mut askers {
                        let answer = asker.try_ask("hello");
                        let served = answer.is_some_and(|it| it["hello"].is_object());
                        places.fetch_add(usize::from(served), Ordering::Relaxed);
                    }
                    all.wait();
                });
            }
        });
        assert!(places.load(Ordering::Relaxed) <= CLIENTS, "{places:?}");
    }
    served();
}

#[test]
fn a_connection_outlives_the_runtimes() {
    let _alone = alone();
    let before = runtime();
    let mut asker = served();
    let numbers = |asker: &mut Asker| {
        let frame = asker.ask("frame")["frame"].take();
        runtimes(&frame).iter().filter_map(|it| it["number"].as_u64()).collect::<Vec<_>>()
    };
    let [first] = numbers(&mut asker)[..] else { panic!("one runtime") };
    let other = runtime();
    let both = numbers(&mut asker);
    assert!(both.len() == 2 && both[0] == first && both[1] > first, "{both:?}");
    drop(before);
    assert_eq!(numbers(&mut asker), both[1..]);
    drop(other);
    assert_eq!(numbers(&mut asker), [0; 0]);
    assert_eq!(asker.ask("report")["report"]["runtimes"].as_array().map(Vec::len), Some(0));
    let again = runtime();
    assert_eq!(numbers(&mut asker).len(), 1);
    drop(again);
}

/// Counts, and panics.
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("in a destructor");
    }
}

struct Bombs {
    _bomb: Bomb,
    inner: Mutex<Vec<policy::Runnable>>,
}

impl policy::Policy for Bombs {
    fn awakened(&self, runnable: policy::Runnable) {
        self.inner.lock().expect("not poisoned").push(runnable);
    }

    fn pick_next(&self) -> Option<policy::Runnable> {
        self.inner.lock().expect("not poisoned").pop()
    }

    fn has_ready(&self) -> bool {
        !self.inner.lock().expect("not poisoned").is_empty()
    }
}

/// A report keeps what it tells of, so what the user gave a runtime may be dropped by the thread
/// that asks for reports.
#[test]
fn a_runtime_of_bombs_may_end_while_it_is_reported() {
    const ROUNDS: usize = 10;
    let _alone = alone();
    let stuck = runtime();
    let (over, stays) = mpsc::channel::<()>();
    // Each report waits for this one's worker, with the other runtime in hand.
    let task = stuck.spawn(move || _ = stays.recv());
    let fell = Arc::new(AtomicUsize::new(0));
    let mut asker = served();
    for _ in 0..ROUNDS {
        let bomb = || Bomb(Arc::clone(&fell));
        let (starts, exits, chooses) = (bomb(), bomb(), Arc::clone(&fell));
        let builder = Runtime::builder()
            .workers(1)
            .on_start(move |_| _ = &starts)
            .on_exit(move |_| _ = &exits)
            .policy(policy::custom(move |_| {
                Box::new(Bombs { _bomb: Bomb(Arc::clone(&chooses)), inner: Mutex::default() })
            }));
        let short = builder.build().expect("a runtime");
        asker.send(b"{\"version\":1,\"command\":\"report\"}\n");
        thread::sleep(Duration::from_millis(20));
        drop(short);
        assert!(asker.line().expect("an answer")["report"].is_object());
    }
    until(|| fell.load(Ordering::Relaxed) == 3 * ROUNDS);
    drop(over);
    task.join().expect("ended");
    assert!(asker.ask("report")["report"].is_object());
}

/// Ends connections, also after a failed assertion: those that use them would go on.
struct Connections(Vec<UnixStream>);

impl Drop for Connections {
    fn drop(&mut self) {
        self.0.iter().for_each(|it| drop(it.shutdown(Shutdown::Both)));
    }
}

/// Others ask for reports as fast as they can, with more lines on the way at any time.
#[test]
fn one_that_asks_seldom_has_its_turn() {
    let _alone = alone();
    let _runtime = runtime();
    // Those of the tests before are gone, so the others have the first places.
    drop((0..CLIENTS).map(|_| served()).collect::<Vec<_>>());
    let (greedy, seen) = (CLIENTS - 1, AtomicUsize::new(0));
    let streams: Vec<_> = (0..greedy).map(|_| served().into_stream()).collect();
    thread::scope(|scope| {
        for stream in &streams {
            let report = b"{\"version\":1,\"command\":\"report\"}\n".repeat(100);
            let mut writes = stream;
            scope.spawn(move || while writes.write_all(&report).is_ok() {});
            let (mut reads, seen) = (stream, &seen);
            scope.spawn(move || {
                let mut bytes = [0; 1 << 14];
                while let Ok(count @ 1..) = reads.read(&mut bytes) {
                    let lines = bytes[..count].iter().filter(|&&byte| byte == b'\n').count();
                    seen.fetch_add(lines, Ordering::Relaxed);
                }
            });
        }
        let again = |it: &UnixStream| it.try_clone().expect("a descriptor");
        let ends = Connections(streams.iter().map(again).collect());
        // All of them are at it.
        until(|| seen.load(Ordering::Relaxed) >= 10 * greedy);
        let mut patient = served();
        for _ in 0..3 {
            let start = Instant::now();
            // On a busy machine its turn may come after its limit. It is its turn all the same.
            while !patient.ask("report")["report"].is_object() {
                assert!(start.elapsed() < PATIENCE, "its turn does not come");
            }
        }
        drop(ends);
    });
}

#[test]
fn those_that_say_nothing_give_their_places_up() {
    let _alone = alone();
    let _runtime = runtime();
    drop((0..CLIENTS).map(|_| served()).collect::<Vec<_>>());
    let mut silent: Vec<_> = (1..CLIENTS).map(|_| served()).collect();
    // Half a line is as good as none.
    silent.iter_mut().step_by(2).for_each(|asker| asker.send(&FRAME.as_bytes()[..20]));
    let mut talks = served();
    let mut newcomer = until_some(|| {
        assert!(talks.ask("hello")["hello"].is_object());
        let mut asker = Asker::connect();
        let answer = asker.try_ask("hello").expect("an answer");
        let text = answer["error"].as_str();
        assert!(text.is_none_or(|text| text.starts_with("8 others are")), "{text:?}");
        text.is_none().then_some(asker)
    });
    // The one that has been silent for longest was told.
    let answer = silent[0].line().expect("a line");
    assert!(answer["error"].as_str().expect("an error").contains("silent for 3 s"), "{answer}");
    assert!(silent[0].line().is_none());
    for asker in [&mut talks, &mut newcomer] {
        assert!(asker.ask("hello")["hello"].is_object());
    }
}

/// Not a test by itself: what the children do, until standard input ends.
#[test]
fn the_child() {
    let Some(what) = program::task() else { return };
    let own = || -> PathBuf {
        let program = std::env::current_exe().expect("a path");
        let name = program.file_name().and_then(|it| it.to_str()).expect("a name");
        let name: String = name.chars().take(32).collect();
        let run = std::env::var_os("XDG_RUNTIME_DIR").expect("set");
        Path::new(&run).join("sateen").join(format!("{name}-{}.sock", std::process::id()))
    };
    match &*what {
        // As programs do that want to end quietly in a pipeline.
        // SAFETY: the signal does what it does by itself.
        "sigpipe" => _ = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) },
        "few descriptors" => {
            let few = libc::rlimit { rlim_cur: 16, rlim_max: 16 };
            // SAFETY: the call reads the limits.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &few) }, 0);
        }
        // A process of the same number has been killed.
        "stale" => drop(UnixListener::bind(own()).expect("bound")),
        "taken" => fs::write(own(), "").expect("written"),
        _ => {}
    }
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let crowd = Crowd::gather(&runtime);
    let over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&over);
    // Something happens, for a trace.
    let busy = runtime.spawn(move || {
        while !ends.load(Ordering::Relaxed) {
            sateen_runtime::sleep(Duration::from_millis(1));
        }
    });
    program::wait_for_the_end();
    over.store(true, Ordering::Relaxed);
    busy.join().expect("ended");
    crowd.leave();
}

fn child(what: &str, folder: &Path) -> program::Program {
    program::start(what, folder, "1")
}

#[test]
fn a_client_that_dies_in_mid_answer_kills_no_program() {
    let folder = Folder::new("sigpipe");
    let child = child("sigpipe", &folder.0);
    let socket = &some_sockets(&folder.0, 1)[0];
    Asker::connect_to(socket).until("crowd", |frame| all(frame, "waits").count() >= 100);
    for bytes in [0, 1, 5_000, 50_000] {
        let mut asker = Asker::connect_to(socket);
        asker.send(&many());
        asker.raw().read_exact(&mut vec![0; bytes]).expect("some of it");
    }
    let start = Instant::now();
    while Asker::connect_to(socket).try_ask("hello").is_none() {
        assert!(start.elapsed() < PATIENCE);
    }
    assert_eq!(child.ends_well(), "");
}

#[test]
fn a_program_without_descriptors_answers_when_it_has_some() {
    let folder = Folder::new("few");
    let child = child("few descriptors", &folder.0);
    let socket = &some_sockets(&folder.0, 1)[0];
    let many: Vec<_> = (0..50).map(|_| UnixStream::connect(socket).expect("connected")).collect();
    drop(many);
    let start = Instant::now();
    let is_served = |it: Option<serde_json::Value>| it.is_some_and(|it| it["hello"].is_object());
    while !is_served(Asker::connect_to(socket).try_ask("hello")) {
        assert!(start.elapsed() < PATIENCE);
    }
    assert_eq!(child.ends_well(), "");
}

/// A socket that takes no connections yet, as a program's is for a moment.
fn bound(path: &Path) -> OwnedFd {
    // SAFETY: an address is bytes, and this one begins as all zeros.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    assert!(bytes.len() < address.sun_path.len());
    address.sun_path.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from as libc::c_char);
    // SAFETY: the call makes a descriptor, which is owned from here on.
    let socket = unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        assert!(socket >= 0);
        OwnedFd::from_raw_fd(socket)
    };
    let len = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address is as long as is said.
    assert!(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) } == 0);
    socket
}

#[test]
fn programs_that_start_together_leave_each_other_alone() {
    let folder = Folder::new("start");
    folder.make_private("sateen");
    let (starts, gone) = (folder.0.join("sateen/a-1.bind"), folder.0.join("sateen/a-2.sock"));
    let _sockets = [bound(&starts), bound(&gone)];
    let children: Vec<_> = (0..4).map(|_| child("wait", &folder.0)).collect();
    until(|| !gone.exists());
    for socket in some_sockets(&folder.0, children.len()) {
        assert!(Asker::connect_to(&socket).ask("hello")["hello"].is_object());
    }
    assert!(starts.exists());
    children.into_iter().for_each(|it| assert_eq!(it.ends_well(), ""));
}

#[test]
fn what_lies_in_the_sockets_place() {
    let folder = Folder::new("stale");
    folder.make_private("sateen");
    let stale = child("stale", &folder.0);
    let socket = &some_sockets(&folder.0, 1)[0];
    // The one that was left there comes first.
    until(|| UnixStream::connect(socket).is_ok());
    assert!(Asker::connect_to(socket).ask("frame")["frame"].is_object());
    assert_eq!(stale.ends_well(), "");
    let text = child("taken", &folder.0).ends_well();
    assert!(text.starts_with("sateen: nobody can look at this program: `"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Another program is stopped, and its socket has no room for one more.
#[test]
fn a_program_starts_beside_one_that_is_stopped() {
    let folder = Folder::new("stopped");
    folder.make_private("sateen");
    let path = folder.0.join("sateen").join("other-1.sock");
    let other = UnixListener::bind(&path).expect("bound");
    // SAFETY: the socket is the listener's.
    assert_eq!(unsafe { libc::listen(other.as_raw_fd(), 0) }, 0);
    let mut kept = Vec::new();
    while let Ok(stream) = sateen_base::os::connect_at_once(&path) {
        kept.push(stream);
    }
    let child = child("wait", &folder.0);
    let both = some_sockets(&folder.0, 2);
    let own = both.iter().find(|it| **it != path).expect("its own");
    assert!(Asker::connect_to(own).ask("hello")["hello"].is_object());
    assert_eq!(child.ends_well(), "");
}

#[test]
fn where_there_can_be_no_socket_the_program_runs() {
    let folder = Folder::new("nowhere");
    fs::write(folder.0.join("sateen"), "").expect("written");
    for (place, reason) in [
        (&*folder.0, "it is no folder"),
        (&folder.0.join("missing"), "No such file"),
        // Not even root can make a folder there.
        (Path::new("/proc"), "/proc/sateen`: "),
    ] {
        let text = child("wait", place).ends_well();
        assert!(text.starts_with("sateen: nobody can look at this program: `"), "{text}");
        assert!(text.contains(reason) && text.lines().count() == 1, "{text}");
    }
}

/// Whoever may rename what is in the folder around it could put another one in its place.
#[test]
fn a_folder_in_reach_of_others_is_refused() {
    let folder = Folder::new("reach");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).expect("set");
    let text = child("wait", &folder.0).ends_well();
    assert!(text.contains("/sateen`: others may write to the folder around it"), "{text}");
    // As that of temporary files, where each may rename only what is their own.
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o1777)).expect("set");
    assert_eq!(child("wait", &folder.0).ends_well(), "");
    // As after `su`, with the variable of the user from before. Only root gives files away.
    if sateen_base::os::user_id() == 0 {
        drop(fs::remove_dir(folder.0.join("sateen")));
        chown(&folder.0, Some(65_534), None).expect("given away");
        let text = child("wait", &folder.0).ends_well();
        assert!(text.contains("/sateen`: the folder around it belongs to user 65534"), "{text}");
        assert!(!folder.0.join("sateen").exists());
    } else {
        println!("skipped in part: only root can give a folder away");
    }
}

/// There is nowhere to say so either.
#[test]
fn what_cannot_be_said_ends_nothing() {
    for inspect in ["1", "yes"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("opened");
        program::start_with(Path::new("/proc"), inspect, "wait", full.into()).ends_well();
    }
}
