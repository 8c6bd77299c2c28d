//! The owner's side of a graph's task, and what can be given where tasks are expected.

use super::results::{Needed, Slot};
use super::spec::Spec;
use std::fmt;
use std::sync::Arc;

/// A task of a [`Graph`](super::Graph) and, after a run, the right to its result, an `R`.
///
/// Changes through a handle take effect in the next run.
pub struct Handle<R> {
    spec: Arc<Spec>,
    index: usize,
    slot: Arc<Slot<R>>,
}

/// Where a task runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum On {
    /// On any worker.
    #[default]
    Any,
    /// On the worker with that index.
    Worker(usize),
    /// On the thread that calls [`Graph::run`](super::Graph::run).
    Main,
}

impl<R> Handle<R> {
    pub(super) fn new(spec: Arc<Spec>, index: usize, slot: Arc<Slot<R>>) -> Self {
        Self { spec, index, slot }
    }

    /// Makes the task run after other tasks of the graph: a handle, a slice, an array, or a tuple
    /// of up to eight.
    ///
    /// A task of another graph makes the next run fail with
    /// [`Foreign`](super::GraphError::Foreign).
    ///
    /// ```
    /// let mut g = sateen::flow::Graph::new();
    /// let (one, two) = (g.task(|| 1), g.task(|| "two"));
    /// let all = g.task(|| ()).after((&one, &two));
    /// let last = g.task(|| ()).after(&[all]);
    /// # drop(last);
    /// ```
    #[must_use = "only the handle gives the result; use `drop` to say that it is not needed"]
    pub fn after(self, tasks: impl Tasks) -> Self {
        tasks.each(&mut |other| {
            if Arc::ptr_eq(other.spec, &self.spec) {
                self.spec.add_after(self.index, other.index);
            } else {
                self.spec.add_foreign(other.spec.name(other.index));
            }
        });
        self
    }

    /// Names the task, for errors and pictures. Without a name it is "task 7".
    #[must_use = "only the handle gives the result; use `drop` to say that it is not needed"]
    pub fn name(self, name: impl Into<String>) -> Self {
        self.spec.set_name(self.index, name.into());
        self
    }

    /// Says where the task runs. [`Graph::run`](super::Graph::run) fails if the worker does not
    /// exist.
    #[must_use = "only the handle gives the result; use `drop` to say that it is not needed"]
    pub fn on(self, on: On) -> Self {
        self.spec.set_on(self.index, on);
        self
    }

    pub(super) fn slot(&self) -> &Slot<R> {
        &self.slot
    }

    pub(super) fn is_of(&self, spec: &Arc<Spec>) -> bool {
        Arc::ptr_eq(&self.spec, spec)
    }

    fn link(&self) -> Link<'_> {
        Link { spec: &self.spec, index: self.index }
    }
}

impl<R> Clone for Handle<R> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.spec), self.index, Arc::clone(&self.slot))
    }
}

/// The task's name.
impl<R> fmt::Display for Handle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec.name(self.index))
    }
}

impl<R> fmt::Debug for Handle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.spec.name(self.index)).finish()
    }
}

/// A task, whatever its result.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "not part of the interface")]
pub struct Link<'a> {
    spec: &'a Arc<Spec>,
    index: usize,
}

/// Some tasks: what [`Handle::after`] takes.
///
/// Sealed: implemented for handles by reference, alone, in slices, in arrays, and in tuples.
pub trait Tasks: sealed::Tasks {}

/// Tasks whose results another task uses: what [`Graph::task_with`](super::Graph::task_with) takes.
///
/// | Given | The closure gets |
/// |---|---|
/// | `&a` | `&A` |
/// | `&[a, b][..]` | `Vec<&A>` |
/// | `(&a, &b)` | `(&A, &B)` |
pub trait Inputs: Tasks + sealed::Inputs {}

mod sealed {
    use super::Link;

    pub trait Tasks {
        /// Calls `f` with each.
        fn each(&self, f: &mut dyn FnMut(Link<'_>));
    }

    pub trait Inputs {
        /// What the closure gets.
        type Refs<'a>;
        /// Where the results lie.
        type Slots: Send + 'static;
        fn slots(&self) -> Self::Slots;
        /// Calls `f` with the results.
        fn call<R>(slots: &Self::Slots, f: &mut impl for<'a> FnMut(Self::Refs<'a>) -> R) -> R;
    }
}

impl<R> Tasks for &Handle<R> {}
impl<R> sealed::Tasks for &Handle<R> {
    fn each(&self, f: &mut dyn FnMut(Link<'_>)) {
        f(self.link());
    }
}
impl<A: Send + Sync + 'static> Inputs for &Handle<A> {}
impl<A: Send + Sync + 'static> sealed::Inputs for &Handle<A> {
    type Refs<'a> = &'a A;
    type Slots = Arc<Slot<A>>;
    fn slots(&self) -> Self::Slots {
        Arc::clone(&self.slot)
    }
    fn call<R>(slots: &Self::Slots, f: &mut impl for<'a> FnMut(&'a A) -> R) -> R {
        f(&slots.need())
    }
}

impl<R> Tasks for &[Handle<R>] {}
impl<R> sealed::Tasks for &[Handle<R>] {
    fn each(&self, f: &mut dyn FnMut(Link<'_>)) {
        self.iter().for_each(|task| f(task.link()));
    }
}
impl<A: Send + Sync + 'static> Inputs for &[Handle<A>] {}
impl<A: Send + Sync + 'static> sealed::Inputs for &[Handle<A>] {
    type Refs<'a> = Vec<&'a A>;
    type Slots = Vec<Arc<Slot<A>>>;
    fn slots(&self) -> Self::Slots {
        self.iter().map(|task| Arc::clone(&task.slot)).collect()
    }
    fn call<R>(slots: &Self::Slots, f: &mut impl for<'a> FnMut(Vec<&'a A>) -> R) -> R {
        let results: Vec<Needed<'_, A>> = slots.iter().map(|slot| slot.need()).collect();
        f(results.iter().map(|result| &**result).collect())
    }
}

impl<R, const N: usize> Tasks for &[Handle<R>; N] {}
impl<R, const N: usize> sealed::Tasks for &[Handle<R>; N] {
    fn each(&self, f: &mut dyn FnMut(Link<'_>)) {
        self[..].iter().for_each(|task| f(task.link()));
    }
}

impl<R, const N: usize> Tasks for [&Handle<R>; N] {}
impl<R, const N: usize> sealed::Tasks for [&Handle<R>; N] {
    fn each(&self, f: &mut dyn FnMut(Link<'_>)) {
        self.iter().for_each(|task| f(task.link()));
    }
}

macro_rules! tuples {
    ($(($($name:ident)*);)*) => { $(
        impl<$($name),*> Tasks for ($(&Handle<$name>,)*) {}
        #[allow(non_snake_case, unused_variables)]
        impl<$($name),*> sealed::Tasks for ($(&Handle<$name>,)*) {
            fn each(&self, f: &mut dyn FnMut(Link<'_>)) {
                let ($($name,)*) = self;
                $(f($name.link());)*
            }
        }
        impl<$($name: Send + Sync + 'static),*> Inputs for ($(&Handle<$name>,)*) {}
        #[allow(non_snake_case, clippy::unused_unit)]
        impl<$($name: Send + Sync + 'static),*> sealed::Inputs for ($(&Handle<$name>,)*) {
            type Refs<'a> = ($(&'a $name,)*);
            type Slots = ($(Arc<Slot<$name>>,)*);
            fn slots(&self) -> Self::Slots {
                let ($($name,)*) = self;
                ($(Arc::clone(&$name.slot),)*)
            }
            fn call<Out>(
                slots: &Self::Slots,
                f: &mut impl for<'a> FnMut(Self::Refs<'a>) -> Out,
            ) -> Out {
                let ($($name,)*) = slots;
                $(let $name = $name.need();)*
                f(($(&*$name,)*))
            }
        }
    )* };
}

tuples! {
    ();
    (A);
    (A B);
    (A B C);
    (A B C D);
    (A B C D E);
    (A B C D E F);
    (A B C D E F G);
    (A B C D E F G H);
}
