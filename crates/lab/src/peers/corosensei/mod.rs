//! Adapter for `corosensei` alone: the switch under our fibers, without a scheduler.

use crate::adapter::{Turns, Way};
use crate::error::Error;
use corosensei::{Coroutine, CoroutineResult};

/// Two coroutines, resumed in turns by a plain loop.
pub(crate) struct Corosensei;

impl Turns for Corosensei {
    const NAME: &'static str = "corosensei";
    const WAYS: &'static [Way] = &[Way::Yield];
    type Pool = ();

    fn build(_workers: usize) -> Result<(), Error> {
        Ok(())
    }

    fn hop((): &(), _way: Way, hops: u64) -> u64 {
        let times = hops / 2;
        let start = || {
            Coroutine::<(), (), u64>::new(move |yielder, ()| {
                for _ in 0..times {
                    yielder.suspend(());
                }
                times
            })
        };
        let mut both = [start(), start()];
        loop {
            let [a, b] = both.each_mut().map(|c| c.resume(()));
            if let (CoroutineResult::Return(a), CoroutineResult::Return(b)) = (a, b) {
                return a + b;
            }
        }
    }
}
