//! Publishing and stealing nested jobs: pushes, requests and thefts on a join stack.
//!
//! Invariant: while any worker sleeps, each worker has something public or [`HUNGRY`] raised.
//! Proof: `README.md`, "Sleeping".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::join_stack::{Job, JoinStack, Stolen};
use crate::request_word::{FENCED, HUNGRY, RequestWord};
use crate::sleepers::Sleepers;
use sateen_base::fence;
use sateen_base::prim::{Ordering, fence as full_fence};

/// Pushes `job`, then reads the request word with `requests`. Returns whether any bit is raised.
/// Owner only.
///
/// # Safety
/// As [`JoinStack::push`].
#[inline(always)]
pub unsafe fn push(stack: &JoinStack, job: *const Job, requests: impl Fn() -> u32) -> bool {
    // SAFETY: the caller's.
    unsafe { stack.push(job) };
    // Push first, then poll: a sleeper raises its request, then looks for the job. Partner of this
    // fence: the heavy one in `Sleepers::ask`.
    fence::light();
    requests() != 0
}

/// For this many pushes, an owner that has woken a worker publishes each job at once until the
/// worker arrives. These slow pushes cost less than the wake-up.
pub const EAGER_PUSHES: u32 = 64;

/// The result of [`answer`].
#[derive(Clone, Copy, Debug)]
pub struct Fed {
    /// Jobs were made public.
    pub published: bool,
    /// A sleeper was woken.
    pub woke: bool,
    /// What to pass to the next [`answer`].
    pub eager: u32,
}

/// Answers [`HUNGRY`]: publishes jobs, and wakes a sleeper for them. Owner only.
///
/// The woken worker takes some ten microseconds to arrive. By then the owner may have pushed all
/// its jobs, and may not push again for long. So until the worker has found something, the request
/// stays raised and each push publishes its job, for at most `eager` pushes.
pub fn answer(stack: &JoinStack, requests: &RequestWord, sleepers: &Sleepers, eager: u32) -> Fed {
    let mut coming = false;
    if eager > 0 {
        stack.publish_all();
        // Partners: the exchanges by which a woken worker reports its arrival and its search. After
        // each it looks for work. An owner that relies on the worker relies on that look.
        fence::light();
        coming = sleepers.are_coming();
        if coming && eager > 1 {
            return Fed { published: true, woke: false, eager: eager - 1 };
        }
    }
    let fed = feed(stack, requests, sleepers, !coming);
    if fed.woke {
        requests.request(HUNGRY);
    }
    fed
}

fn feed(stack: &JoinStack, requests: &RequestWord, sleepers: &Sleepers, wakes: bool) -> Fed {
    // Clear first, then check. The request is answered once something is public. The worker that
    // takes the last of it raises the request again: a thief in `steal`, or the owner in `reclaim`
    // if any worker sleeps. (If the request stayed raised while any worker sleeps, an
    // oversubscribed runtime would take this path on every push.)
    requests.clear(HUNGRY);
    let public = stack.has_public();
    let published = !public && stack.publish();
    let mut woke = false;
    if public || published {
        woke = wakes && wake(requests, sleepers);
    } else if sleepers.has_sleepers() {
        // Nothing to publish, but the sleepers still rely on us.
        requests.request(HUNGRY);
    }
    Fed { published, woke, eager: if woke { EAGER_PUSHES } else { 0 } }
}

/// Wakes a sleeper for work that was just published. Returns whether it did. Owner only.
#[inline]
pub fn wake(requests: &RequestWord, sleepers: &Sleepers) -> bool {
    // The frequent side of the handshake with sleepers; partner: the heavy fence in
    // `Sleepers::ask`.
    if requests.has(FENCED) {
        full_fence(Ordering::SeqCst);
    } else {
        fence::light();
    }
    sleepers.wake_searcher()
}

/// The slow half of a pop; see [`JoinStack::pop_slow`]. Owner only.
pub fn reclaim<'a>(
    stack: &JoinStack,
    owner: impl FnOnce() -> Option<(&'a RequestWord, &'a Sleepers)>,
) -> bool {
    let ours = stack.pop_slow();
    if ours
        && !stack.has_public()
        && let Some((requests, sleepers)) = owner()
        && sleepers.has_sleepers()
    {
        // Sleepers rely on a request or on public work.
        requests.request(HUNGRY);
    }
    ours
}

/// Steals the oldest public job of the worker whose request word is `requests`, if its tag is
/// `wanted`; see [`JoinStack::steal_if`]. Returns the job and the tag. Any thread may call this.
pub fn steal_if(
    stack: &JoinStack,
    requests: &RequestWord,
    wanted: impl FnOnce(*const ()) -> bool,
) -> Option<(*const Job, *const ())> {
    ask_for_more(stack.steal_if(wanted), requests)
}

/// Steals the oldest public job of the worker whose request word is `requests`. Any thread may call
/// this.
pub fn steal(stack: &JoinStack, requests: &RequestWord) -> Option<(*const Job, *const ())> {
    steal_if(stack, requests, |_| true)
}

/// [`steal`] that waits for the stack's lock, so it finds any job that was public before.
pub fn steal_surely(stack: &JoinStack, requests: &RequestWord) -> Option<(*const Job, *const ())> {
    ask_for_more(stack.steal_surely(), requests)
}

fn ask_for_more(stolen: Stolen, requests: &RequestWord) -> Option<(*const Job, *const ())> {
    let Stolen::Job(job, tag, more) = stolen else { return None };
    if !more {
        // The thief will come back. If asked now, the victim will have published something by then.
        // If asked only then, it may be past its next push, and not push again for long. See also
        // `answer`.
        requests.insist(HUNGRY);
    }
    Some((job, tag))
}
