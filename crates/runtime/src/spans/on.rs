//! Spans of the crate `tracing` that follow tasks.
//!
//! Each task has a span, and a task that leaves its thread takes all entered spans along. A
//! subscriber keeps the current spans of each thread. When the runtime changes what runs on a
//! thread, it leaves the spans of the old task, innermost first, and enters those of the new one.
//! So events are in the right span. A layer sees an exit and an entry at each switch, as for
//! futures with `tracing::Instrument`.
//!
//! The subscriber is user code. It is called while no wait is in progress and no lock is held, and
//! off the running fiber, so its waits block the thread. Its panics are discarded.

use crate::context::call_off_fiber as call;
use crate::task::Header;
use sateen_base::prim::UnsafeCell;
use std::marker::PhantomData;
use tracing::dispatcher::{self, Dispatch};
use tracing::span::Id;
use tracing::{Span, info_span};

/// More than any program nests. A subscriber that ignores exits would keep the loop below running
/// for ever.
const DEEPEST: usize = 1 << 10;

/// A task's span, in its frame. Its runner writes it before and after the task runs.
#[derive(Debug)]
pub(crate) struct OfTask(UnsafeCell<Option<Span>>);

impl OfTask {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// # Safety
    /// The task runs, or the caller is starting it.
    unsafe fn get(&self) -> Option<&Span> {
        // SAFETY: by contract nothing writes it now.
        self.0.with(|span| unsafe { (*span).as_ref() })
    }
}

/// Whether any subscriber was ever set. Until then all of this costs one load.
#[inline]
fn is_used() -> bool {
    dispatcher::has_been_set()
}

/// Creates the span of `task`, once, before the caller runs or polls the task that it has claimed.
///
/// # Safety
/// The task does not run.
#[inline]
pub(crate) unsafe fn make(task: &Header) {
    if is_used() {
        // SAFETY: by contract.
        unsafe { make_slow(task) }
    }
}

/// # Safety
/// As [`make`].
#[cold]
unsafe fn make_slow(task: &Header) {
    let span = task.span();
    // SAFETY: by contract.
    if unsafe { span.get() }.is_some() {
        return;
    }
    let (id, place) = (task.id().get(), task.location());
    let mut made = None;
    call(|| {
        made = Some(match task.name() {
            Some(name) => info_span!(target: "sateen", parent: None, "task", id, name = &**name),
            None => info_span!(target: "sateen", parent: None, "task", id, %place),
        });
    });
    // SAFETY: by contract.
    span.0.with_mut(|span| unsafe { *span = made });
}

/// Closes the task's span.
///
/// # Safety
/// The caller ran it, and it no longer runs.
#[inline]
pub(crate) unsafe fn close(task: &Header) {
    if is_used() {
        // SAFETY: by contract.
        let span = task.span().0.with_mut(|span| unsafe { (*span).take() });
        if span.is_some() {
            call(|| drop(span));
        }
    }
}

/// Spans that were left, innermost first.
#[derive(Debug)]
pub(crate) struct Left {
    spans: Option<(Dispatch, Vec<Id>)>,
    /// They must be entered again on the same thread.
    _not_send: PhantomData<*const ()>,
}

/// Leaves all spans of the thread, whose task stops running for a while.
#[inline]
pub(crate) fn leave() -> Left {
    let spans = if is_used() { leave_slow() } else { None };
    Left { spans, _not_send: PhantomData }
}

#[cold]
fn leave_slow() -> Option<(Dispatch, Vec<Id>)> {
    let (mut dispatch, mut ids) = (None, Vec::new());
    call(|| dispatch = Some(dispatcher::get_default(Dispatch::clone)));
    let dispatch = dispatch?;
    let mut left = true;
    while left && ids.len() < DEEPEST {
        left = false;
        // One by one, so that a panic loses none of them.
        call(|| {
            if let Some(id) = dispatch.current_span().id() {
                ids.push(id.clone());
                left = true;
                dispatch.exit(id);
            }
        });
    }
    (!ids.is_empty()).then_some((dispatch, ids))
}

impl Left {
    /// Enters them again.
    #[inline]
    pub(crate) fn enter(self) {
        if let Some((dispatch, ids)) = self.spans {
            enter_slow(&dispatch, &ids);
        }
    }
}

#[cold]
fn enter_slow(dispatch: &Dispatch, ids: &[Id]) {
    ids.iter().rev().for_each(|id| call(|| dispatch.enter(id)));
}

/// Within the span of the task that now runs; dropping it returns to the earlier spans.
pub(crate) struct Inside(Option<Left>, Option<(Dispatch, Id)>);

/// Enters the span of `task`, which runs from now on, itself or a branch of it. A null `task`
/// stands for work without a task.
///
/// # Safety
/// `task` is null, or a task that runs or is about to, as long as the result lives.
#[inline]
pub(crate) unsafe fn enter(task: *const Header) -> Inside {
    match is_used() {
        // SAFETY: by contract.
        true => unsafe { enter_task(task) },
        false => Inside(None, None),
    }
}

/// # Safety
/// As [`enter`].
#[cold]
unsafe fn enter_task(task: *const Header) -> Inside {
    let left = leave();
    // SAFETY: by contract.
    let span = unsafe { task.as_ref().and_then(|task| task.span().get()) };
    let mut entered = None;
    if let Some(span) = span {
        span.with_subscriber(|(id, dispatch)| entered = Some((dispatch.clone(), id.clone())));
    }
    if let Some((dispatch, id)) = &entered {
        call(|| dispatch.enter(id));
    }
    Inside(Some(left), entered)
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        if let Some(left) = self.0.take() {
            if let Some((dispatch, id)) = self.1.take() {
                call(|| {
                    dispatch.exit(&id);
                    drop(dispatch);
                });
            }
            left.enter();
        }
    }
}
