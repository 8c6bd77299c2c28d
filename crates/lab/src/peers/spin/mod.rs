//! Adapter for `spin`: its default mutex, which reads before it exchanges and never yields.

use crate::adapter::LockKind;
use spin::Mutex;

/// `spin::Mutex`.
pub(crate) struct Spin;

impl LockKind for Spin {
    const NAME: &'static str = "spin";
    type Of<T: Send> = Mutex<T>;

    fn new<T: Send>(value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Mutex<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}
