//! Files that are either whole or absent.

use super::print;
use crate::error::{Error, input, unwritten};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The place of a result file, checked before anything is measured.
///
/// [`Destination::write`] writes a temporary file beside it and renames that, so a reader never
/// sees half of it and an old file survives a failure. A pipe or a device is written directly.
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
            let probe = this.temporary();
            File::create(&probe).map_err(fail)?;
            fs::remove_file(&probe).map_err(fail)?;
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
        let temporary = self.temporary();
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)
        };
        write().map_err(|e| {
            // The reason for the failure is what counts, not a leftover that cannot be removed.
            let _ = fs::remove_file(&temporary);
            fail(e)
        })
    }

    fn temporary(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
    }
}
