//! Reports events of code below the runtime to running traces.
//!
//! The runtime listens while a trace runs. Otherwise a report costs a load and a jump. This module
//! exists only with the feature `trace`.

// Not the model's atomics: traces have no influence on a model.
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// An item is about to be sent through an address.
    Sent,
    /// The item sent there is received. Nothing else is sent there before this is reported.
    Received,
}

/// A listener, called with the address on the thread where the event happens. It must neither wait
/// nor unwind, because it is called in the middle of other protocols' steps.
pub type Listener = fn(Told, usize);

/// Null, or a [`Listener`].
static LISTENER: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Sets the listener. A thread that is reporting meanwhile may still call the previous one.
pub fn listen(listener: Option<Listener>) {
    let pointer = listener.map_or(core::ptr::null_mut(), |f| f as *mut ());
    // Relaxed, here and below: a function is always valid.
    LISTENER.store(pointer, Relaxed);
}

/// Whether a trace is running.
#[inline(always)]
pub fn is_heard() -> bool {
    !LISTENER.load(Relaxed).is_null()
}

/// Reports `what`.
///
/// # Cost
/// A relaxed load while there is no listener.
#[inline(always)]
pub fn tell(what: Told, address: usize) {
    let listener = LISTENER.load(Relaxed);
    if !listener.is_null() {
        tell_slow(listener, what, address);
    }
}

#[cold]
fn tell_slow(listener: *mut (), what: Told, address: usize) {
    // SAFETY: not null, so `listen` created it from such a function.
    let listener = unsafe { core::mem::transmute::<*mut (), Listener>(listener) };
    listener(what, address);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn the_listener_is_told() {
        static HEARD: Mutex<Vec<(Told, usize)>> = Mutex::new(Vec::new());
        tell(Told::Sent, 1);
        listen(Some(|what, address| HEARD.lock().unwrap().push((what, address))));
        tell(Told::Sent, 2);
        tell(Told::Received, 2);
        listen(None);
        tell(Told::Sent, 3);
        assert_eq!(*HEARD.lock().unwrap(), [(Told::Sent, 2), (Told::Received, 2)]);
    }
}
