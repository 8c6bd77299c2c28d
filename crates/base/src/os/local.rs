//! Local communication: the user's id, readiness of descriptors, and non-blocking connections.

use std::ffi::c_char;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::ptr::null_mut;

/// The id of the user with whose rights this process runs.
pub fn user_id() -> u32 {
    // SAFETY: it always succeeds.
    unsafe { libc::geteuid() }
}

/// Arranges for `last` to be called when the process exits, other than by a signal.
pub fn at_exit(last: extern "C" fn()) {
    // If there is no memory for it, the call is skipped, and the process ends nevertheless.
    // SAFETY: the function stays valid, and no panic leaves it: that would end the process.
    unsafe { libc::atexit(last) };
}

/// The most descriptors of [`wait_ready`].
pub const MOST_READY: usize = 16;

/// What [`wait_ready`] waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The descriptor has something to read, or the other side has closed it.
    Read,
    /// The descriptor has room for writing, or has an error to report.
    Write,
}

/// Waits until one of `descriptors` is ready, for `milliseconds` at most, or without a limit if
/// that is negative. Returns a bit for each of them, the lowest for the first. Negative descriptors
/// are skipped. Allocates nothing.
///
/// # Errors
/// The system's error. On interruption by a signal the result is 0 instead.
///
/// # Panics
/// With more than [`MOST_READY`].
pub fn wait_ready(descriptors: &[(RawFd, Ready)], milliseconds: i32) -> io::Result<u32> {
    let mut asked = [libc::pollfd { fd: -1, events: 0, revents: 0 }; MOST_READY];
    let asked = &mut asked[..descriptors.len()];
    for (asked, &(descriptor, ready)) in asked.iter_mut().zip(descriptors) {
        asked.fd = descriptor;
        asked.events = if ready == Ready::Read { libc::POLLIN } else { libc::POLLOUT };
    }
    // SAFETY: the entries are valid, and their number is right.
    let found = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as _, milliseconds) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) };
    }
    let bit = |(at, asked): (usize, &libc::pollfd)| u32::from(asked.revents != 0) << at;
    Ok(asked.iter().enumerate().map(bit).sum())
}

/// From now on, some writes of the calling thread fail with an error instead of raising a signal
/// that ends the program. These are writes to a closed connection (`SIGPIPE`) and beyond a file's
/// size limit (`SIGXFSZ`).
pub fn block_write_signals() {
    // SAFETY: an empty set is valid; the calls read and write their arguments. They only fail for
    // invalid signal numbers.
    unsafe {
        let mut signals: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, libc::SIGPIPE);
        libc::sigaddset(&mut signals, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &signals, null_mut());
    }
}

/// Connects to the socket at `path` if that is possible at once. The connection is then
/// [non-blocking](UnixStream::set_nonblocking).
///
/// # Errors
/// The system's error. On Linux `WouldBlock` if the other program has not accepted earlier
/// connections and there is no room for more, for example because it is stopped. `connect` of the
/// standard library would block in that case.
pub fn connect_at_once(path: &Path) -> io::Result<UnixStream> {
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: the type consists of numbers.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    // One more for the zero at the end.
    if bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        let reason = "the path of a socket is too long, or has a zero in it";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, &byte) in address.sun_path.iter_mut().zip(bytes) {
        *to = byte as c_char;
    }
    // SAFETY: the call takes no pointers.
    let made = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just created, and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(made) };
    // SAFETY: it is ours; child programs do not inherit it.
    unsafe { libc::fcntl(made, libc::F_SETFD, libc::FD_CLOEXEC) };
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    let length = mem::size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is valid, has this length, and a zero after the path.
    match unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), length) } {
        0 => Ok(stream),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    #[test]
    fn it_tells_which_ones_have_something() {
        let (first, _other) = UnixStream::pair().expect("a pair");
        let (second, mut writes) = UnixStream::pair().expect("a pair");
        let both = [first.as_raw_fd(), second.as_raw_fd()].map(|it| (it, Ready::Read));
        assert_eq!(wait_ready(&both, 0).expect("polled"), 0);
        writes.write_all(b"x").expect("written");
        assert_eq!(wait_ready(&both, -1).expect("polled"), 2);
        drop(_other);
        assert_eq!(wait_ready(&both, -1).expect("polled"), 3);
        let none = [(-1, Ready::Read), both[1]];
        assert_eq!(wait_ready(&none, -1).expect("polled"), 2);
    }

    #[test]
    fn it_tells_whether_there_is_room() {
        let (mut writes, mut reads) = UnixStream::pair().expect("a pair");
        writes.set_nonblocking(true).expect("set");
        let room = [(writes.as_raw_fd(), Ready::Write)];
        assert_eq!(wait_ready(&room, 0).expect("polled"), 1);
        let full = loop {
            match writes.write(&[0; 4096]) {
                Ok(count) => assert!(count > 0),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(wait_ready(&room, 1).expect("polled"), 0);
        reads.set_nonblocking(true).expect("set");
        while reads.read(&mut [0; 4096]).is_ok() {}
        assert_eq!(wait_ready(&room, -1).expect("polled"), 1);
    }

    /// The process would end otherwise: it lets the signal do what it does by itself.
    #[test]
    fn a_broken_pipe_is_an_error() {
        let thread = std::thread::spawn(|| {
            block_write_signals();
            // SAFETY: no other test of this program writes to what is gone.
            let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
            let (mut writes, reads) = UnixStream::pair().expect("a pair");
            drop(reads);
            let error = writes.write(b"x").expect_err("nobody reads");
            // SAFETY: as it was.
            unsafe { libc::signal(libc::SIGPIPE, before) };
            error.kind()
        });
        assert_eq!(thread.join().expect("no panic"), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_connection_is_there_at_once_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("sateen-local-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        let path = folder.join("a.sock");
        let kind = |path: &Path| connect_at_once(path).map(drop).map_err(|error| error.kind());
        assert_eq!(kind(&path), Err(io::ErrorKind::NotFound));
        assert_eq!(kind(&folder.join("x".repeat(200))), Err(io::ErrorKind::InvalidInput));
        let listener = UnixListener::bind(&path).expect("bound");
        let mut here = connect_at_once(&path).expect("connected");
        let (mut there, _) = listener.accept().expect("accepted");
        here.write_all(b"x").expect("written");
        there.read_exact(&mut [0]).expect("read");
        if cfg!(target_os = "linux") {
            // Fewer may wait than there may be descriptors.
            // SAFETY: the socket is the listener's.
            assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
            let mut kept = Vec::new();
            let full = loop {
                match connect_at_once(&path) {
                    Ok(stream) => kept.push(stream),
                    Err(error) => break error,
                }
            };
            assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        }
        drop(listener);
        assert_eq!(kind(&path), Err(io::ErrorKind::ConnectionRefused));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
