//! What a program needs to answer others on the same machine: who it runs as, and which of its
//! connections have something to read.

use std::io;
use std::os::fd::RawFd;

/// The number of the user with whose rights this process runs.
pub fn user_id() -> u32 {
    // SAFETY: it always succeeds.
    unsafe { libc::geteuid() }
}

/// Has `last` called when the process exits, in any way but by a signal.
pub fn at_exit(last: extern "C" fn()) {
    // Without memory for it the call is left out, and the process ends all the same.
    // SAFETY: the function stays, and no panic leaves it: that would end the process.
    unsafe { libc::atexit(last) };
}

/// The most descriptors of [`wait_readable`].
pub const MOST_READABLE: usize = 16;

/// Waits until one of `descriptors` has something to read, or has been closed by the other side;
/// for `milliseconds` at most, or for ever below 0. Returns a bit for each of them, the first one's
/// lowest. Allocates nothing.
///
/// # Errors
/// The system's, but for an interruption by a signal: then the result is 0.
///
/// # Panics
/// With more than [`MOST_READABLE`].
pub fn wait_readable(descriptors: &[RawFd], milliseconds: i32) -> io::Result<u32> {
    let mut asked = [libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; MOST_READABLE];
    let asked = &mut asked[..descriptors.len()];
    for (asked, &descriptor) in asked.iter_mut().zip(descriptors) {
        asked.fd = descriptor;
    }
    // SAFETY: the entries are there, and as many.
    let found = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as _, milliseconds) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) };
    }
    let bit = |(at, asked): (usize, &libc::pollfd)| u32::from(asked.revents != 0) << at;
    Ok(asked.iter().enumerate().map(bit).sum())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn it_tells_which_ones_have_something() {
        let (first, _other) = UnixStream::pair().expect("a pair");
        let (second, mut writes) = UnixStream::pair().expect("a pair");
        let both = [first.as_raw_fd(), second.as_raw_fd()];
        assert_eq!(wait_readable(&both, 0).expect("polled"), 0);
        writes.write_all(b"x").expect("written");
        assert_eq!(wait_readable(&both, -1).expect("polled"), 2);
        drop(_other);
        assert_eq!(wait_readable(&both, -1).expect("polled"), 3);
    }
}
