//! Why a pool could not be built.

use sateen_runtime::BuildError;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a pool could not be built.
///
/// ```
/// use rayon_core::ThreadPoolBuilder;
/// ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
/// let error = ThreadPoolBuilder::new().build_global().unwrap_err();
/// assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
/// ```
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    Io(io::Error),
}

impl ThreadPoolBuildError {
    pub(crate) fn already_initialized() -> Self {
        Self { kind: Kind::GlobalPoolAlreadyInitialized }
    }

    pub(crate) fn already_in_pool() -> Self {
        Self { kind: Kind::CurrentThreadAlreadyInPool }
    }

    pub(crate) fn io(error: io::Error) -> Self {
        Self { kind: Kind::Io(error) }
    }
}

impl From<BuildError> for ThreadPoolBuildError {
    fn from(error: BuildError) -> Self {
        Self::io(match error {
            BuildError::Thread { source, .. } | BuildError::Stack(source) => source,
            BuildError::StackSize(_) => {
                io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
            }
            other => io::Error::other(other.to_string()),
        })
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::GlobalPoolAlreadyInitialized => {
                f.pad("The global thread pool has already been initialized.")
            }
            Kind::CurrentThreadAlreadyInPool => {
                f.pad("The current thread is already part of another thread pool.")
            }
            Kind::Io(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::GlobalPoolAlreadyInitialized | Kind::CurrentThreadAlreadyInPool => None,
            Kind::Io(error) => Some(error),
        }
    }
}
