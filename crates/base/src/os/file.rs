//! Opens files named from outside: the environment and other programs choose where a trace goes.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens the file at `path` for writing anew, like [`File::create`], but never blocks on a pipe
/// without a reader, a device, or another program's lease on the file. It still blocks on a file
/// system that does not respond.
///
/// # Errors
/// The system's error, or that `path` is not a regular file.
pub fn create_regular(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    let mut options = OpenOptions::new();
    // An existing file is truncated only once it is known to be a regular file.
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path).map_err(|error| {
        // For a pipe, the system's error is that there is no such device.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) { refused() } else { error }
    })?;
    if !file.metadata()?.is_file() {
        return Err(refused());
    }
    file.set_len(0)?;
    Ok(file)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_written_anew() {
        let path = std::env::temp_dir().join(format!("sateen-file-{}", std::process::id()));
        for text in ["long", "x"] {
            let mut file = create_regular(&path).expect("opened");
            file.write_all(text.as_bytes()).expect("written");
            drop(file);
            assert_eq!(fs::read_to_string(&path).expect("read"), text);
        }
        fs::remove_file(&path).expect("removed");
        assert!(create_regular(&std::env::temp_dir()).is_err());
        let missing = create_regular(&path.join("x")).expect_err("no such folder");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
