//! Files that are either whole or absent.

use super::print;
use crate::error::{Error, input, unwritten};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The place of a result file, checked before anything is measured.
///
/// [`Destination::write`] writes a temporary file beside it and renames that, so a reader never
/// sees half of it and an old file survives a failure. The temporary file is new: its name cannot
/// be guessed, so no link can lie there. A pipe or a device is written directly.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    direct: bool,
}

/// The place of a page: a file, or standard output.
#[derive(Debug)]
pub(crate) enum PageDestination {
    File(Destination),
    Standard,
}

impl PageDestination {
    /// Checks that `path` can be written; `-` is standard output.
    ///
    /// # Errors
    /// See [`Destination::check`].
    pub(crate) fn check(path: &Path) -> Result<Self, Error> {
        match path.as_os_str() == "-" {
            true => Ok(Self::Standard),
            false => Destination::check(path).map(Self::File),
        }
    }

    /// Writes `page`.
    ///
    /// # Errors
    /// The system's reason, with the path.
    pub(crate) fn write(&self, page: &str) -> Result<(), Error> {
        match self {
            Self::File(file) => file.write(page),
            Self::Standard => print(page),
        }
    }
}

impl fmt::Display for PageDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "`{}`", file.path.display()),
            Self::Standard => f.write_str("standard output"),
        }
    }
}

impl Destination {
    /// Checks that `path` can be written, and leaves nothing behind.
    ///
    /// # Errors
    /// The system's reason, with the path.
    pub(crate) fn check(path: &Path) -> Result<Self, Error> {
        let fail = |e: io::Error| input(format!("cannot write `{}`: {e}", path.display()));
        // Renaming must replace the target of a link, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let this = match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            Ok(meta) => {
                OpenOptions::new().append(true).open(&path).map_err(fail)?;
                Self { direct: !meta.is_file(), path }
            }
            Err(_) => Self { path, direct: false },
        };
        if !this.direct {
            this.temporary().and_then(NamedTempFile::close).map_err(fail)?;
        }
        Ok(this)
    }

    /// Checks the same for a directory that will hold several files, and creates it if it does not
    /// exist.
    ///
    /// # Errors
    /// The system's reason, with the path.
    pub(crate) fn check_directory(path: &Path) -> Result<(), Error> {
        let fail = |e| input(format!("cannot write into directory `{}`: {e}", path.display()));
        fs::create_dir_all(path).map_err(fail)?;
        Self::check(&path.join("probe.svg")).map(drop)
    }

    /// Writes `text`.
    ///
    /// # Errors
    /// The system's reason, with the path; the temporary file is removed.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        let fail = |e| unwritten(&format!("`{}`", self.path.display()), &e);
        if self.direct {
            return fs::write(&self.path, text).map_err(fail);
        }
        let write = || {
            let mut file = self.temporary()?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map(drop).map_err(|e| e.error)
        };
        write().map_err(fail)
    }

    /// Creates a new file beside the destination, which is removed when it is dropped.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sateen-").suffix(".tmp");
        // As other new files: the system takes away what the user's mask says.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("an entry"));
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.json");
        for text in ["one", "two"] {
            Destination::check(&path).expect("writable").write(text).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("readable"), text);
        }
        assert_eq!(names(folder.path()), ["out.json"]);
    }

    /// Another user of the folder cannot know where the text goes before it has its name.
    #[cfg(unix)]
    #[test]
    fn a_link_at_a_guessed_name_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, victim) = (folder.path().join("out.json"), folder.path().join("victim"));
        fs::write(&victim, "precious").expect("written");
        let guessed = format!(".out.json.{}.tmp", std::process::id());
        std::os::unix::fs::symlink(&victim, folder.path().join(&guessed)).expect("linked");
        Destination::check(&path).expect("writable").write("text").expect("written");
        assert_eq!(fs::read_to_string(&victim).expect("readable"), "precious");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "text");
        assert!(names(folder.path()).contains(&guessed), "somebody else's link is gone");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_mode_of_new_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
        let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
        Destination::check(&ours).expect("writable").write("").expect("written");
        fs::write(&usual, "").expect("written");
        assert_eq!(mode(&ours), mode(&usual));
    }
}
