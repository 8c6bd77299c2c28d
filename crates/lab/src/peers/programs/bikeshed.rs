//! Bikeshed: the user's copy of its header, around a program of ours.
//!
//! The number of channels and the size of a batch are known to the compiler, as in the original's
//! own benchmark. Programs are built with `-O3`, as there, and, like our side, not for this
//! processor in particular.

use super::recipe::{compiler, from_sources};
use super::serve::Served;
use crate::adapter::{BikeshedHeader, SHED_TESTS, ShedLoad, ShedTest};
use crate::error::{Error, input};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reads the header at `path`.
///
/// # Errors
/// It does not exist, or is not a text file.
pub(crate) fn read(path: &Path) -> Result<BikeshedHeader, Error> {
    let is_file = fs::metadata(path).map(|m| m.is_file());
    let text = match is_file {
        Ok(false) => Err("not a file".to_owned()),
        _ => fs::read_to_string(path).map_err(|e| e.to_string()),
    };
    let text = text.map_err(|why| refused(path, &why))?;
    Ok(BikeshedHeader { path: path.to_path_buf(), text })
}

/// Builds the programs of all tests that no earlier process has built; takes seconds.
///
/// # Errors
/// There is no compiler, or it refuses the header.
pub(crate) fn compile(header: &BikeshedHeader) -> Result<(), Error> {
    SHED_TESTS.iter().try_for_each(|test| built(header, test).map(drop))
}

/// Starts a program for `test` under `load`.
///
/// # Errors
/// As [`compile`], or the program does not start.
pub(crate) fn start(
    header: &BikeshedHeader,
    test: &ShedTest,
    load: ShedLoad,
) -> Result<Running, Error> {
    let ShedLoad { producers, consumers, capacity, tasks } = load;
    let mut words = vec!["./peer".to_owned()];
    words.extend([producers, consumers, capacity, tasks].map(|n| n.to_string()));
    let served = Served::start(&built(header, test)?, &words, tasks.into());
    let served = served.map_err(|why| refused(&header.path, &why))?;
    Ok(Running { test: test.name, served })
}

/// The folder of the program for `test`.
fn built(header: &BikeshedHeader, test: &ShedTest) -> Result<PathBuf, Error> {
    let sources = [
        ("bikeshed.h", &*header.text),
        ("bikeshed.c", include_str!("../../../peers-src/bikeshed.c")),
    ];
    let mut words = compiler("CC", "cc");
    let fixed = ["-std=gnu11", "-O3", "-w", "-pthread", "-o", "peer", "bikeshed.c"];
    words.extend(super::words(&fixed));
    let ShedTest { channels, padded, yields, batch, .. } = *test;
    words.extend([
        format!("-DCHANNELS={channels}"),
        format!("-DBATCH={batch}"),
        format!("-DPADDED={}", u8::from(padded)),
        format!("-DYIELDS={}", u8::from(yields)),
    ]);
    // A user who names a header waits for its compiler without being told.
    let built = from_sources("Bikeshed", &sources, &words, |_| ());
    built.map_err(|why| refused(&header.path, &why))
}

fn refused(header: &Path, why: &str) -> Error {
    input(format!("--bikeshed-header `{}`: {why}", header.display()))
}

/// A program that waits for its next run; dropping it ends it.
pub(crate) struct Running {
    test: &'static str,
    served: Served,
}

impl Running {
    /// Makes one run with fresh memory: from releasing the producers until all tasks are executed.
    ///
    /// # Errors
    /// [`Error::Absent`] if tasks were lost or executed twice: other implementations are measured
    /// all the same.
    pub(crate) fn run(&mut self) -> Result<Duration, Error> {
        match self.served.run() {
            Ok(values) => Ok(Duration::from_nanos(values[0] as u64)),
            Err(e) => Err(Error::Absent(format!("Bikeshed, test {}: {e}", self.test))),
        }
    }
}
