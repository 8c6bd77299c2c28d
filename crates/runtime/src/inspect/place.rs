//! The socket's folder and name.

use sateen_base::os;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// The most bytes of the program's name: a socket's path must be short.
const NAME: usize = 32;

/// The folder of this user's sockets.
fn folder() -> PathBuf {
    match os::variable("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(run) if run.is_absolute() => run.join("sateen"),
        _ => temporary().join(format!("sateen-{}", os::user_id())),
    }
}

#[allow(clippy::disallowed_methods, reason = "a process with gained privileges has no socket")]
fn temporary() -> PathBuf {
    std::env::temp_dir()
}

/// The program's name, reduced to characters that need no escaping anywhere.
pub(super) fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or("");
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(NAME).collect();
    if name.is_empty() { "program".to_owned() } else { name }
}

/// Opens the socket and returns it with its path.
pub(super) fn open() -> io::Result<(UnixListener, PathBuf)> {
    let folder = folder();
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", folder.display()));
    make(&folder).map_err(named)?;
    sweep(&folder).map_err(named)?;
    let path = folder.join(format!("{}-{}.sock", program(), std::process::id()));
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()));
    if fs::symlink_metadata(&path).is_ok() {
        return Err(named(io::ErrorKind::AddrInUse.into()));
    }
    // The socket gets its name only when it accepts connections. Otherwise another starting program
    // would find it refused, and remove it. A killed program with this process number may have left
    // a draft behind.
    let draft = path.with_extension("bind");
    _ = fs::remove_file(&draft);
    // Only this user may use the folder, so nobody else can connect before the mode is set.
    let listener = UnixListener::bind(&draft).map_err(named)?;
    let opened = fs::set_permissions(&draft, Permissions::from_mode(0o600))
        .and_then(|()| listener.set_nonblocking(true))
        .and_then(|()| fs::rename(&draft, &path));
    if let Err(error) = opened {
        _ = fs::remove_file(&draft);
        return Err(named(error));
    }
    Ok((listener, path))
}

/// Creates the folder, and checks that only the user may access or replace it.
fn make(folder: &Path) -> io::Result<()> {
    // The owner of the parent could replace the folder, and so could every user who may write
    // there, unless users may rename only their own entries (the sticky bit).
    let around = fs::metadata(folder.parent().unwrap_or(folder))?;
    if ![0, os::user_id()].contains(&around.uid()) {
        let text = format!("the folder around it belongs to user {}", around.uid());
        return Err(io::Error::other(text));
    }
    if around.mode() & 0o1002 == 0o002 {
        return Err(io::Error::other("others may write to the folder around it"));
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Do not follow a link, which others may have placed there.
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is no folder"));
    }
    if found.uid() != os::user_id() {
        return Err(io::Error::other(format!("it belongs to user {}", found.uid())));
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return Err(io::Error::other(format!("others may use it: its mode is {mode:03o}")));
    }
    Ok(())
}

/// Removes the sockets of programs that no longer exist.
fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_socket = fs::symlink_metadata(&path).is_ok_and(|it| it.file_type().is_socket());
        if is_socket && path.extension().is_some_and(|ending| ending == "sock") {
            // Does not wait for a stopped program.
            let refused = os::connect_at_once(&path)
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
            if refused {
                // Another program may have just removed it.
                _ = fs::remove_file(&path);
            }
        }
    }
    Ok(())
}
