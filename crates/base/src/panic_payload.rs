//! The payload of a panic.

use std::any::Any;
use std::fmt;

/// The payload of a task's panic.
///
/// Unlike the box in it, it is `Sync`. So errors that hold one are `Sync` too, and `?` converts
/// them into `Box<dyn Error + Send + Sync>`.
///
/// ```
/// use sateen_base::PanicPayload;
/// let caught = |f: fn()| PanicPayload::from(std::panic::catch_unwind(f).unwrap_err());
/// assert_eq!(caught(|| panic!("too hot")).message(), Some("too hot"));
/// assert_eq!(caught(|| std::panic::panic_any(40)).downcast_ref(), Some(&40));
/// ```
pub struct PanicPayload(Box<dyn Any + Send>);

// SAFETY: a shared payload only gives out references to values that are `Sync`.
unsafe impl Sync for PanicPayload {}

impl PanicPayload {
    /// The message, if the payload is a string, as with `panic!`.
    pub fn message(&self) -> Option<&str> {
        message(&*self.0)
    }

    /// The payload, if it is a `T`.
    ///
    /// ```compile_fail,E0277
    /// # use sateen_base::PanicPayload;
    /// fn shared(payload: &PanicPayload) {
    ///     payload.downcast_ref::<std::cell::Cell<u32>>(); // not `Sync`
    /// }
    /// ```
    pub fn downcast_ref<T: Any + Sync>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }

    /// Returns the payload, for [`std::panic::resume_unwind`].
    pub fn into_inner(self) -> Box<dyn Any + Send> {
        self.0
    }
}

/// The message of a panic, if its payload is a string.
pub fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

impl From<Box<dyn Any + Send>> for PanicPayload {
    fn from(payload: Box<dyn Any + Send>) -> Self {
        Self(payload)
    }
}

impl fmt::Debug for PanicPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PanicPayload").field(&self.message()).finish()
    }
}
