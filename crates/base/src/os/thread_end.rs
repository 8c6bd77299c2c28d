//! Whether the calling thread has begun to destroy its thread-locals.
//!
//! Thread-locals are destroyed one after another, the youngest first. Meanwhile the thread may
//! still run code that has borrowed a destroyed one, such as a coroutine that was suspended within
//! `LocalKey::with`. So a caller that resumes coroutines leaves a *mark* each time that coroutines
//! have run, and checks before it resumes one.
//!
//! A mark is a destructor registered with the system, which runs the youngest first. So a mark runs
//! before each local that existed when the mark was left is destroyed. As long as no mark has run,
//! all locals of the last mark still exist, and no coroutine has borrowed a younger one.

use super::{Host, Os};
use std::cell::Cell;

/// The state of a thread's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEnd {
    /// All thread-locals of the last mark still exist.
    NotBegun,
    /// Thread-locals are being destroyed.
    Begun,
    /// The thread has no mark, or too many, or this system does not tell.
    Unknown,
}

/// Most marks of a thread: each takes about fifty bytes until the thread ends.
const MOST_MARKS: u32 = if cfg!(miri) { 64 } else { 16 * 1024 };

thread_local! {
    // These have no destructors, so they can be read as long as the thread runs.
    static STATE: Cell<ThreadEnd> = const { Cell::new(ThreadEnd::Unknown) };
    static MARKS: Cell<u32> = const { Cell::new(0) };
    static FIRST: First = const { First };
}

/// A thread-local of `std`, older than any mark. If one system destructor ran all of `std`'s, that
/// destructor would be older, too.
struct First;

impl Drop for First {
    fn drop(&mut self) {
        begin();
    }
}

fn begin() {
    STATE.set(ThreadEnd::Begun);
}

/// Leaves a mark on the calling thread, for [`thread_end`]. Calls a system library, which
/// allocates.
///
/// ```
/// use sateen_base::os::{ThreadEnd, mark_thread, thread_end};
/// mark_thread();
/// assert_ne!(thread_end(), ThreadEnd::Begun);
/// ```
pub fn mark_thread() {
    if thread_end() == ThreadEnd::Begun {
        return;
    }
    let marks = MARKS.get();
    let marked = FIRST.try_with(|_| ()).is_ok() && marks < MOST_MARKS && Host::at_thread_end(begin);
    if marked {
        MARKS.set(marks + 1);
    }
    STATE.set(if marked { ThreadEnd::NotBegun } else { ThreadEnd::Unknown });
}

/// The state of the calling thread's end. Costs a load.
pub fn thread_end() -> ThreadEnd {
    STATE.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::mpsc;

    struct Tells(Option<mpsc::Sender<ThreadEnd>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.take().map(|to| to.send(thread_end()));
        }
    }
    thread_local! {
        static OLDER: RefCell<Tells> = const { RefCell::new(Tells(None)) };
        static YOUNGER: RefCell<Tells> = const { RefCell::new(Tells(None)) };
    }

    /// Linux with glibc tells.
    const TELLS: bool = cfg!(all(target_os = "linux", target_env = "gnu")) && !cfg!(miri);

    #[test]
    fn it_has_begun_for_each_local_that_is_older_than_a_mark() {
        let (to, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            OLDER.set(Tells(Some(to.clone())));
            mark_thread();
            YOUNGER.set(Tells(Some(to.clone())));
            to.send(thread_end()).expect("heard");
        });
        thread.join().expect("no panic");
        let told: Vec<_> = told.iter().collect();
        assert!(!TELLS || told == [ThreadEnd::NotBegun, ThreadEnd::NotBegun, ThreadEnd::Begun]);
        assert_eq!(told[2], ThreadEnd::Begun);
    }

    #[test]
    fn a_second_mark_covers_what_has_come_since() {
        let (to, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            mark_thread();
            OLDER.set(Tells(Some(to.clone())));
            YOUNGER.set(Tells(Some(to)));
            mark_thread();
        });
        thread.join().expect("no panic");
        let told: Vec<_> = told.iter().collect();
        assert!(!TELLS || told == [ThreadEnd::Begun; 2]);
    }

    #[test]
    fn without_a_mark_or_with_too_many_it_is_unknown() {
        let thread = std::thread::spawn(|| {
            let before = thread_end();
            (0..=MOST_MARKS).for_each(|_| mark_thread());
            [before, thread_end()]
        });
        assert_eq!(thread.join().expect("no panic"), [ThreadEnd::Unknown; 2]);
    }
}
