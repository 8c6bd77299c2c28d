//! Which programs there are to look at.

use super::error::{Error, input};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::geteuid;
use sateen_top::foreign::Foreign;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The socket of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// As the name of the socket says it.
    pub(super) name: Foreign,
    pub(super) pid: u32,
    pub(super) path: PathBuf,
}

/// The folder of this user's sockets.
pub(super) fn folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(run) if run.is_absolute() => run.join("sateen"),
        _ => std::env::temp_dir().join(format!("sateen-{}", geteuid().as_raw())),
    }
}

/// Returns all sockets, by name and number, also those that nobody serves any more.
///
/// # Errors
/// The folder is not this user's, or cannot be read.
pub(super) fn all() -> Result<Vec<Place>, Error> {
    let folder = folder();
    let Ok(found) = fs::symlink_metadata(&folder) else { return Ok(Vec::new()) };
    let shown = folder.display();
    if found.uid() != geteuid().as_raw() {
        return Err(input(format!("`{shown}` belongs to user {}, not to you", found.uid())));
    }
    let entries = fs::read_dir(&folder).map_err(|e| input(format!("`{shown}`: {e}")))?;
    let mut places: Vec<Place> =
        entries.filter_map(|entry| Place::of(&entry.ok()?.path())).collect();
    places.sort_by(|a, b| (&a.name, a.pid).cmp(&(&b.name, b.pid)));
    Ok(places)
}

/// Returns the one program that the user means.
///
/// # Errors
/// There is none, or more than one.
pub(super) fn find(program: &str) -> Result<Place, Error> {
    if program.contains('/') {
        let path = Path::new(program);
        let bare = || Place { name: "program".into(), pid: 0, path: path.to_owned() };
        return Ok(Place::of(path).unwrap_or_else(bare));
    }
    let all = all()?;
    let is_meant = |place: &&Place| {
        place.name == program
            || place.pid.to_string() == program
            || place.path.file_stem().is_some_and(|stem| stem == program)
    };
    let mut meant: Vec<&Place> = all.iter().filter(is_meant).collect();
    if meant.len() > 1 {
        // Those that have ended are not in doubt.
        let live: Vec<&Place> = meant.iter().copied().filter(|it| it.is_served()).collect();
        meant = if live.is_empty() { meant[..1].to_vec() } else { live };
    }
    match meant[..] {
        [one] => Ok(one.clone()),
        [] => Err(input(format!(
            "no program `{program}` can be looked at; `sateen-top` lists those that can"
        ))),
        _ => {
            let each = meant.iter().map(|place| format!("`sateen-top {}`", place.pid));
            let count = meant.len();
            let each = each.collect::<Vec<_>>().join(" or ");
            Err(input(format!("{count} programs have the name `{program}`: {each}")))
        }
    }
}

impl Place {
    /// None: the name is not that of a program's socket.
    fn of(path: &Path) -> Option<Self> {
        let (name, pid) = path.file_name()?.to_str()?.strip_suffix(".sock")?.rsplit_once('-')?;
        let pid = pid.parse().ok()?;
        Some(Self { name: name.into(), pid, path: path.to_owned() })
    }

    fn is_served(&self) -> bool {
        // One that is stopped may have no room for one more.
        match self.connect() {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    /// Connects without waiting: the standard library's `connect` waits for a program that is
    /// stopped and has no room for one more.
    pub(super) fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::from(socket(AddressFamily::UNIX, SocketType::STREAM, None)?);
        stream.set_nonblocking(true)?;
        connect(&stream, &SocketAddrUnix::new(&self.path)?)?;
        Ok(stream)
    }

    /// Refuses what is not a socket of this user's.
    ///
    /// # Errors
    /// It is somebody else's, no socket, or gone.
    pub(super) fn check(&self) -> Result<(), Error> {
        let shown = self.path.display();
        let found = fs::symlink_metadata(&self.path)
            .map_err(|e| input(format!("cannot look at `{shown}`: {e}")))?;
        if !found.file_type().is_socket() {
            return Err(input(format!("`{shown}` is no socket")));
        }
        if found.uid() != geteuid().as_raw() {
            return Err(input(format!("`{shown}` belongs to user {}, not to you", found.uid())));
        }
        Ok(())
    }
}
