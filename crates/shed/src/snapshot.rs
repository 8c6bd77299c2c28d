//! Copies of a shed that stands still.

use crate::block::Sizes;
use crate::builder::Builder;
use crate::content::Content;
use crate::heads::{ExtraHeads, Heads};
use crate::index::OptIndex;
use crate::layout::{Central, Layout};
use crate::plan::Plan;
use crate::shed::{Shed, ShedIn};
use crate::{BuildError, OtherSizes};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use sateen_base::prim::Ordering;

/// A copy of all that is in a shed: see [`Shed::snapshot`].
#[derive(Clone)]
pub struct Snapshot<T, L: Layout = Central> {
    sizes: Sizes,
    extra: ExtraHeads,
    channels: u16,
    heads: Box<[u64]>,
    /// The words of each slot that was ever taken.
    slots: Box<[Words]>,
    /// Of each dependency that was ever taken, the successor and the next in the list.
    edges: Box<[(u32, OptIndex)]>,
    payloads: Vec<(u32, T)>,
    plans: Vec<Arc<Plan>>,
    layout: PhantomData<L>,
}

/// All of a slot but its payload.
#[derive(Clone, Copy)]
struct Words {
    state: u64,
    dependents: u64,
    tag: u64,
    channel: u32,
    flags: u32,
    link: OptIndex,
}

impl<T, L: Layout> Snapshot<T, L> {
    /// Another shed with the same tasks, in the same states, under the same names. From then on the
    /// two are independent. The copy has no callbacks.
    ///
    /// # Errors
    /// Too little memory.
    ///
    /// # Panics
    /// If cloning a payload panics.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let mut shed = Shed::builder().tasks(2).dependencies(1).build()?;
    /// let [b, a] = shed.create(["b", "a"]).unwrap();
    /// shed.depend(&[b], &[a])?;
    /// shed.ready(&[a])?;
    ///
    /// let copy = shed.snapshot().to_shed()?;
    /// for shed in [&shed, &copy] {
    ///     assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete)?, Some(a));
    ///     assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete)?, Some(b));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_shed(&self) -> Result<Shed<T, L>, BuildError>
    where
        T: Clone,
    {
        self.to_shed_with(Builder::default().layout())
    }

    /// As [`to_shed`](Self::to_shed), with the callbacks of `builder`. Its other settings are
    /// ignored.
    ///
    /// # Errors
    /// As [`to_shed`](Self::to_shed).
    ///
    /// # Panics
    /// As [`to_shed`](Self::to_shed).
    pub fn to_shed_with(&self, builder: Builder<T, L>) -> Result<Shed<T, L>, BuildError>
    where
        T: Clone,
    {
        let mut shed = self.sized(builder).build()?;
        self.load(&mut shed, self.payloads.clone());
        Ok(shed)
    }

    /// As [`to_shed_with`](Self::to_shed_with), in a buffer: see [`Builder::build_in`].
    ///
    /// # Errors
    /// As [`Builder::build_in`].
    ///
    /// # Panics
    /// As [`to_shed`](Self::to_shed).
    pub fn to_shed_in<'m>(
        &self,
        builder: Builder<T, L>,
        buffer: &'m mut [MaybeUninit<u8>],
    ) -> Result<ShedIn<'m, T, L>, BuildError>
    where
        T: Clone,
    {
        let mut shed = self.sized(builder).build_in(buffer)?;
        self.load(&mut shed.shed, self.payloads.clone());
        Ok(shed)
    }

    fn sized(&self, builder: Builder<T, L>) -> Builder<T, L> {
        builder
            .tasks(self.sizes.tasks.into())
            .dependencies(self.sizes.edges.into())
            .channels(self.channels.into())
            .extra(self.extra)
    }

    fn save(shed: &mut Shed<T, L>) -> Self
    where
        T: Clone,
    {
        let memory = &shed.memory;
        let fresh = |head| memory.head(head).load(Ordering::Relaxed) as u32;
        let slots = 0..fresh(Heads::<L>::FRESH_SLOTS);
        let (mut payloads, mut plans) = (Vec::new(), Vec::new());
        for index in slots.clone() {
            match shed.content(index) {
                Content::Nothing => {}
                Content::Payload => {
                    let payload = &memory.slot(index).payload;
                    // SAFETY: it is there, and the caller has the shed to itself.
                    let copy = payload.with(|p| unsafe { (*p).assume_init_ref().clone() });
                    payloads.push((index, copy));
                }
                // SAFETY: a milestone has its plan, and the caller has the shed to itself.
                Content::Milestone => plans.push(unsafe { Plan::shared(shed, index) }),
            }
        }
        let words = |index| {
            let slot = memory.slot(index);
            Words {
                state: slot.state.load(Ordering::Relaxed),
                dependents: memory.dependents(index).load(Ordering::Relaxed),
                // A milestone's is a pointer, which loading the plans writes.
                tag: shed.tag_at(index).unwrap_or(0),
                channel: slot.channel.load(Ordering::Relaxed),
                flags: slot.flags.load(Ordering::Relaxed),
                link: memory.link(index).get(),
            }
        };
        let edge = |index| {
            let edge = memory.edge(index);
            (edge.successor.load(Ordering::Relaxed), edge.next.get())
        };
        Self {
            sizes: memory.sizes(),
            extra: shed.extra,
            channels: shed.channels,
            heads: (0..memory.sizes().heads)
                .map(|i| memory.head(i).load(Ordering::Relaxed))
                .collect(),
            slots: slots.map(words).collect(),
            edges: (0..fresh(Heads::<L>::FRESH_EDGES)).map(edge).collect(),
            payloads,
            plans,
            layout: PhantomData,
        }
    }

    /// Writes all of it into a shed of the same sizes, whose own payloads and plans are gone.
    fn load(&self, shed: &mut Shed<T, L>, payloads: Vec<(u32, T)>) {
        let memory = &shed.memory;
        // What was taken later becomes as if it never was.
        for index in self.slots.len() as u32..shed.used_slots() {
            memory.slot(index).state.store(0, Ordering::Relaxed);
            memory.dependents(index).store(0, Ordering::Relaxed);
        }
        for (index, words) in (0..).zip(&self.slots) {
            let slot = memory.slot(index);
            slot.state.store(words.state, Ordering::Relaxed);
            slot.channel.store(words.channel, Ordering::Relaxed);
            slot.flags.store(words.flags, Ordering::Relaxed);
            memory.dependents(index).store(words.dependents, Ordering::Relaxed);
            memory.tag(index).store(words.tag, Ordering::Relaxed);
            memory.link(index).set(words.link);
        }
        for (index, &(successor, next)) in (0..).zip(&self.edges) {
            memory.edge(index).successor.store(successor, Ordering::Relaxed);
            memory.edge(index).next.set(next);
        }
        for (index, &head) in self.heads.iter().enumerate() {
            memory.head(index).store(head, Ordering::Relaxed);
        }
        for (index, payload) in payloads {
            // SAFETY: the caller has the shed to itself, and what was there is gone.
            memory.slot(index).payload.with_mut(|p| unsafe { (*p).write(payload) });
        }
        self.plans.iter().for_each(|plan| plan.attach(shed));
    }
}

impl<T, L: Layout> Shed<T, L> {
    /// Copies all that is in the shed: its tasks, whatever they are doing, and their payloads, by
    /// cloning them.
    ///
    /// [`to_shed`](Snapshot::to_shed) makes a shed of the snapshot that runs to the same end.
    /// [`restore`](Self::restore) takes this shed back to where it was.
    ///
    /// As the call needs `&mut self`, no task is running. And no [`Instance`](crate::Instance) is
    /// left, except those that were dropped during a run: their tasks are copied with the others.
    /// (If a call that executed a task was forgotten, that task runs for ever in the copy too.)
    ///
    /// # Panics
    /// If cloning a payload panics.
    ///
    /// # Cost
    /// Linear in the slots that were ever taken; allocates.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let mut shed = Shed::builder().build()?;
    /// shed.ready(&shed.create([1, 2, 3]).unwrap())?;
    /// let before = shed.snapshot();
    /// for _ in 0..2 {
    ///     let mut sum = 0;
    ///     while shed.execute_one(0, |_, n| { sum += *n; Outcome::Complete })?.is_some() {}
    ///     assert_eq!(sum, 6);
    ///     shed.restore(&before)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot<T, L>
    where
        T: Clone,
    {
        Snapshot::save(self)
    }

    /// Makes everything as it was in `snapshot`, of this shed or of another one of its sizes.
    ///
    /// Payloads that are there are dropped, and those of the snapshot are cloned. The callbacks
    /// stay, and are not called. Forget the names of tasks that were created since: the shed gives
    /// them to others.
    ///
    /// # Errors
    /// [`OtherSizes`]; nothing has changed.
    ///
    /// # Panics
    /// If cloning a payload panics: then nothing has changed. If dropping one does: then everything
    /// has.
    pub fn restore(&mut self, snapshot: &Snapshot<T, L>) -> Result<(), OtherSizes>
    where
        T: Clone,
    {
        if !self.memory.sizes().hold::<L>(snapshot.sizes) || self.channels != snapshot.channels {
            let of = |sizes: Sizes, channels| (sizes.tasks, sizes.edges, channels);
            return Err(OtherSizes {
                shed: of(self.memory.sizes(), self.channels),
                snapshot: of(snapshot.sizes, snapshot.channels),
            });
        }
        let payloads = snapshot.payloads.clone();
        let (mut old_payloads, mut old_plans) = (Vec::new(), Vec::new());
        for index in 0..self.used_slots() {
            match self.content(index) {
                Content::Nothing => {}
                Content::Payload => {
                    let payload = &self.memory.slot(index).payload;
                    // SAFETY: it is there, the caller has the shed to itself, and `load` overwrites
                    // it.
                    old_payloads.push(payload.with(|p| unsafe { (*p).assume_init_read() }));
                }
                // SAFETY: the caller has the shed to itself, and `load` overwrites it.
                Content::Milestone => old_plans.push(unsafe { Plan::detach(self, index) }),
            }
        }
        snapshot.load(self, payloads);
        Ok(())
    }
}

impl<T, L: Layout> ShedIn<'_, T, L> {
    /// As [`Shed::snapshot`].
    ///
    /// # Panics
    /// As [`Shed::snapshot`].
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot<T, L>
    where
        T: Clone,
    {
        self.shed.snapshot()
    }

    /// As [`Shed::restore`].
    ///
    /// # Errors
    /// As [`Shed::restore`].
    ///
    /// # Panics
    /// As [`Shed::restore`].
    pub fn restore(&mut self, snapshot: &Snapshot<T, L>) -> Result<(), OtherSizes>
    where
        T: Clone,
    {
        self.shed.restore(snapshot)
    }
}

impl<T, L: Layout> fmt::Debug for Snapshot<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("tasks", &self.payloads.len())
            .field("capacity", &self.sizes.tasks)
            .field("channels", &self.channels)
            .finish_non_exhaustive()
    }
}
