//! What may lie where a file is to be written, and would keep whoever opens it.
#![allow(dead_code)]

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// What a file is refused with that is none.
pub(crate) const NO_FILE: &str = "it is not a regular file";

pub(crate) fn make_pipe(path: &Path) {
    let name = CString::new(path.as_os_str().as_bytes()).expect("no zero");
    // SAFETY: the name ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

/// Paths to what is no regular file. They stay so while this is kept.
pub(crate) struct NoFiles {
    pub(crate) paths: Vec<PathBuf>,
    _read: File,
    _socket: UnixListener,
}

impl NoFiles {
    pub(crate) fn new(folder: &Path) -> Self {
        let at = |name: &str| folder.join(name);
        make_pipe(&at("pipe"));
        make_pipe(&at("read"));
        // It has a reader, who never reads.
        let read = File::options().read(true).write(true).open(at("read")).expect("opened");
        symlink(at("pipe"), at("link")).expect("made");
        let socket = UnixListener::bind(at("socket")).expect("bound");
        let mut paths = ["pipe", "read", "link", "socket"].map(at).to_vec();
        paths.extend(["/dev/null", "/dev/tty", "/dev/full"].map(PathBuf::from));
        paths.push(folder.to_owned());
        Self { paths, _read: read, _socket: socket }
    }
}

/// A file that this process has a lease on: it is asked before somebody else writes, and whoever
/// opens the file waits for three quarters of a minute. None where there are no leases.
#[cfg(target_os = "linux")]
pub(crate) fn leased(path: &Path) -> Option<File> {
    fs::write(path, "").expect("written");
    let file = File::open(path).expect("opened");
    // SAFETY: the descriptor is the file's. The signal that asks would end the process.
    let leased = unsafe {
        libc::signal(libc::SIGIO, libc::SIG_IGN);
        libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) == 0
    };
    if !leased {
        println!("skipped in part: `{}` is where no leases are", path.display());
    }
    leased.then_some(file)
}
