//! Canaries: faults on purpose. A model that does not find one checks nothing.
//!
//! Models are built once with all of them; the environment variable `SATEEN_CANARY` plants one. In
//! every other build none is ever planted.

/// Whether the canary of this name is planted.
#[doc(hidden)]
#[macro_export]
macro_rules! canary {
    ($name:literal) => {
        $crate::is_planted($name)
    };
}

/// For [`canary`].
#[cfg(not(loom))]
#[doc(hidden)]
#[inline(always)]
pub const fn is_planted(_: &str) -> bool {
    false
}

/// For [`canary`].
#[cfg(loom)]
#[doc(hidden)]
pub fn is_planted(name: &str) -> bool {
    use std::ffi::OsString;
    use std::sync::OnceLock;
    static PLANTED: OnceLock<Option<OsString>> = OnceLock::new();
    let planted = PLANTED.get_or_init(|| crate::os::variable("SATEEN_CANARY"));
    planted.as_deref().is_some_and(|planted| planted == name)
}
