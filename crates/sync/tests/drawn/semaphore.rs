//! Bytes that say what is done to a semaphore and to its sequential twin.

use arbitrary::Unstructured;
use sateen_sync::{AcquireError, Semaphore, SemaphoreGuard};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

type Acquired<'a> = Result<SemaphoreGuard<'a>, AcquireError>;

/// A caller that waits in line.
struct Waiting<'a> {
    future: Pin<Box<dyn Future<Output = Acquired<'a>> + 'a>>,
    wants: usize,
    /// Whether the caller is in line: a future joins the line at its first poll.
    polled: bool,
}

struct Twin {
    free: usize,
    closed: bool,
}

/// Does what `bytes` say to a semaphore and to its twin. Panics where they differ.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let mut twin = Twin { free: below(&mut u, 5), closed: false };
    let semaphore = Semaphore::new(twin.free);
    let mut guards: Vec<SemaphoreGuard<'_>> = Vec::new();
    // The front holds the first caller in line, among those that were polled.
    let mut line: Vec<Waiting<'_>> = Vec::new();
    while !u.is_empty() {
        match below(&mut u, 16) {
            0..4 => {
                let wants = 1 + below(&mut u, 4);
                let nobody = line.iter().all(|waiting| !waiting.polled);
                match semaphore.try_acquire(wants) {
                    Ok(guard) => {
                        assert!(!twin.closed && nobody && wants <= twin.free);
                        twin.free -= wants;
                        guards.push(guard);
                    }
                    Err(AcquireError::Closed) => assert!(twin.closed),
                    Err(AcquireError::NoPermits) => {
                        assert!(!twin.closed && (wants > twin.free || !nobody));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            4..7 => {
                let wants = 1 + below(&mut u, 4);
                let future = Box::pin(semaphore.acquire_async(wants));
                line.push(Waiting { future, wants, polled: false });
            }
            7..11 if !line.is_empty() => {
                let at = below(&mut u, line.len());
                poll(&mut line, at, &mut twin, &mut guards);
            }
            11 if !line.is_empty() => drop(line.remove(below(&mut u, line.len()))),
            12 if !guards.is_empty() => {
                let guard = guards.swap_remove(below(&mut u, guards.len()));
                twin.free += guard.permits();
            }
            13 if !guards.is_empty() => guards.swap_remove(below(&mut u, guards.len())).forget(),
            14 => {
                let more = below(&mut u, 4);
                semaphore.add_permits(more);
                twin.free += more;
            }
            _ if below(&mut u, 20) == 0 => {
                semaphore.close();
                twin.closed = true;
            }
            _ => {}
        }
        assert_eq!(
            (semaphore.available_permits(), semaphore.is_closed()),
            (twin.free, twin.closed)
        );
    }
    // Whatever was dropped, forgotten or left, the next caller gets its permit.
    drop(line);
    drop(guards);
    if !twin.closed && semaphore.available_permits() > 0 {
        assert!(semaphore.try_acquire(1).is_ok());
    }
}

fn poll<'a>(
    line: &mut Vec<Waiting<'a>>,
    at: usize,
    twin: &mut Twin,
    guards: &mut Vec<SemaphoreGuard<'a>>,
) {
    let first = !line.iter().enumerate().any(|(i, other)| other.polled && i != at)
        || line.iter().position(|other| other.polled) == Some(at);
    let waiting = &mut line[at];
    let polled = std::mem::replace(&mut waiting.polled, true);
    let wants = waiting.wants;
    let answer = waiting.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    match answer {
        Poll::Ready(Ok(guard)) => {
            assert!(!twin.closed && first && wants <= twin.free);
            assert_eq!(guard.permits(), wants);
            twin.free -= wants;
            guards.push(guard);
            line.remove(at);
        }
        Poll::Ready(Err(error)) => {
            assert!(twin.closed && error == AcquireError::Closed);
            line.remove(at);
        }
        Poll::Pending => {
            assert!(!twin.closed && (wants > twin.free || !first));
            if !polled {
                // The caller joins at the end of the line.
                let waiting = line.remove(at);
                line.push(waiting);
            }
        }
    }
}
