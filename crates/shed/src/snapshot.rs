//! Copies of a shed that stands still.

use crate::layout::{Layout, Pausing};
use crate::memory::{Place, Sizes};
use crate::plan::Plan;
use crate::shed::{Extra, Heads, Shed, ShedIn};
use crate::word::{State, Status};
use crate::{BuildError, Builder, OtherSizes};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use sateen_base::prim::Ordering;

/// A copy of all that is in a shed: see [`Shed::snapshot`].
#[derive(Clone)]
pub struct Snapshot<T, L: Layout = Pausing> {
    sizes: Sizes,
    extra: Extra,
    channels: u16,
    heads: Box<[u64]>,
    /// Of each place that was ever taken, its words.
    places: Box<[Words]>,
    /// As of places: who waits, and the next in the list.
    edges: Box<[(u32, u32)]>,
    payloads: Vec<(u32, T)>,
    plans: Vec<Arc<Plan>>,
    layout: PhantomData<L>,
}

/// All of a place but its payload.
#[derive(Clone, Copy)]
struct Words {
    state: u64,
    dependents: u64,
    tag: u64,
    channel: u32,
    flags: u32,
    link: u32,
}

impl<T, L: Layout> Snapshot<T, L> {
    /// Another shed with the same tasks, doing the same, under the same names. What it does from then on has nothing to do with the first. It has no callbacks.
    ///
    /// # Errors
    /// Too little memory.
    ///
    /// # Panics
    /// If cloning a payload panics.
    ///
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

    /// As [`to_shed`](Self::to_shed), with the callbacks of `builder`, whose other settings do not count.
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

    /// As [`to_shed_with`](Self::to_shed_with), in memory of the user's: see [`Builder::build_in`].
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
        let places = 0..fresh(Heads::<L>::FRESH_PLACES);
        let (mut payloads, mut plans) = (Vec::new(), Vec::new());
        for index in places.clone() {
            match shed.content(index) {
                Content::Nothing => {}
                Content::Payload => {
                    let payload = &memory.place(index).payload;
                    // SAFETY: it is there, and nobody else uses the shed.
                    let copy = payload.with(|p| unsafe { (*p).assume_init_ref().clone() });
                    payloads.push((index, copy));
                }
                // SAFETY: a milestone has its plan, as long as nobody else uses the shed.
                Content::Milestone => plans.push(unsafe { Plan::shared(shed, index) }),
            }
        }
        let words = |index| {
            let place = memory.place(index);
            Words {
                state: place.state.load(Ordering::Relaxed),
                dependents: memory.dependents(index).load(Ordering::Relaxed),
                tag: memory.tag(index).load(Ordering::Relaxed),
                channel: place.channel.load(Ordering::Relaxed),
                flags: place.flags.load(Ordering::Relaxed),
                link: memory.link(index).load(Ordering::Relaxed),
            }
        };
        let edge = |index| {
            let edge = memory.edge(index);
            (edge.successor.load(Ordering::Relaxed), edge.next.load(Ordering::Relaxed))
        };
        Self {
            sizes: memory.sizes(),
            extra: shed.extra,
            channels: shed.channels,
            heads: (0..memory.sizes().heads)
                .map(|i| memory.head(i).load(Ordering::Relaxed))
                .collect(),
            places: places.map(words).collect(),
            edges: (0..fresh(Heads::<L>::FRESH_EDGES)).map(edge).collect(),
            payloads,
            plans,
            layout: PhantomData,
        }
    }

    /// Writes all of it into a shed of the same sizes, whose own payloads and plans are gone.
    fn load(&self, shed: &mut Shed<T, L>, payloads: Vec<(u32, T)>) {
        let memory = &shed.memory;
        // What was taken later is as if it never was.
        let fresh = memory.head(Heads::<L>::FRESH_PLACES).load(Ordering::Relaxed) as u32;
        for index in self.places.len() as u32..fresh {
            memory.place(index).state.store(0, Ordering::Relaxed);
            memory.dependents(index).store(0, Ordering::Relaxed);
        }
        for (index, words) in (0..).zip(&self.places) {
            let place = memory.place(index);
            place.state.store(words.state, Ordering::Relaxed);
            place.channel.store(words.channel, Ordering::Relaxed);
            place.flags.store(words.flags, Ordering::Relaxed);
            memory.dependents(index).store(words.dependents, Ordering::Relaxed);
            memory.tag(index).store(words.tag, Ordering::Relaxed);
            memory.link(index).store(words.link, Ordering::Relaxed);
        }
        for (index, &(successor, next)) in (0..).zip(&self.edges) {
            memory.edge(index).successor.store(successor, Ordering::Relaxed);
            memory.edge(index).next.store(next, Ordering::Relaxed);
        }
        for (index, &head) in self.heads.iter().enumerate() {
            memory.head(index).store(head, Ordering::Relaxed);
        }
        for (index, payload) in payloads {
            // SAFETY: nobody else uses the shed, and whatever was there is gone.
            memory.place(index).payload.with_mut(|p| unsafe { (*p).write(payload) });
        }
        self.plans.iter().for_each(|plan| plan.settle(shed));
    }
}

/// What lies in a place besides its words, in a shed that stands still.
pub(crate) enum Content {
    Nothing,
    Payload,
    /// Of an instance that was forgotten, or dropped during a run that has not ended.
    Milestone,
}

impl<T, L: Layout> Shed<T, L> {
    pub(crate) fn content(&self, index: u32) -> Content {
        let Place { state, .. } = self.memory.place(index);
        match State(state.load(Ordering::Relaxed)).status() {
            Status::Free => Content::Nothing,
            _ if self.is_milestone(index) => Content::Milestone,
            Status::Cancelled if !self.is_kept(index) => Content::Nothing,
            // Somebody forgot the caller that executes it, or left it through a panic in `Drop`.
            Status::Running | Status::Freeing => Content::Nothing,
            _ => Content::Payload,
        }
    }

    /// Copies all that is in the shed: tasks, whatever they are doing, and payloads, by cloning them. [`to_shed`](Snapshot::to_shed) makes a shed of it
    /// that runs to the same end, [`restore`](Self::restore) takes this one back to here.
    ///
    /// That nobody else has the shed says that no task is running, and that no [`Instance`](crate::Instance) is left but those dropped during a run. Their
    /// tasks are copied with the others. (Should somebody have forgotten a caller that was executing a task, then that runs for ever in the copy too.)
    ///
    /// Cost: linear in the places that were ever taken; allocates.
    ///
    /// # Panics
    /// If cloning a payload panics.
    ///
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

    /// Makes everything as it was in `snapshot`, of this shed or another of its sizes. Payloads that are there are dropped, and those of the
    /// snapshot cloned. The callbacks stay, and are not called.
    ///
    /// Names of tasks that were created since are to be forgotten: the shed gives them to others.
    ///
    /// # Errors
    /// [`OtherSizes`]; nothing has changed.
    ///
    /// # Panics
    /// If cloning a payload panics: then nothing has changed. If dropping one does: then everything has.
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
        let fresh = self.memory.head(Heads::<L>::FRESH_PLACES).load(Ordering::Relaxed) as u32;
        for index in 0..fresh {
            match self.content(index) {
                Content::Nothing => {}
                Content::Payload => {
                    let payload = &self.memory.place(index).payload;
                    // SAFETY: it is there, nobody else uses the shed, and `load` writes what comes in its place.
                    old_payloads.push(payload.with(|p| unsafe { (*p).assume_init_read() }));
                }
                // SAFETY: nobody else uses the shed, and `load` writes what comes in its place.
                Content::Milestone => old_plans.push(unsafe { Plan::unsettle(self, index) }),
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
