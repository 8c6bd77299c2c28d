//! A survey: asks every worker about its fibers.
//!
//! Only its own worker's thread may read what is behind a fiber's pointers, while the fiber does
//! not run. So each worker gets a job in its pinned queue and inspects its own fibers. A worker
//! that does not run the job in time is busy. Of its fibers, only what any thread may read is
//! reported. The same holds for substitutes, which are not asked.
//!
//! If a fiber's thread sleeps with it, the asker inspects the fiber, which cannot continue
//! meanwhile (`Fiber::while_asleep`). Before a worker's thread sleeps so, it answers, and refuses
//! further jobs (`Worker::ask`).
//!
//! | stage of a worker's part | means | changed by |
//! |---|---|---|
//! | `Asked` | its list of fibers is to be inspected | worker or asker: `Looking` |
//! | `Looking` | one of the two inspects it | the same: `Told` |
//! | `Told` | done; a worker that comes now has nothing to do | nobody |

use super::info::FiberInfo;
use super::look;
use crate::context;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::join_stack::Job;
use crate::shared::Shared;
use crate::unwind::{discard, run_and_discard};
use sateen_base::SpinLock;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicUsize, Ordering};
use sateen_sync::park;
use std::mem::offset_of;
use std::ptr::{NonNull, null};
use std::task::Waker;

/// How long a worker may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);
/// Fibers copied under one hold of the runtime's list.
const CHUNK: usize = 256;

pub(super) struct Survey {
    parts: Box<[Part]>,
    /// The first parts belong to the regular workers, which answer.
    regular: usize,
    /// Workers that have not answered.
    left: AtomicUsize,
    then: Then,
}

/// What happens when all have answered.
pub(super) enum Then {
    Wake(Waker),
    /// Called on the last worker to answer.
    Call(fn(&Arc<Shared>, Answers)),
}

#[repr(C)]
struct Part {
    job: Job,
    /// For the job, which holds a count of it.
    survey: *const Survey,
    stage: SpinLock<Stage>,
}

// SAFETY: `survey` does not change; the rest is Sync.
unsafe impl Sync for Part {}
// SAFETY: as above.
unsafe impl Send for Part {}

enum Stage {
    Asked(Vec<Arc<Fiber>>),
    Looking,
    Told(Vec<FiberInfo>),
}

/// What the workers told.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) fibers: Vec<FiberInfo>,
    /// Workers that did not answer.
    pub(super) busy: usize,
}

impl Survey {
    fn new(shared: &Shared, then: Then) -> Arc<Self> {
        let lists = shared.live_fibers();
        // One count belongs to the poster.
        let left = AtomicUsize::new(lists.len() + 1);
        Arc::new_cyclic(|survey| {
            let part = |list| Part {
                job: Job { run: Part::run },
                survey: survey.as_ptr(),
                stage: SpinLock::new(Stage::Asked(list)),
            };
            Self {
                parts: lists.into_iter().map(part).collect(),
                regular: shared.regular,
                left,
                then,
            }
        })
    }

    /// Asks all workers.
    fn post(self: &Arc<Self>, shared: &Shared) {
        let mut told = 1;
        // Substitutes may sleep, and are not worth waking.
        told += self.parts.len() - self.regular;
        for (worker, part) in shared.workers.iter().zip(&self.parts[..self.regular]) {
            let count = Arc::into_raw(Arc::clone(self));
            const { assert!(offset_of!(Part, job) == 0) };
            // A pointer to the whole part, from which `run` recovers it.
            let job = NonNull::from(part).cast::<Job>();
            if !worker.ask(shared, Entry::survey(job)) {
                part.tell_for_worker();
                told += 1;
                // SAFETY: it was not posted, so the count is still ours.
                drop(unsafe { Arc::from_raw(count) });
            }
        }
        self.told(told);
    }

    /// Counts `parts` more parts as answered.
    fn told(&self, parts: usize) {
        // Ordering: AcqRel; the last one sees what all others told.
        if self.left.fetch_sub(parts, Ordering::AcqRel) != parts {
            return;
        }
        match &self.then {
            Then::Wake(waker) => run_and_discard(|| waker.wake_by_ref()),
            Then::Call(then) => {
                if let Some(worker) = context::thread_owner() {
                    run_and_discard(|| then(worker.shared(), self.collect()));
                }
            }
        }
    }

    /// Asks, and leaves the rest to the workers, all of which are idle.
    pub(super) fn begin(shared: &Shared, then: fn(&Arc<Shared>, Answers)) {
        Self::new(shared, Then::Call(then)).post(shared);
    }

    /// Asks, and waits for the answers, for [`ANSWER_TIMEOUT`] at most.
    pub(super) fn conduct(shared: &Shared) -> Answers {
        let survey = Self::new(shared, Then::Wake(park::current_waker()));
        survey.post(shared);
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        // A cancellation must not leave the lists of fibers behind.
        park::uninterrupted(|| {
            while survey.is_open() && Instant::now() < deadline {
                park::park_until(deadline);
            }
        });
        survey.collect()
    }

    fn is_open(&self) -> bool {
        // Ordering: Acquire pairs with the decrement in `told`.
        self.left.load(Ordering::Acquire) != 0
    }

    /// Collects the answers. For workers that did not answer, reads what other threads can see.
    fn collect(&self) -> Answers {
        let mut answers = Answers::default();
        for (index, part) in self.parts.iter().enumerate() {
            let mut backoff = sateen_base::Backoff::new();
            loop {
                let stage = std::mem::replace(&mut *part.stage.lock(), Stage::Looking);
                match stage {
                    Stage::Told(fibers) => answers.fibers.extend(fibers),
                    Stage::Asked(fibers) => {
                        answers.busy += usize::from(index < self.regular);
                        for fiber in &fibers {
                            look::from_asker(fiber, &mut answers.fibers);
                        }
                    }
                    Stage::Looking => {
                        // The worker is inspecting, and cannot block meanwhile.
                        backoff.snooze();
                        continue;
                    }
                }
                // A worker that comes later finds nothing to do.
                *part.stage.lock() = Stage::Told(Vec::new());
                break;
            }
        }
        answers
    }
}

impl Part {
    /// Answers for a worker that will not. It never ran, or its thread sleeps in a task.
    fn tell_for_worker(&self) {
        let mut told = Vec::new();
        // A separate statement, so that the lock is released here.
        let stage = std::mem::replace(&mut *self.stage.lock(), Stage::Looking);
        if let Stage::Asked(fibers) = stage {
            for fiber in &fibers {
                look::from_asker(fiber, &mut told);
            }
        }
        *self.stage.lock() = Stage::Told(told);
    }

    /// # Safety
    /// `job` starts a `Part` whose survey's count is the caller's.
    unsafe fn run(job: *const Job) {
        // SAFETY: by contract; the count is dropped at the end.
        let (part, survey) = unsafe {
            let part = &*job.cast::<Self>();
            (part, Arc::from_raw(part.survey))
        };
        let asked = {
            let mut stage = part.stage.lock();
            match std::mem::replace(&mut *stage, Stage::Looking) {
                Stage::Asked(fibers) => Some(fibers),
                other => {
                    *stage = other;
                    None
                }
            }
        };
        let Some(fibers) = asked else {
            // The asker no longer waits. A waker of the user's may be dropped with the survey.
            return discard(survey);
        };
        let mut told = Vec::new();
        if let Some(worker) = context::thread_owner() {
            // Not the fiber that we run on, which may have been something else when it was listed.
            let here = context::fiber().map_or(null(), std::ptr::from_ref);
            // (It does not if the worker is about to sleep with it.)
            let is_told =
                |fiber: &Fiber| !std::ptr::eq(&raw const *fiber, here) || fiber.is_asleep();
            let others = fibers.iter().filter(|fiber| is_told(fiber));
            others.for_each(|fiber| look::from_worker(fiber, &mut told));
            if !here.is_null() {
                // The survey counts as a task too, except at the root of a worker without a stack.
                worker.counters.surveys.bump();
            }
        }
        drop(fibers);
        *part.stage.lock() = Stage::Told(told);
        survey.told(1);
        // A waker of the user's may be dropped with the survey.
        discard(survey);
    }
}

impl Shared {
    /// The fibers with a running activation, by worker.
    fn live_fibers(&self) -> Vec<Vec<Arc<Fiber>>> {
        let mut lists: Vec<Vec<Arc<Fiber>>> = (0..self.regular).map(|_| Vec::new()).collect();
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut at = 0;
        loop {
            {
                // The list only grows until the last worker has left.
                let fibers = self.fibers.lock();
                let rest = fibers.get(at..).unwrap_or(&[]);
                let live = rest.iter().take(CHUNK).filter(|fiber| fiber.context_id() != 0);
                chunk.extend(live.cloned());
                at += CHUNK;
                if rest.len() <= CHUNK {
                    at = usize::MAX;
                }
            }
            for fiber in chunk.drain(..) {
                let index = fiber.worker().index();
                if index >= lists.len() {
                    lists.resize_with(index + 1, Vec::new);
                }
                lists[index].push(fiber);
            }
            if at == usize::MAX {
                return lists;
            }
        }
    }
}
