//! What an instance of a template and the end of its run share, and how its slots are freed.
//!
//! The milestone of an instance waits for all its tasks. So a thread that finds it `Done` finds all
//! tasks done, and no other thread touches them: they are the instance's, which starts them again
//! or frees them. An instance that is dropped earlier marks the milestone `poisoned`, and the
//! thread that ends the run frees them.

use crate::layout::Layout;
use crate::list::Chain;
use crate::shed::Shed;
use crate::word::{Dependents, State};
use alloc::boxed::Box;
use alloc::sync::Arc;
use sateen_base::prim::Ordering;
#[cfg(all(target_pointer_width = "64", not(loom)))]
use sateen_base::prim::{AtomicPtr, AtomicU64};
use sateen_base::unwind::run_to_end;

pub(crate) type OnDone = Arc<dyn Fn() + Send + Sync>;

/// A task of an instance, and how it begins a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed {
    pub(crate) index: u32,
    pub(crate) channel: u32,
    /// Idle, with its in-degree; or ready, if that is 0.
    pub(crate) state: State,
}

/// What never changes about an instance. The instance has one reference, and the milestone another,
/// as an address in its tag.
pub(crate) struct Plan {
    /// Number of the template.
    pub(crate) template: u32,
    /// In the template's order.
    pub(crate) tasks: Box<[Armed]>,
    pub(crate) milestone: Armed,
    /// Indices of the tasks without predecessors, those of a channel side by side.
    pub(crate) roots: Box<[u32]>,
    pub(crate) on_done: Option<OnDone>,
}

impl Plan {
    /// Gives the milestone its reference.
    pub(crate) fn attach<T, L: Layout>(self: &Arc<Self>, shed: &Shed<T, L>) {
        // Read by the thread that ends the run, which the milestone's state leads here.
        Self::put(shed, self.milestone.index, Arc::into_raw(Arc::clone(self)));
        shed.instances.fetch_add(1, Ordering::Relaxed);
    }

    /// The milestone's tag, as a place for a pointer.
    #[cfg(all(target_pointer_width = "64", not(loom)))]
    fn place<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> &AtomicPtr<Self> {
        const { assert!(align_of::<AtomicPtr<Self>>() <= align_of::<AtomicU64>()) };
        let tag = core::ptr::from_ref(shed.memory.tag(milestone));
        // SAFETY: both are 64 bits wide, and so is each access to the word, whichever its type.
        unsafe { &*tag.cast() }
    }

    #[cfg(all(target_pointer_width = "64", not(loom)))]
    fn put<T, L: Layout>(shed: &Shed<T, L>, milestone: u32, plan: *const Self) {
        Self::place(shed, milestone).store(plan.cast_mut(), Ordering::Relaxed);
    }

    #[cfg(all(target_pointer_width = "64", not(loom)))]
    fn of<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> *const Self {
        Self::place(shed, milestone).load(Ordering::Relaxed)
    }

    /// Where a pointer is not as wide as the tag, or the model's words are no memory.
    #[cfg(not(all(target_pointer_width = "64", not(loom))))]
    fn put<T, L: Layout>(shed: &Shed<T, L>, milestone: u32, plan: *const Self) {
        let plan = plan.expose_provenance() as u64;
        shed.memory.tag(milestone).store(plan, Ordering::Relaxed);
    }

    #[cfg(not(all(target_pointer_width = "64", not(loom))))]
    fn of<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> *const Self {
        let plan = shed.memory.tag(milestone).load(Ordering::Relaxed);
        core::ptr::with_exposed_provenance(plan as usize)
    }

    /// The milestone's plan.
    ///
    /// # Safety
    /// `milestone` is one, and no other thread uses the shed.
    pub(crate) unsafe fn shared<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> Arc<Self> {
        let plan = Self::of(shed, milestone);
        // SAFETY: the milestone has a reference, and keeps it.
        unsafe {
            Arc::increment_strong_count(plan);
            Arc::from_raw(plan)
        }
    }

    /// Takes the milestone's reference.
    ///
    /// # Safety
    /// `milestone` is one, and is used no more.
    pub(crate) unsafe fn detach<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> Arc<Self> {
        shed.instances.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: `attach` made the address of a reference, and only this call makes a reference
        // of it again.
        unsafe { Arc::from_raw(Self::of(shed, milestone)) }
    }
}

/// What is to be done once a milestone is done. Looked up before, as from then on the instance may
/// be gone at any time.
pub(crate) struct EndOfRun<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    milestone: u32,
    on_done: Option<OnDone>,
}

impl<'a, T, L: Layout> EndOfRun<'a, T, L> {
    /// Of a milestone that the caller is about to end.
    pub(crate) fn of(shed: &'a Shed<T, L>, milestone: u32) -> Self {
        // SAFETY: the milestone has its reference until its run ends, and the caller has yet to
        // end it.
        let on_done = unsafe { (*Plan::of(shed, milestone)).on_done.clone() };
        Self { shed, milestone, on_done }
    }

    /// `dropped`: the instance was dropped before the milestone was done.
    #[cold]
    pub(crate) fn conclude_slow(self, dropped: bool) {
        let (mut dropped, mut on_done) = (dropped, self.on_done);
        run_to_end(|| {
            if core::mem::take(&mut dropped) {
                // SAFETY: the instance has left it all to this thread.
                unsafe { Freeing::new(self.shed, self.milestone) }.work();
            } else if let Some(on_done) = on_done.take() {
                on_done();
            }
            on_done.is_some()
        });
    }
}

/// Frees an instance's slots and dependencies: payloads first, then, also if dropping one panics,
/// all else.
pub(crate) struct Freeing<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    plan: Arc<Plan>,
    next: usize,
    edges: Option<Chain>,
    slots: Option<Chain>,
}

impl<'a, T, L: Layout> Freeing<'a, T, L> {
    /// # Safety
    /// The milestone is done, and the instance is the caller's alone.
    pub(crate) unsafe fn new(shed: &'a Shed<T, L>, milestone: u32) -> Self {
        // SAFETY: as the caller says.
        let plan = unsafe { Plan::detach(shed, milestone) };
        Self { shed, plan, next: 0, edges: None, slots: None }
    }

    pub(crate) fn work(mut self) {
        run_to_end(|| self.free_task());
    }

    /// `false`: none is left.
    fn free_task(&mut self) -> bool {
        let Some(&Armed { index, .. }) = self.plan.tasks.get(self.next) else { return false };
        self.next += 1;
        self.free_edges(index);
        self.vacate(index);
        let payload = &self.shed.memory.slot(index).payload;
        // SAFETY: kept tasks keep their payload. The slot no longer has a task, but is in no list
        // yet.
        payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
        true
    }

    fn free_edges(&mut self, index: u32) {
        let mut next =
            Dependents(self.shed.memory.dependents(index).load(Ordering::Relaxed)).first();
        while let Some(edge) = next.get() {
            next = self.shed.memory.edge(edge).next.get();
            self.shed.free_edges().append_to(&mut self.edges, edge);
        }
    }

    fn vacate(&mut self, index: u32) {
        let state = State(self.shed.memory.slot(index).state.load(Ordering::Relaxed));
        // A thread that has the old name and means to depend on it finds that this is too late.
        let closed = Dependents::closed(state.generation());
        // Ordering: Release, for the Acquire of a thread that is late to depend on an earlier task
        // here: it must find that one stale.
        self.shed.memory.dependents(index).store(closed.0, Ordering::Release);
        self.shed.vacate(index, state);
        self.shed.free_slots().append_to(&mut self.slots, index);
    }
}

impl<T, L: Layout> Drop for Freeing<'_, T, L> {
    fn drop(&mut self) {
        self.vacate(self.plan.milestone.index);
        if let Some(edges) = self.edges.take() {
            self.shed.free_edges().push(edges);
        }
        if let Some(slots) = self.slots.take() {
            self.shed.free_slots().push(slots);
        }
    }
}
