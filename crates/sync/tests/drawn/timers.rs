//! Bytes that say what is done to timers and to their twin, a sorted map.

use arbitrary::Unstructured;
use sateen_sync::timer::{Timer, TimerQueue};
use sateen_testkit::waker_fn;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

/// The timers that fired, each with its time.
type Fired = Arc<Mutex<Vec<(u64, usize)>>>;

fn note(fired: &Fired, what: (u64, usize)) -> Waker {
    let fired = Arc::clone(fired);
    waker_fn(move || fired.lock().expect("no panic under it").push(what))
}

fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// Does what `bytes` say to timers and to their twin. Panics where they differ.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let (queue, fired) = (TimerQueue::new(), Fired::default());
    // The queue treats all times before the process first asked for the time as equal.
    let base = Instant::now() + Duration::from_secs(1);
    let many = 1 + below(&mut u, 60);
    let mut timers: Vec<Pin<Box<Timer<&TimerQueue>>>> =
        (0..many).map(|_| Box::pin(Timer::new(&queue))).collect();
    // Ordered by time and turn.
    let mut twin: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    let mut turn = 0;
    while !u.is_empty() {
        turn += 1;
        let who = below(&mut u, many);
        let armed = twin.values().any(|other| *other == who);
        assert_eq!(timers[who].is_armed(), armed);
        match below(&mut u, 16) {
            0..8 => {
                twin.retain(|_, other| *other != who);
                let first = twin.keys().next().map(|(at, _)| *at);
                let at = below(&mut u, 1000) as u64;
                let note = note(&fired, (at, who));
                let earliest = timers[who].as_mut().arm(base + micros(at), note);
                assert_eq!(earliest, first.is_none_or(|first| at < first));
                twin.insert((at, turn), who);
            }
            8..11 => {
                timers[who].as_mut().disarm();
                twin.retain(|_, other| *other != who);
            }
            11 => {
                timers[who] = Box::pin(Timer::new(&queue));
                twin.retain(|_, other| *other != who);
            }
            12 => {
                assert_eq!(timers[who].as_mut().set_waker(Waker::noop()), armed);
                // With this waker the timer would fire unnoticed, so it gets another one.
                if let Some(at) = twin.iter().find(|(_, other)| **other == who).map(|(at, _)| at.0)
                {
                    let note = note(&fired, (at, who));
                    assert!(timers[who].as_mut().set_waker(&note));
                }
            }
            _ => {
                let first = twin.keys().next().map_or(0, |(at, _)| *at);
                let now = first + below(&mut u, 100) as u64;
                let later = twin.split_off(&(now + 1, 0));
                let due = std::mem::replace(&mut twin, later);
                assert_eq!(queue.fire(base + micros(now)), due.len());
                let mut fired = std::mem::take(&mut *fired.lock().expect("no panic under it"));
                assert!(fired.is_sorted_by_key(|(at, _)| *at));
                let mut due: Vec<_> = due.into_iter().map(|((at, _), who)| (at, who)).collect();
                due.iter().for_each(|(_, who)| assert!(timers[*who].has_fired()));
                fired.sort_unstable();
                due.sort_unstable();
                assert_eq!(fired, due);
            }
        }
        let first = twin.keys().next().map(|(at, _)| base + micros(*at));
        assert_eq!((queue.len(), queue.earliest()), (twin.len(), first));
    }
}
