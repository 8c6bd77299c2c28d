//! Programs that run with more rights than whoever started them: set-user-ID, set-group-ID, and
//! with capabilities. Their environment is a stranger's, so they ignore it.
//!
//! Each test starts a copy of this program as another user. Only root can prepare that.

#![cfg(all(target_os = "linux", not(miri)))]

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

const CHILD: &str = "SATEEN_TEST_CHILD";
/// Who starts the copy: a user and a group without rights.
const NOBODY: u32 = 65_534;
/// In a line of the child's output.
const FACT: &str = "fact: ";

/// What a copy of this program gains when it is started.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gain {
    Nothing,
    User,
    Group,
    Capability,
}

/// A copy of this program, and a folder that it may write to.
struct Copy {
    folder: PathBuf,
    program: PathBuf,
}

impl Drop for Copy {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Whether the kernel ignores the bits of programs in `folder`.
fn is_nosuid(folder: &Path) -> bool {
    let name = std::ffi::CString::new(folder.as_os_str().as_bytes()).expect("no zero");
    // SAFETY: the name ends with a zero, and the call fills in what is all numbers.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        assert_eq!(libc::statvfs(name.as_ptr(), &mut found), 0, "{}", folder.display());
        found.f_flag & libc::ST_NOSUID != 0
    }
}

/// Gives the program `CAP_DAC_OVERRIDE`, as `setcap` does. False: the file system refuses.
fn set_capability(program: &Path) -> bool {
    /// Version 2, effective.
    const HEAD: u32 = 0x0200_0001;
    const CAP_DAC_OVERRIDE: u32 = 1 << 1;
    let name = std::ffi::CString::new(program.as_os_str().as_bytes()).expect("no zero");
    let words = [HEAD, CAP_DAC_OVERRIDE, 0, 0, 0];
    let value: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let attribute = c"security.capability".as_ptr();
    // SAFETY: the names end with a zero, and the value is as long as is said.
    unsafe { libc::setxattr(name.as_ptr(), attribute, value.as_ptr().cast(), value.len(), 0) == 0 }
}

impl Copy {
    /// None: this machine has no programs that gain that, as a printed line says.
    fn new(gain: Gain) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let skip = |why: &str| {
            println!("skipped: {gain:?}: {why}");
            None
        };
        // SAFETY: the calls have no pointers.
        let (user, barred) =
            unsafe { (libc::geteuid(), libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) };
        if user != 0 {
            return skip("only root can prepare such a program");
        }
        if barred {
            return skip("this process and its children may gain nothing (`no_new_privs`)");
        }
        let places = [std::env::temp_dir(), "/var/tmp".into(), "/dev/shm".into()];
        let Some(place) = places.into_iter().find(|it| it.is_dir() && !is_nosuid(it)) else {
            return skip("all folders for temporary files are mounted with `nosuid`");
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = place.join(format!("sateen-privileged-{}-{number}", std::process::id()));
        // An earlier process of this number may have been killed.
        drop(fs::remove_dir_all(&folder));
        fs::create_dir(&folder).expect("made");
        let copy = Self { program: folder.join("program"), folder };
        let (work, mode) = (copy.work(), |mode| Permissions::from_mode(mode));
        fs::set_permissions(&copy.folder, mode(0o755)).expect("set");
        fs::create_dir(&work).expect("made");
        fs::set_permissions(&work, mode(0o700)).expect("set");
        // Whoever the copy then runs as.
        let owner = if gain == Gain::User { 0 } else { NOBODY };
        chown(&work, Some(owner), Some(owner)).expect("given away");
        fs::copy(std::env::current_exe().expect("a path"), &copy.program).expect("copied");
        chown(&copy.program, Some(0), Some(0)).expect("given away");
        let bits = match gain {
            Gain::Nothing | Gain::Capability => 0o755,
            Gain::User => 0o4755,
            Gain::Group => 0o2755,
        };
        fs::set_permissions(&copy.program, mode(bits)).expect("set");
        assert_eq!(fs::metadata(&copy.program).expect("there").mode() & 0o7777, bits);
        if gain == Gain::Capability && !set_capability(&copy.program) {
            return skip("the file system keeps no capabilities");
        }
        Some(copy)
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Runs the test `the_child` of the copy as nobody, without variables.
    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--exact", "the_child", "--nocapture", "--test-threads=1"]);
        command.env_clear().env(CHILD, what).uid(NOBODY).gid(NOBODY).current_dir(&self.folder);
        command
    }
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

fn facts(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", text(output));
    let text = text(output);
    // The first may stand behind what the harness writes.
    text.lines().filter_map(|line| Some(line.split_once(FACT)?.1.to_owned())).collect()
}

/// More workers than there are by default.
fn workers() -> usize {
    sateen_base::os::usable_cores() + 3
}

/// Sets each variable to what changes something.
fn with_variables(command: &mut Command, folder: &Path) {
    command.env("SATEEN_WORKERS", workers().to_string());
    command.env("SATEEN_NO_MEMBARRIER", "1");
    command.env("SATEEN_PAUSES", "777");
    command.env("SATEEN_INSPECT", "1").env("XDG_RUNTIME_DIR", folder).env("TMPDIR", folder);
    command.env("SATEEN_TRACE", folder.join("trace"));
}

/// Not a test by itself: what the copies do.
#[test]
fn the_child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    // SAFETY: the calls have no pointers.
    let gained = unsafe {
        (libc::getuid() != libc::geteuid(), libc::getgid() != libc::getegid(), libc::geteuid())
    };
    println!("the child does {what}: {gained:?}");
    let builder = sateen_runtime::Runtime::builder();
    #[cfg(feature = "inspect")]
    let builder = builder.inspect(what == "inspect");
    match builder.build() {
        Ok(runtime) => {
            println!("{FACT}{} workers", runtime.workers());
            println!("{FACT}asymmetric: {}", sateen_base::fence::is_asymmetric());
            println!("{FACT}777 pauses: {}", sateen_base::pause::per_unit() == 777);
            runtime.spawn(|| ()).join().expect("no panic");
        }
        Err(error) => println!("{FACT}{error}"),
    }
}

/// The names of what lies in the folder for files.
fn files(copy: &Copy) -> Vec<String> {
    let entries = fs::read_dir(copy.work()).expect("read");
    entries.map(|it| it.expect("read").file_name().into_string().expect("UTF-8")).collect()
}

#[test]
fn variables_count_only_where_nothing_is_gained() {
    let Some(plain) = Copy::new(Gain::Nothing) else { return };
    let run = |command: &mut Command| facts(&command.output().expect("the child starts"));
    let without = run(&mut plain.command("facts"));
    assert_eq!(without.len(), 3, "{without:?}");
    assert_eq!(files(&plain), [""; 0]);

    let mut command = plain.command("facts");
    with_variables(&mut command, &plain.work());
    let with = [&*format!("{} workers", workers()), "asymmetric: false", "777 pauses: true"];
    assert_eq!(run(&mut command), with);
    let made = files(&plain);
    let is_made = |name: &str| made.iter().any(|path| path == name);
    assert_eq!(is_made("trace"), cfg!(feature = "trace"), "{made:?}");
    assert_eq!(is_made("sateen"), cfg!(feature = "inspect"), "{made:?}");

    for gain in [Gain::User, Gain::Group, Gain::Capability] {
        let Some(copy) = Copy::new(gain) else { continue };
        let mut command = copy.command("facts");
        with_variables(&mut command, &copy.work());
        let output = command.output().expect("the child starts");
        let text = text(&output);
        let has_gained = match gain {
            Gain::User => "the child does facts: (true, false, 0)",
            Gain::Group => "the child does facts: (false, true, 65534)",
            _ => "the child does facts: (false, false, 65534)",
        };
        assert!(text.contains(has_gained), "{gain:?}: {text}");
        assert_eq!(facts(&output), without, "{gain:?}: {text}");
        assert_eq!(files(&copy), [""; 0], "{gain:?}: {text}");
        // Not even their values are looked at.
        for name in ["SATEEN_WORKERS", "SATEEN_STRICT", "SATEEN_INSPECT", "SATEEN_TRACE_EVENTS"] {
            let mut command = copy.command("facts");
            command.env(name, "a stranger's").env("SATEEN_TRACE", "trace");
            let output = command.output().expect("the child starts");
            assert_eq!(facts(&output), without, "{gain:?}: {name}");
            assert!(output.stderr.is_empty(), "{gain:?}: {name}: {output:?}");
        }
    }
}

/// Whoever starts it, and whoever it runs as, are not the same: a client could have it write files
/// that are not the client's.
#[cfg(feature = "inspect")]
#[test]
fn nobody_looks_at_a_program_that_has_gained_something() {
    for gain in [Gain::User, Gain::Group, Gain::Capability] {
        let Some(copy) = Copy::new(gain) else { continue };
        let output = copy.command("inspect").output().expect("the child starts");
        let said = "sateen: nobody can look at this program: it has gained privileges";
        assert!(text(&output).contains(said), "{gain:?}: {}", text(&output));
        assert!(output.status.success(), "{gain:?}: {}", text(&output));
    }
}
