//! What code below the runtime tells the traces that are taken.
//!
//! The runtime listens while it takes a trace. Otherwise telling costs a load and a jump. The
//! feature `trace` alone brings this module.

// Not the model's: what a trace holds decides nothing.
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// An item is about to be sent, by way of an address.
    Sent,
    /// The item that was sent there is received. Nothing is sent there before this is told.
    Received,
}

/// The listener: told on the thread where it happens, with the address. It may neither wait nor
/// unwind, for it is called in the middle of steps of others' protocols.
pub type Listener = fn(Told, usize);

/// Null, or a [`Listener`].
static LISTENER: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Makes `listener` the one that is told. A thread that tells something meanwhile may still call
/// the one before.
pub fn listen(listener: Option<Listener>) {
    let pointer = listener.map_or(core::ptr::null_mut(), |f| f as *mut ());
    // Relaxed, here and below: a function is always there.
    LISTENER.store(pointer, Relaxed);
}

/// Whether a trace is taken.
#[inline(always)]
pub fn is_heard() -> bool {
    !LISTENER.load(Relaxed).is_null()
}

/// Tells `what`.
///
/// # Cost
/// A relaxed load while nobody listens.
#[inline(always)]
pub fn tell(what: Told, address: usize) {
    let listener = LISTENER.load(Relaxed);
    if !listener.is_null() {
        tell_slow(listener, what, address);
    }
}

#[cold]
fn tell_slow(listener: *mut (), what: Told, address: usize) {
    // SAFETY: not null, so `listen` made it of such a function.
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
