//! Our channels, between threads and between tasks.

use super::runtime::runtime;
use crate::adapter::{Channels, OURS, usual_channels};
use crate::crew::Done;
use crate::error::{Error, input};
use crate::experiments::channel::{consume, produce};
use crate::experiments::through::{Clocked, Sums};
use sateen::Runtime;
use std::time::Instant;

/// Our channels, between whomever.
pub(crate) struct Sateen;

usual_channels!(Sateen, OURS, sateen::channel);

/// A runtime on which a task sends to another.
pub(crate) struct ChannelFibers(Runtime);

impl ChannelFibers {
    /// With so many workers.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn new(workers: usize) -> Result<Self, Error> {
        runtime(workers).map(Self)
    }

    /// One run through a fresh channel.
    ///
    /// # Errors
    /// Something came out that was not sent.
    pub(crate) fn run(&self, capacity: Option<usize>, clocked: Clocked) -> Result<Vec<f64>, Error> {
        let (sender, receiver) = Sateen::open(capacity);
        let start = Instant::now();
        let done = move |result: Sums| Done { elapsed: start.elapsed(), result };
        let producer = self.0.spawn(move || done(produce::<Sateen>(&sender, clocked, 0)));
        let consumer = self.0.spawn(move || done(consume::<Sateen>(&receiver)));
        let both =
            [producer.join(), consumer.join()].map(|done| done.map_err(|e| input(e.to_string())));
        let both: Result<Vec<Done<Sums>>, Error> = both.into_iter().collect();
        Sums::judge(&both?, 1)
    }
}
