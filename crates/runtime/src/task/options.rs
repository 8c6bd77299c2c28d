//! Spawn options.

use super::handle::no_spawns_here;
use super::{
    Birth, CancelToken, Header, Ids, JoinError, JoinHandle, Priority, identity::Extra,
    identity::Property,
};
use crate::context;
use crate::entry::Entry;
use crate::gate::GateGuard;
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::stack::MAX_STACK;
use crate::task;
use crate::worker::{Owner, Push};
use sateen_base::abort_with;
use sateen_base::prim::AtomicU64;
use sateen_base::tsc;
use sateen_base::unwind::discard;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Settings for spawning a task: name, priority, worker, stack size, cancellation.
///
/// ```
/// use sateen::{Priority, Spawn};
/// let task = Spawn::new().name("indexer").priority(Priority::Low).spawn(|| 1 + 1);
/// assert_eq!(task.join().unwrap(), 2);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "settings do nothing until `spawn` is called"]
pub struct Spawn {
    name: Option<Arc<str>>,
    priority: Priority,
    stack_size: Option<usize>,
    token: Option<CancelToken>,
    worker: Option<usize>,
    property: Option<u64>,
    dispatch: bool,
}

impl Spawn {
    /// The settings of a plain [`spawn`](crate::spawn).
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task, for reports.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the task's priority.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Gives the task about `bytes` of stack. Default: the [runtime's
    /// size](crate::Builder::stack_size), 2 MiB.
    ///
    /// The size is rounded up to a power of two. A size between half of the runtime's and all of it
    /// counts as the runtime's. For many tasks that block, a small size saves memory; see the table
    /// in the guide's page `stacks`.
    ///
    /// ```
    /// let task = sateen::Spawn::new().stack_size(64 << 10).spawn(|| 1);
    /// assert_eq!(task.join().unwrap(), 1);
    /// ```
    ///
    /// # Cost
    /// Two more stack switches, and a stack from the pool, for each task with another size.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Cancels the task when the token is cancelled.
    pub fn token(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Runs the task only on the worker with this index.
    pub fn on_worker(mut self, index: usize) -> Self {
        self.worker = Some(index);
        self
    }

    /// Sets a number for the scheduling policy, such as a deadline. Policies that do not use it
    /// ignore it.
    pub fn property(mut self, property: u64) -> Self {
        self.property = Some(property);
        self
    }

    /// Starts the task at once, on its own stack. The spawning task continues in its turn, on the
    /// same worker. Outside of tasks this setting has no effect.
    ///
    /// Source: launch policy `dispatch` of Boost.Fiber.
    pub fn dispatch(mut self) -> Self {
        self.dispatch = true;
        self
    }

    /// Spawns on the calling worker's runtime, or on the global one from anywhere else.
    ///
    /// If the settings cannot be met, the handle returns the error.
    #[track_caller]
    #[inline]
    pub fn spawn<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if self.is_usual() {
            return task::spawn(f);
        }
        let location = Location::caller();
        self.try_spawn(f, location).unwrap_or_else(|(f, error)| task::refused(f, error, location))
    }

    /// Spawns without a handle: the task's result is dropped.
    ///
    /// # Errors
    /// If the settings cannot be met, or the runtime accepts no more tasks. The closure is dropped.
    #[track_caller]
    #[inline]
    pub fn detach<F, T>(self, f: F) -> Result<(), JoinError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if self.is_usual()
            && let Some(worker) = context::owner()
        {
            let birth = Birth::plain(worker.ids().draw(), Location::caller());
            let header = task::new_detached(f, worker.shared(), birth);
            worker.push(Entry::task(header), Push::New);
            Owner::poll();
            return Ok(());
        }
        match self.try_spawn(f, Location::caller()) {
            Ok(handle) => drop(handle),
            Err((f, error)) => {
                // Its panic would replace the error.
                discard(f);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns the closure with the error.
    fn try_spawn<F, T>(
        self,
        f: F,
        location: &'static Location<'static>,
    ) -> Result<JoinHandle<T>, (F, JoinError)>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        made_by(f, |make| match context::owner() {
            Some(worker) => self.place_inside(worker, location, make),
            None => self.place_outside(location, make),
        })
    }

    /// Whether all settings are the defaults.
    #[inline(always)]
    fn is_usual(&self) -> bool {
        self.is_plain() && self.priority == Priority::Normal && !self.dispatch
    }

    /// Whether the task needs no [`Extra`].
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.name.is_none()
            && self.stack_size.is_none()
            && self.token.is_none()
            && self.worker.is_none()
            && self.property.is_none()
    }

    #[cold]
    pub(crate) fn spawn_outside<F, T>(
        self,
        f: F,
        location: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        made_by(f, |make| self.place_outside(location, make))
            .unwrap_or_else(|(f, error)| task::refused(f, error, location))
    }

    /// Spawns on the runtime of `shared`, from any thread.
    pub(crate) fn spawn_on<F, T>(
        self,
        shared: &Arc<Shared>,
        f: F,
        location: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        made_by(f, |make| self.place(shared, location, make))
            .unwrap_or_else(|(f, error)| task::refused(f, error, location))
    }

    // The rest is compiled once. `make` creates the task, unless there is an error.

    #[cold]
    fn place_outside(
        self,
        location: &'static Location<'static>,
        make: Make<'_>,
    ) -> Result<(), JoinError> {
        if let Some(error) = no_spawns_here() {
            return Err(error);
        }
        match Runtime::global() {
            Ok(runtime) => self.place(&runtime.shared, location, make),
            Err(error) => Err(JoinError::NoRuntime(error.to_string())),
        }
    }

    fn place_inside(
        self,
        worker: &'static Owner,
        location: &'static Location<'static>,
        make: Make<'_>,
    ) -> Result<(), JoinError> {
        let shared = worker.shared();
        if let Some(error) = self.impossible(shared) {
            return Err(error);
        }
        let (pinned_to, dispatch) = (self.worker, self.dispatch);
        let entry = Entry::task(make(shared, self.birth(shared, worker.ids().draw(), location)));
        match pinned_to {
            Some(index) if index != worker.index() => post(shared, index, entry),
            _ if dispatch => {
                if let Some((worker, fiber)) = context::here() {
                    worker.dispatch(fiber, entry);
                }
            }
            Some(_) => post(shared, worker.index(), entry),
            None => {
                worker.push(entry, Push::Other);
                Owner::poll();
            }
        }
        Ok(())
    }

    fn place(
        self,
        shared: &Arc<Shared>,
        location: &'static Location<'static>,
        make: Make<'_>,
    ) -> Result<(), JoinError> {
        if let Some(worker) = context::owner()
            && worker.is_of(shared)
        {
            return self.place_inside(worker, location, make);
        }
        let inside = shared.enter_gate().map_err(|refused| refused.error())?;
        if let Some(error) = self.impossible(shared) {
            return Err(error);
        }
        let pinned_to = self.worker;
        let entry = Entry::task(make(shared, self.birth(shared, Ids::outside(), location)));
        match pinned_to {
            Some(index) => post_through(Some(inside), shared, index, entry),
            None => shared.submit_through(inside, entry),
        }
        Ok(())
    }

    /// The only worker that may run the task, if any.
    pub(super) fn worker(&self) -> Option<usize> {
        self.worker
    }

    /// Whether the task starts at once.
    pub(super) fn dispatches(&self) -> bool {
        self.dispatch
    }

    /// Why the task cannot be spawned there, if that is so.
    pub(super) fn impossible(&self, shared: &Shared) -> Option<JoinError> {
        let workers = shared.regular;
        match (self.stack_size, self.worker) {
            (Some(size), _) if size > MAX_STACK => Some(JoinError::StackSize(size)),
            (_, Some(worker)) if worker >= workers => Some(JoinError::NoWorker { worker, workers }),
            _ => None,
        }
    }

    pub(super) fn birth(
        self,
        shared: &Shared,
        id: super::TaskId,
        location: &'static Location<'static>,
    ) -> Birth {
        let plain = self.is_plain();
        let listener = || shared.workers[0].policy_view.listener();
        let property = self.property.map(|value| Property::new(value, listener()));
        let ready_at = if self.name.is_some() { tsc::now() } else { 0 };
        let extra = (!plain).then(|| {
            Box::new(Extra {
                name: self.name,
                stack_size: self.stack_size,
                worker: self.worker,
                token: self.token,
                property,
                ready_at: AtomicU64::new(ready_at),
            })
        });
        Birth { id, priority: self.priority, location, extra }
    }
}

/// Creates a task on a runtime.
type Make<'m> = &'m mut dyn FnMut(&Arc<Shared>, Birth) -> NonNull<Header>;

/// Calls `place`, which creates the task of `f` if and only if it returns no error.
fn made_by<F, T>(
    f: F,
    place: impl FnOnce(Make<'_>) -> Result<(), JoinError>,
) -> Result<JoinHandle<T>, (F, JoinError)>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (mut f, mut made) = (Some(f), None);
    let placed = place(&mut |shared, birth| {
        let Some(f) = f.take() else { abort_with("a task was made twice, or not at all") };
        let (header, handle) = task::new(f, shared, birth);
        made = Some(handle);
        header
    });
    match (placed, made, f) {
        (Ok(()), Some(handle), _) => Ok(handle),
        (Err(error), _, Some(f)) => Err((f, error)),
        _ => abort_with("a task was made twice, or not at all"),
    }
}

/// Queues a task where only worker `index` finds it.
fn post(shared: &Shared, index: usize, entry: Entry) {
    post_through(None, shared, index, entry);
}

/// [`post`] for a caller that may be inside the gate. It leaves before any worker is notified.
pub(super) fn post_through(
    inside: Option<GateGuard<'_>>,
    shared: &Shared,
    index: usize,
    entry: Entry,
) {
    let put = || shared.workers[index].put(entry);
    let announce = |taken| {
        if taken {
            shared.sleep.wake_owner(index);
        } else {
            // SAFETY: it was not posted, so this thread owns it. (The worker's thread never ran.)
            unsafe { task::refuse_posted(shared, index, entry) };
        }
    };
    match inside {
        Some(inside) => inside.submit(put, announce),
        None => announce(put()),
    }
}
