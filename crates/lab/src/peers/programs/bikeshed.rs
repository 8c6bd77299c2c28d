//! Bikeshed: its header, which the user has, around a program of ours.
//!
//! Channels and batches are numbers that the compiler knows, as in the original's own benchmark. Optimisation is `-O3`,
//! as there, and not for this very processor, which our own side isn't built for either.

use super::recipe::{compiler, from_sources};
use super::serve::Served;
use crate::adapter::{SHED_TESTS, ShedLoad, ShedTest};
use crate::error::{Error, input};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// A copy of `bikeshed.h` that compiles with our program: `--bikeshed-header`.
#[derive(Clone, Debug)]
pub(crate) struct Bikeshed(Rc<Header>);

#[derive(Debug)]
struct Header {
    path: PathBuf,
    text: String,
}

impl Bikeshed {
    /// Reads `header`.
    ///
    /// # Errors
    /// It is not there, no file, or no text.
    pub(crate) fn read(header: &Path) -> Result<Self, Error> {
        let is_file = fs::metadata(header).map(|m| m.is_file());
        let text = match is_file {
            Ok(false) => Err("not a file".to_owned()),
            _ => fs::read_to_string(header).map_err(|e| e.to_string()),
        };
        let text = text.map_err(|why| refused(header, &why))?;
        Ok(Self(Rc::new(Header { path: header.to_path_buf(), text })))
    }

    /// Builds the programs of all tests, as far as an earlier process has not; takes seconds.
    ///
    /// # Errors
    /// There is no compiler, or it does not like the header.
    pub(crate) fn compile(&self) -> Result<(), Error> {
        SHED_TESTS.iter().try_for_each(|test| self.built(test).map(drop))
    }

    /// A program that has started for `test` under `load`.
    ///
    /// # Errors
    /// As [`Bikeshed::compile`], or the program does not start.
    pub(crate) fn start(&self, test: &ShedTest, load: ShedLoad) -> Result<Running, Error> {
        let ShedLoad { producers, consumers, capacity, tasks } = load;
        let mut words = vec!["./peer".to_owned()];
        words.extend([producers, consumers, capacity, tasks].map(|n| n.to_string()));
        let served = Served::start(&self.built(test)?, &words, tasks.into());
        let served = served.map_err(|why| refused(&self.0.path, &why))?;
        Ok(Running { test: test.name, served })
    }

    /// The folder of the program for `test`.
    fn built(&self, test: &ShedTest) -> Result<PathBuf, Error> {
        let sources = [
            ("bikeshed.h", &*self.0.text),
            ("bikeshed.c", include_str!("../../../peers-src/bikeshed.c")),
        ];
        let mut words = compiler("CC", "cc");
        words.extend(super::words(&[
            "-std=gnu11",
            "-O3",
            "-w",
            "-pthread",
            "-o",
            "peer",
            "bikeshed.c",
        ]));
        let ShedTest { channels, padded, yields, batch, .. } = *test;
        words.extend([format!("-DCHANNELS={channels}"), format!("-DBATCH={batch}")]);
        words.extend([
            format!("-DPADDED={}", u8::from(padded)),
            format!("-DYIELDS={}", u8::from(yields)),
        ]);
        // Whoever names a header is told of it; that it takes a moment needs no line.
        let built = from_sources("Bikeshed", &sources, &words, |_| ());
        built.map_err(|why| refused(&self.0.path, &why))
    }
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
    /// One run with fresh memory: from releasing the producers until all tasks are executed, and no more than those.
    ///
    /// # Errors
    /// [`Error::Absent`] if tasks got lost or came twice: others can be measured all the same.
    pub(crate) fn run(&mut self) -> Result<Duration, Error> {
        match self.served.run() {
            Ok(values) => Ok(Duration::from_nanos(values[0] as u64)),
            Err(e) => Err(Error::Absent(format!("Bikeshed, test {}: {e}", self.test))),
        }
    }
}
