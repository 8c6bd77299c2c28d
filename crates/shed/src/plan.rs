//! What an instance of a template and who ends its run know of it, and how its places are freed.
//!
//! The milestone of an instance waits for all its tasks, so whoever finds it `Done` finds all of them done, and nobody else touches
//! them: that makes them the instance's, which starts them again or frees them. If the instance is dropped before, it leaves the mark `poisoned`
//! on the milestone, and who ends the run frees them.

use crate::canary::relaxed_if;
use crate::layout::Layout;
use crate::list::Chain;
use crate::memory::flag;
use crate::shed::{Heads, Shed};
use crate::word::{Dependents, State};
use alloc::boxed::Box;
use alloc::sync::Arc;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::unwind::run_to_end;

pub(crate) type OnDone = Arc<dyn Fn() + Send + Sync>;

/// A task of an instance, and how it begins a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed {
    pub(crate) index: u32,
    pub(crate) channel: u32,
    /// Waits for as many as it depends on; or is ready, if that is nobody.
    pub(crate) state: State,
}

/// Never changed. One reference is the instance's, one belongs to the milestone, as a number in its tag.
pub(crate) struct Plan {
    /// Number of the template.
    pub(crate) template: u32,
    /// In the template's order.
    pub(crate) tasks: Box<[Armed]>,
    pub(crate) milestone: Armed,
    /// Indices of the tasks that depend on nobody, those of a channel side by side.
    pub(crate) roots: Box<[u32]>,
    pub(crate) on_done: Option<OnDone>,
}

impl Plan {
    /// Gives the milestone its reference.
    pub(crate) fn settle<T, L: Layout>(self: &Arc<Self>, shed: &Shed<T, L>) {
        let plan = Arc::into_raw(Arc::clone(self)).expose_provenance();
        // Read by who ends the run, to whom the milestone's state leads.
        shed.memory.tag(self.milestone.index).store(plan as u64, Ordering::Relaxed);
        shed.instances.fetch_add(1, Ordering::Relaxed);
    }

    fn of<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> *const Self {
        let plan = shed.memory.tag(milestone).load(Ordering::Relaxed);
        core::ptr::with_exposed_provenance(plan as usize)
    }

    /// The milestone's plan.
    ///
    /// # Safety
    /// `milestone` is one, and nobody else uses the shed.
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
    /// `milestone` is one, and nobody uses it any more.
    pub(crate) unsafe fn unsettle<T, L: Layout>(shed: &Shed<T, L>, milestone: u32) -> Arc<Self> {
        shed.instances.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: `settle` made a reference into the number, and we are the only ones to make it one again.
        unsafe { Arc::from_raw(Self::of(shed, milestone)) }
    }
}

/// What is to be done once a milestone is done, found before it is: then the instance may be gone at any time.
pub(crate) struct EndOfRun<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    milestone: u32,
    on_done: Option<OnDone>,
}

impl<'a, T, L: Layout> EndOfRun<'a, T, L> {
    /// Of a milestone that the caller is about to end.
    pub(crate) fn of(shed: &'a Shed<T, L>, milestone: u32) -> Self {
        // SAFETY: the milestone has its reference as long as its run has not ended, which is the caller's to do.
        let on_done = unsafe { (*Plan::of(shed, milestone)).on_done.clone() };
        Self { shed, milestone, on_done }
    }

    /// `dropped`: the instance was before the milestone was done.
    #[cold]
    pub(crate) fn tell_slow(self, dropped: bool) {
        let (mut dropped, mut on_done) = (dropped, self.on_done);
        run_to_end(|| {
            if core::mem::take(&mut dropped) {
                // SAFETY: the instance has left it all to us.
                unsafe { Freeing::new(self.shed, self.milestone) }.work();
            } else if let Some(on_done) = on_done.take() {
                on_done();
            }
            on_done.is_some()
        });
    }
}

/// Frees an instance's places and dependencies: payloads first, then, also if dropping one panics, all else.
pub(crate) struct Freeing<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    plan: Arc<Plan>,
    next: usize,
    edges: Option<Chain>,
    places: Option<Chain>,
}

impl<'a, T, L: Layout> Freeing<'a, T, L> {
    /// # Safety
    /// The milestone is done, and the instance is nobody else's.
    pub(crate) unsafe fn new(shed: &'a Shed<T, L>, milestone: u32) -> Self {
        // SAFETY: as the caller says.
        let plan = unsafe { Plan::unsettle(shed, milestone) };
        Self { shed, plan, next: 0, edges: None, places: None }
    }

    pub(crate) fn work(mut self) {
        run_to_end(|| self.free_task());
    }

    /// False if none is left.
    fn free_task(&mut self) -> bool {
        let Some(&Armed { index, .. }) = self.plan.tasks.get(self.next) else { return false };
        self.next += 1;
        self.free_edges(index);
        self.vacate(index);
        let payload = &self.shed.memory.place(index).payload;
        // SAFETY: kept tasks keep theirs, and the place, though without a task, is in no list yet.
        payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
        true
    }

    fn free_edges(&mut self, index: u32) {
        let mut next =
            Dependents(self.shed.memory.dependents(index).load(Ordering::Relaxed)).first();
        while next != 0 {
            let edge = next - 1;
            next = self.shed.memory.edge(edge).next.load(Ordering::Relaxed);
            match &mut self.edges {
                None => self.edges = Some(Chain::of(edge)),
                Some(edges) => self.shed.free_edges().append(edges, edge),
            }
        }
    }

    fn vacate(&mut self, index: u32) {
        let state = State(self.shed.memory.place(index).state.load(Ordering::Relaxed));
        // Who has the old name and means to depend on it finds that this is too late.
        let closed = Dependents::closed(state.generation());
        let freed = relaxed_if(canary!("freed_dependents"), Ordering::Release);
        // Ordering: Release, for the Acquire of who is late to depend on an earlier task here: it
        // must find that one stale.
        self.shed.memory.dependents(index).store(closed.0, freed);
        self.shed.vacate(index, state);
        match &mut self.places {
            None => self.places = Some(Chain::of(index)),
            Some(places) => self.shed.tasks_at(Heads::<L>::FREE_PLACES).append(places, index),
        }
    }
}

impl<T, L: Layout> Drop for Freeing<'_, T, L> {
    fn drop(&mut self) {
        self.vacate(self.plan.milestone.index);
        if let Some(edges) = self.edges.take() {
            self.shed.free_edges().push(edges);
        }
        if let Some(places) = self.places.take() {
            self.shed.tasks_at(Heads::<L>::FREE_PLACES).push(places);
        }
    }
}

impl<T, L: Layout> Shed<T, L> {
    /// Whether the task there is part of an instance.
    #[inline(always)]
    pub(crate) fn is_kept(&self, index: u32) -> bool {
        self.memory.place(index).flags.load(Ordering::Relaxed) & flag::KEPT != 0
    }

    #[inline(always)]
    pub(crate) fn is_milestone(&self, index: u32) -> bool {
        self.memory.place(index).flags.load(Ordering::Relaxed) & flag::MILESTONE != 0
    }
}
