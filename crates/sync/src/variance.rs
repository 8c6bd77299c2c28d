//! Checks that certain types are invariant: a value with too short a lifetime must not get where a
//! longer one is read.
//!
//! Each pair is the same function, with one lifetime and with two.

/// `Mutex`:
/// ```
/// type Of<'a> = sateen::sync::Mutex<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::Mutex<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant0;

/// `MutexGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::MutexGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::MutexGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant1;

/// `MappedMutexGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::MappedMutexGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::MappedMutexGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant2;

/// `Lock`:
/// ```
/// type Of<'g, 'a> = sateen::sync::Lock<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::Lock<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant3;

/// `CondvarWait`:
/// ```
/// type Of<'g, 'a> = sateen::sync::CondvarWait<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::CondvarWait<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant4;

/// `RwLock`:
/// ```
/// type Of<'a> = sateen::sync::RwLock<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::RwLock<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant5;

/// `RwLockWriteGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::RwLockWriteGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::RwLockWriteGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant6;

/// `MappedRwLockWriteGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::MappedRwLockWriteGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::MappedRwLockWriteGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant7;

/// `RwLockUpgradableReadGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::RwLockUpgradableReadGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::RwLockUpgradableReadGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant8;

/// `ReentrantMutex`:
/// ```
/// type Of<'a> = sateen::sync::ReentrantMutex<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::ReentrantMutex<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant9;

/// `OnceLock`:
/// ```
/// type Of<'a> = sateen::sync::OnceLock<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::OnceLock<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant10;

/// `Lazy`:
/// ```
/// type Of<'a> = sateen::sync::Lazy<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::Lazy<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant11;

/// `Sender`:
/// ```
/// type Of<'a> = sateen::sync::oneshot::Sender<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::oneshot::Sender<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant12;

/// `poison::Mutex`:
/// ```
/// type Of<'a> = sateen::sync::poison::Mutex<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::poison::Mutex<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant14;

/// `poison::MutexGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::poison::MutexGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::poison::MutexGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant15;

/// `poison::RwLock`:
/// ```
/// type Of<'a> = sateen::sync::poison::RwLock<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::poison::RwLock<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant16;

/// `poison::RwLockWriteGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::poison::RwLockWriteGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::poison::RwLockWriteGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant17;

/// `local::Mutex`:
/// ```
/// type Of<'a> = sateen::sync::local::Mutex<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::local::Mutex<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant18;

/// `local::MutexGuard`:
/// ```
/// type Of<'g, 'a> = sateen::sync::local::MutexGuard<'g, &'a str>;
/// fn same<'g, 'a>(it: Of<'g, 'a>) -> Of<'g, 'a> { it }
/// ```
/// ```compile_fail
/// type Of<'g, 'a> = sateen::sync::local::MutexGuard<'g, &'a str>;
/// fn shorter<'g, 'a>(it: Of<'g, 'static>) -> Of<'g, 'a> { it }
/// ```
struct Invariant19;

/// `local::RwLock`:
/// ```
/// type Of<'a> = sateen::sync::local::RwLock<&'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::local::RwLock<&'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant20;

/// `spin::Mutex`:
/// ```
/// type Of<'a> = sateen::sync::spin::Mutex<sateen::sync::spin::Ttas, &'a str>;
/// fn same<'a>(it: Of<'a>) -> Of<'a> { it }
/// ```
/// ```compile_fail
/// type Of<'a> = sateen::sync::spin::Mutex<sateen::sync::spin::Ttas, &'a str>;
/// fn shorter<'a>(it: Of<'static>) -> Of<'a> { it }
/// ```
struct Invariant21;
