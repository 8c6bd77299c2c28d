//! Building a runtime.

mod found;

use crate::blocking;
use crate::build_error::BuildError;
use crate::cells::Cells;
use crate::context::call_off_fiber;
use crate::current_thread::CurrentThread;
use crate::forked;
use crate::hooks::Hooks;
use crate::inspect::{self, Listed};
use crate::overflow;
use crate::own_thread::{THREAD_OVERHEAD, Threads};
use crate::policy::{self, Scheduling};
use crate::report::Watch;
use crate::resident::Resident;
use crate::runtime::Runtime;
use crate::shared::{Setup, Shared};
use crate::sleepers::Alarm;
use crate::stack::{
    BEYOND, DEFAULT_STACK, PooledStacks, StackAllocator, StackSize, Stacks, UserStacks,
};
use crate::substitutes::{Names, Substitutes, default_name};
use crate::unwind::Held;
use crate::worker_thread::{WorkerThread, start_thread};
use found::{cores_to_pin, default_workers, most_threads, names, strict_by_variable};
use sateen_base::prim::Arc;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::{fence, os};
use std::io;

/// Most workers a runtime may have.
pub const MAX_WORKERS: usize = 65_535;
/// The environment variable that sets the number of workers if the builder does not.
pub(crate) const WORKERS_VARIABLE: &str = "SATEEN_WORKERS";
/// The environment variable that makes all runtimes [strict](Builder::strict) if it is `1`. If it
/// is `0` or unset, each builder decides. (A [`CurrentThread`] is never strict, because its tasks
/// need not be `Send`. Nor is a runtime with a custom policy, which may withhold work.)
pub(crate) const STRICT_VARIABLE: &str = "SATEEN_STRICT";

/// How long a failed build waits for the threads that it has started.
const ABANDON_TIMEOUT: Duration = Duration::from_secs(5);
/// The default limits of substitutes: normally, and in a strict runtime.
const SUBSTITUTES: usize = 4;
const STRICT_SUBSTITUTES: usize = 1024;
const DEFAULT_SPIN: Duration = Duration::from_micros(50);

// Held, so that a panic of a user's destructor does not escape from a failed build or a drop.
type NameFn = Held<Box<dyn Fn(usize) -> String>>;
type SpawnFn = Held<Box<dyn FnMut(WorkerThread) -> io::Result<()>>>;

/// Settings of a runtime; see [`Runtime::builder`].
pub struct Builder {
    workers: Option<usize>,
    name: Option<NameFn>,
    hooks: Hooks,
    spawn: SpawnFn,
    pin: bool,
    spin: Duration,
    stack_size: usize,
    max_stacks: usize,
    policy: Scheduling,
    stacks: Box<dyn StackAllocator>,
    report_blocked: bool,
    blocking: blocking::Limits,
    strict: bool,
    keep_threads: bool,
    substitutes: Option<usize>,
    on_arrival: Option<Held<Box<dyn Fn() + Send + Sync>>>,
    compat: bool,
    pub(crate) inspect: inspect::Choice,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("pin", &self.pin)
            .field("spin", &self.spin)
            .field("stack_size", &self.stack_size)
            .field("max_stacks", &self.max_stacks)
            .field("policy", &self.policy)
            .field("strict", &self.strict)
            .field("keep_threads", &self.keep_threads)
            .field("substitutes", &self.substitutes)
            .finish_non_exhaustive()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            workers: None,
            name: None,
            hooks: Hooks::default(),
            spawn: Held::new(Box::new(start_thread)),
            pin: false,
            spin: DEFAULT_SPIN,
            stack_size: DEFAULT_STACK,
            max_stacks: usize::MAX,
            policy: policy::work_stealing(),
            stacks: Box::new(PooledStacks::new()),
            report_blocked: false,
            blocking: blocking::Limits::default(),
            strict: false,
            keep_threads: false,
            substitutes: None,
            on_arrival: None,
            compat: false,
            inspect: inspect::Choice::NOT,
        }
    }
}

impl Builder {
    /// The number of workers, 1 to [`MAX_WORKERS`]. The default is the environment variable
    /// `SATEEN_WORKERS`, or else the number of threads that can run at once, within affinity and
    /// cgroup limits.
    ///
    /// Surplus workers of an oversubscribed runtime wake when the others leave work waiting: after
    /// about 2 ms if the others are blocked in the system, or 8 ms if they compute.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Names worker threads by index. Default: `sateen-0` and so on.
    ///
    /// `name` is called on the building thread before any thread starts, for substitutes too. A
    /// name that contains a NUL is a [`BuildError::Name`].
    pub fn thread_name(mut self, name: impl Fn(usize) -> String + 'static) -> Self {
        self.name = Some(Held::new(Box::new(name)));
        self
    }

    /// Calls `hook` with the worker's index on each worker's thread before the worker takes work.
    /// Substitutes call it too.
    ///
    /// The hook is not a task: nested work in it runs inline, and a spawn is refused. A panic in it
    /// is reported and ignored.
    pub fn on_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.on_start = Some(Held::new(Box::new(hook)));
        self
    }

    /// Calls `hook` on each worker's thread after its last work; otherwise like
    /// [`Builder::on_start`].
    pub fn on_exit(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.on_exit = Some(Held::new(Box::new(hook)));
        self
    }

    /// Starts the threads: `spawn` gets a [`WorkerThread`] for each worker and calls
    /// [`WorkerThread::run`] on a thread that it provides.
    ///
    /// `spawn` is called on the building thread. If it fails or panics, the build fails once the
    /// threads started before have exited. A `WorkerThread` that is kept and never run prevents the
    /// runtime from ending, like a task that never ends.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder()
    ///     .workers(2)
    ///     .spawn_handler(|worker| {
    ///         std::thread::Builder::new().spawn(|| worker.run()).map(drop)
    ///     })
    ///     .build()?;
    /// assert_eq!(runtime.install(|| 1 + 1), 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn spawn_handler(
        mut self,
        spawn: impl FnMut(WorkerThread) -> io::Result<()> + 'static,
    ) -> Self {
        self.spawn = Held::new(Box::new(spawn));
        self
    }

    /// Pins worker *i* to the *i*-th core that the building thread may use, wrapping around if
    /// there are more workers. Default: off.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// How long a worker searches for work before it sleeps. Default: 50 µs. A longer search
    /// responds sooner to bursts of work and wastes that much CPU time after each burst.
    pub fn spin(mut self, spin: Duration) -> Self {
        self.spin = spin;
        self
    }

    /// Bytes of stack for each task that blocks and for each worker's current task. The default is
    /// 2 MiB, as for threads of the standard library. The size is rounded up to at least 32 KiB and
    /// may be at most 1 GiB. An eighth more is reserved for nested work. Nested work that finds its
    /// stack nearly full continues on a fresh stack of 2 MiB, or of this size if that is larger.
    ///
    /// A task that overflows its stack ends the process. The message has the task's name, the place
    /// of its spawn and the stack size.
    ///
    /// # Cost
    /// Only touched pages take memory: a task that has blocked once keeps one. The rest is address
    /// space, which is plentiful (128 TiB for most 64-bit processes).
    ///
    /// Page tables take 8 bytes for each page of address space, up to about 4.5 KiB a stack. Choose
    /// a smaller size, such as 64 KiB, if 100,000 tasks block at once or if address space is
    /// limited (`ulimit -v`, some containers). The guide's page `stacks` has a table. Choose a
    /// larger size if tasks recurse deeply by plain calls, or use
    /// [`Spawn::stack_size`](crate::Spawn::stack_size) for those tasks alone.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(1).stack_size(8 << 20).build()?;
    /// let sum = runtime.install(|| [1_u8; 3 << 20].iter().map(|&x| u32::from(x)).sum::<u32>());
    /// assert_eq!(sum, 3 << 20);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// The most stacks that may exist at once. Each worker needs one; each of the others allows one
    /// more task to be suspended. At least one for each worker. Default: whatever the system
    /// provides.
    ///
    /// Beyond the limit, tasks wait to be started. They fail with
    /// [`JoinError::OutOfStacks`](crate::JoinError::OutOfStacks) if for 40 ms nothing runs that
    /// might free a stack, and no task waits with a time limit.
    ///
    /// Branches, scoped jobs and calls from outside never fail. A scope runs its own jobs on the
    /// stack that it waits on. If such work still cannot start, and nothing else runs for 40 ms (or
    /// the work has waited for one second), one piece at a time gets a stack beyond the limit.
    /// There are at most as many of those as the limit says, or 64 if that is more. A join that
    /// finds its stack nearly full takes another within the limit, and a loop never does.
    /// [`Runtime::report`](crate::Runtime::report) counts what waits.
    ///
    /// In a [strict](Self::strict) runtime this bounds threads, and nothing fails.
    pub fn max_stacks(mut self, stacks: usize) -> Self {
        self.max_stacks = stacks;
        self
    }

    /// What runs next; see [`policy`](crate::policy). Default: [work
    /// stealing](policy::work_stealing).
    pub fn policy(mut self, policy: Scheduling) -> Self {
        self.policy = policy;
        self
    }

    /// Where stacks come from. Default: [`PooledStacks::new`].
    pub fn stack_allocator(mut self, stacks: impl StackAllocator + 'static) -> Self {
        self.stacks = Box::new(UserStacks::new(stacks));
        self
    }

    /// Prints a [`Report`](crate::Report) on stderr when all fibers wait, nothing is queued and no
    /// timer is pending. It is printed once, and again only after something has run. Default: off.
    ///
    /// A source outside of the runtime may be about to wake a fiber. The report says for how many
    /// fibers that is possible.
    ///
    /// # Cost
    /// Nothing while there is work. A worker that falls asleep counts itself, and the last one
    /// checks whether any fiber waits.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(2).report_blocked(true).build()?;
    /// assert_eq!(runtime.spawn(|| 1 + 1).join().unwrap(), 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn report_blocked(mut self, report: bool) -> Self {
        self.report_blocked = report;
        self
    }

    /// The most threads for concurrent [`blocking`](crate::blocking()) calls. Default: 512. With 0
    /// such calls run on the caller's thread and block the worker.
    pub fn blocking_threads(mut self, most: usize) -> Self {
        self.blocking.threads = most;
        self
    }

    /// How long an idle thread for [`blocking`](crate::blocking()) calls waits for another call
    /// before it exits. Default: 10 s.
    pub fn blocking_keep_alive(mut self, keep: Duration) -> Self {
        self.blocking.keep = keep;
        self
    }

    /// Gives each task a thread of its own until it ends. To thread-locals and `std` locks, each
    /// task then looks like a thread, and stacks are never switched. Default: off. The environment
    /// variable `SATEEN_STRICT=1` makes every runtime of the process strict.
    ///
    /// Use it for code that nests in thread-locals and waits in between, and for initialisers of
    /// thread-locals that wait. Otherwise both can leave dangling references (`SECURITY.md` in the
    /// repository). Use it also for code that holds `std` locks across waits, and with tools that
    /// cannot follow a switch of stacks.
    ///
    /// Waits work as with [`Builder::keep_threads`]: on top of a wait runs only what the task waits
    /// for. A [substitute](Self::substitutes) takes over for each worker that is blocked by a wait
    /// or in the system. There are up to 1,024 substitutes, unless [`Builder::substitutes`] says
    /// otherwise. So tasks may wait for tasks that have not started, as long as no more than 1,024
    /// wait at once. Further tasks start later.
    ///
    /// In a strict runtime
    ///
    /// * [`Builder::stack_size`] is that of the threads; those of a [`Builder::spawn_handler`] have
    ///   the size that it gives them. A task that [asks for more](crate::Spawn::stack_size) runs on
    ///   an extra thread, for which its worker's thread waits.
    /// * [`Builder::max_stacks`] is the most threads of workers and substitutes. If nothing starts
    ///   for 40 ms, waiting work gets one more thread: at most as many as the limit says, or 64 if
    ///   that is more. No task fails for lack of a thread.
    /// * [`yield_now`](crate::yield_now) lets a substitute start what is queued, if no other worker
    ///   does. [`Spawn::dispatch`](crate::Spawn::dispatch) queues the task.
    /// * Work for one worker alone, such as a share of a [broadcast](Runtime::broadcast), starts
    ///   when that worker's task has ended. So that task must not wait for it, other than to join
    ///   it.
    /// * [`round_robin`](policy::round_robin) has one queue for all workers. A
    ///   [custom](policy::custom) policy is a [`BuildError::StrictPolicy`], and the variable does
    ///   not apply to it.
    ///
    /// # Cost
    ///
    /// Each task that waits occupies a thread and about 14 KiB. A wait costs two thread switches,
    /// and two more to wake a substitute. That takes some microseconds instead of some nanoseconds.
    /// The first wait of a worker starts a thread. If no thread is available, tasks start later.
    ///
    /// ```
    /// use std::cell::RefCell;
    /// thread_local! { static OPEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) } }
    ///
    /// /// Sets, calls, restores: only right if nobody else runs on this thread in between.
    /// fn within(number: u32, f: impl FnOnce()) {
    ///     OPEN.with_borrow_mut(|open| open.push(number));
    ///     f();
    ///     assert_eq!(OPEN.with_borrow_mut(Vec::pop), Some(number));
    /// }
    ///
    /// let runtime = sateen::Runtime::builder().workers(1).strict(true).build()?;
    /// let tasks = [1, 2, 3].map(|n| runtime.spawn(move || within(n, sateen::yield_now)));
    /// tasks.into_iter().for_each(|task| task.join().unwrap());
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Makes each wait of a task keep its worker's thread, as in [`no_suspend`](crate::no_suspend).
    /// Default: off.
    ///
    /// It is for code that was not written for tasks. Such code holds a lock of `std` or
    /// `parking_lot` across a parallel call, or sets a thread-local around one.
    ///
    /// | While a task waits | |
    /// |---|---|
    /// | for its branches, scope or loop | its thread runs parts of these, and nothing else |
    /// | for anything else | its thread sleeps |
    /// | so what is set and restored around a call | is found again after it, on the same thread |
    /// | and a lock that is held across a join, a fork, a loop or a scope | cannot hang by it |
    ///
    /// As many tasks can wait at once as there are workers and [substitutes](Self::substitutes);
    /// further tasks start later. So a task must not wait for one that has not started, unless it
    /// joins that task. [`Builder::strict`] is the same with up to 1,024 substitutes.
    ///
    /// # Cost
    /// A wait costs two thread switches, some microseconds, instead of some nanoseconds.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// let runtime = sateen::Runtime::builder().workers(2).keep_threads(true).build()?;
    /// let total = Mutex::new(0);
    /// runtime.install(|| {
    ///     sateen::par_for(0..100, |i| {
    ///         let mut total = total.lock().unwrap();
    ///         let sum = sateen::par_reduce(0..i, || 0, |j| j, |a, b| a + b);
    ///         *total += sum;
    ///     });
    /// });
    /// assert_eq!(*total.lock().unwrap(), (0..100).map(|i| (0..i).sum::<usize>()).sum());
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn keep_threads(mut self, keep: bool) -> Self {
        self.keep_threads = keep;
        self
    }

    /// The most substitutes that run while other workers are blocked in
    /// [`no_suspend`](crate::no_suspend), one for each. Default: as many as there are workers, but
    /// at most 4; 1,024 in a [strict](Self::strict) runtime.
    ///
    /// A substitute is a worker whose thread is started on first use, and not by
    /// [`Builder::spawn_handler`]. Its index follows those of the workers. When the blocked worker
    /// continues, the substitute finishes what it has begun and sleeps. Policies whose workers
    /// cannot take over from each other have no substitutes ([`round_robin`](policy::round_robin),
    /// [`custom`](policy::custom)).
    pub fn substitutes(mut self, substitutes: usize) -> Self {
        self.substitutes = Some(substitutes);
        self
    }

    /// For [`Builder::current_thread`]: sets a callback for a thread that is not running its tasks.
    /// `arrival` is called when work arrives, or when the thread stops while some tasks could still
    /// run. The thread should then run its tasks.
    ///
    /// `arrival` is called on any thread, perhaps more often than needed. A wait in it blocks that
    /// thread. A panic in it goes no further than the panic hook.
    pub fn on_arrival(mut self, arrival: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_arrival = Some(Held::new(Box::new(arrival)));
        self
    }

    /// Makes the calling thread the runtime, instead of [`Builder::build`]. Only the settings of
    /// stacks and [`Builder::on_arrival`] apply. The runtime is never [strict](Builder::strict):
    /// its tasks need not be `Send`, so they share its thread.
    ///
    /// # Errors
    /// [`BuildError`], as for [`Builder::build`].
    pub fn current_thread(self) -> Result<CurrentThread, BuildError> {
        let stacks = make_stacks(self.stacks, self.stack_size, self.max_stacks, 1, 0)?;
        fence::is_asymmetric();
        forked::watch();
        overflow::install();
        let (policies, _) = policy::for_workers(policy::round_robin().0, 1);
        let workers = Cells::new(policies, 0, None);
        let alarm = self.on_arrival.map(|arrival| {
            let call = move |_: usize| call_off_fiber(&**arrival);
            Box::new(call) as Alarm
        });
        let setup = Setup {
            threads: None,
            keeps_threads: false,
            moves_work: false,
            hooks: Hooks::default(),
            spin: Duration::ZERO,
            moves_threads: false,
            alarm,
            watch: None,
            blocking: self.blocking,
            substitutes: Substitutes::new(0, 0, Names::Default),
        };
        let mut shared = Shared::new(workers, stacks, setup);
        shared.pumped = true;
        let shared = Arc::new(shared);
        let listed = self.inspect.list(&shared);
        Ok(CurrentThread::new(shared, listed))
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// [`BuildError`], which names the wrong value or the system's reason. No thread is left
    /// running.
    ///
    /// ```
    /// use sateen::{BuildError, Runtime};
    /// let error = Runtime::builder().workers(0).build().unwrap_err();
    /// assert_eq!(error.to_string(), "cannot run 0 workers: 1 to 65535 are possible");
    /// ```
    pub fn build(mut self) -> Result<Runtime, BuildError> {
        let mut spawn = std::mem::replace(&mut self.spawn, Held::new(Box::new(start_thread)));
        self.build_with(&mut **spawn, false)
    }

    /// For [`crate::compat`]: the environment is ignored, posted work waits for the run queue, and
    /// a failed build does not wait for threads.
    #[cfg(feature = "compat")]
    pub(crate) fn compat(mut self) -> Self {
        self.compat = true;
        self
    }

    /// [`Builder::build`] with a [spawn handler](Builder::spawn_handler) that may borrow. With
    /// `resident` the calling thread, which is not a worker yet, becomes worker 0; see
    /// `resident.rs`.
    pub(crate) fn build_with(
        self,
        spawn: &mut dyn FnMut(WorkerThread) -> io::Result<()>,
        resident: bool,
    ) -> Result<Runtime, BuildError> {
        let count = match self.workers {
            Some(count) => count,
            None => default_workers()?,
        };
        if count == 0 || count > MAX_WORKERS {
            return Err(BuildError::Workers(count));
        }
        if let Some(limit) = os::thread_limit().filter(|&limit| count > limit) {
            let reason = format!("the system's limit on memory maps allows about {limit} threads");
            return Err(BuildError::Thread { worker: limit, source: io::Error::other(reason) });
        }
        let cores = if self.pin { cores_to_pin()? } else { Vec::new() };
        // Before there are threads: registering costs 5000 times as much with them.
        fence::is_asymmetric();
        forked::watch();
        overflow::install();
        let custom = self.policy.0.is_custom();
        if self.strict && custom {
            return Err(BuildError::StrictPolicy);
        }
        let strict = !self.compat && self.strict | (strict_by_variable()? && !custom);
        let policy = if strict { self.policy.0.strict() } else { self.policy.0 };
        let overhead = if strict { THREAD_OVERHEAD } else { 0 };
        let stacks = make_stacks(self.stacks, self.stack_size, self.max_stacks, count, overhead)?;
        let moves_work = policy.moves_work();
        let by_default = if strict { STRICT_SUBSTITUTES } else { SUBSTITUTES.min(count) };
        let substitutes = match moves_work && !resident {
            true => self.substitutes.unwrap_or(by_default).min(MAX_WORKERS - count),
            false => 0,
        };
        // In a strict runtime each worker runs its tasks on its thread's own stack, and keeps it.
        let most = if strict { most_threads(self.max_stacks) - count } else { usize::MAX };
        let reserve = match strict && substitutes > most {
            true => self.max_stacks.clamp(BEYOND, MAX_WORKERS).min(MAX_WORKERS - count - most),
            false => 0,
        };
        let substitutes = substitutes.min(most);
        let (names, rest) = self.name.map_or_else(
            || Ok(((0..count).map(default_name).collect(), Names::Default)),
            |name| names(&name, count, substitutes + reserve),
        )?;
        let substitutes = Substitutes::new(substitutes, reserve, rest);
        let (policies, make) = policy::for_workers(policy, count);
        let alarm = policy::alarm(&policies);
        let workers = Cells::new(policies, substitutes.count(), make);
        let watch = self.report_blocked.then(Watch::new);
        let threads = strict.then(Threads::new);
        let setup = Setup {
            threads,
            keeps_threads: self.keep_threads || strict,
            moves_work,
            hooks: self.hooks,
            spin: self.spin,
            moves_threads: moves_work && !self.pin && os::misplaces_threads(),
            alarm,
            watch,
            blocking: self.blocking,
            substitutes,
        };
        let resident = resident.then(Resident::prepare).transpose();
        let resident = resident.map_err(|source| BuildError::Thread { worker: 0, source })?;
        let mut shared = Shared::new(workers, stacks, setup);
        shared.posted_last = self.compat;
        resident.iter().for_each(|_| shared.expect_resident());
        let shared = Arc::new(shared);
        let mut starting = Starting { shared: &shared, made: 0, waits: !self.compat };
        for (index, name) in names.into_iter().enumerate().skip(resident.iter().len()) {
            let core = (!cores.is_empty()).then(|| cores[index % cores.len()]);
            let stack = shared.reserve_own_stack().map_err(BuildError::Stack)?;
            let thread = WorkerThread::new(&shared, index, name, core, stack);
            starting.made += 1;
            spawn(thread).map_err(|source| BuildError::Thread { worker: index, source })?;
        }
        std::mem::forget(starting);
        shared.open();
        resident.into_iter().for_each(|resident| resident.enter(&shared));
        // A runtime that ends by itself is listed by its owner (`compat::Pool::list`).
        let listed = if self.compat { Listed::NOT } else { self.inspect.list(&shared) };
        Ok(Runtime::new(shared, listed))
    }
}

/// Threads that are being started. Dropping it ends them.
struct Starting<'a> {
    shared: &'a Shared,
    made: usize,
    /// Whether to wait for the threads. If not, the last of them cleans up.
    waits: bool,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.shared.abandon();
        if !self.waits {
            return;
        }
        // The worker whose thread failed has counted itself out when dropped. A worker that the
        // handler keeps for later has not, so the wait is bounded.
        self.shared.wait_exited(self.made, Instant::now() + ABANDON_TIMEOUT);
        self.shared.forget_fibers();
    }
}

/// Makes stacks, and checks that at least one is available.
fn make_stacks(
    allocator: Box<dyn StackAllocator>,
    size: usize,
    stacks: usize,
    workers: usize,
    overhead: usize,
) -> Result<Stacks, BuildError> {
    let size = StackSize::new(size).map_err(|error| BuildError::StackSize(error.0))?;
    if stacks < workers {
        return Err(BuildError::Stacks { stacks, workers });
    }
    let stacks = Stacks::new(allocator, size, stacks, overhead);
    stacks.prove().map_err(BuildError::Stack)?;
    Ok(stacks)
}
