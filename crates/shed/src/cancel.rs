//! Cancelling tasks.

use crate::end::Ending;
use crate::index::OptIndex;
use crate::layout::Layout;
use crate::shed::{Shed, refusal};
use crate::word::{Dependents, Status};
use crate::{Error, TaskId};
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Cancels a task, and with it all that depends on it.
    ///
    /// `true`: it will not run (again). `false`: it is running and runs on, but its dependents are
    /// cancelled when it ends.
    ///
    /// A cancelled task still waits for its predecessors. Then it ends instead of becoming ready,
    /// and its dependents are cancelled. [`Builder::on_cancel`](crate::Builder::on_cancel) learns
    /// of each.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was cancelled before; a name that is wrong, or of a task that has
    /// ended.
    ///
    /// # Cost
    /// One exchange, and those of the task's end.
    ///
    /// # Examples
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(2).dependencies(1).build()?;
    /// let [paint, wall] = shed.create(["paint", "wall"]).unwrap();
    /// shed.depend(&[paint], &[wall])?;
    /// assert_eq!(shed.cancel(wall), Ok(true));
    /// assert!(shed.state(paint).is_err()); // gone with its predecessor
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self, task: TaskId) -> Result<bool, Error> {
        let (mut running, mut kept) = (None, false);
        let change = self.change(task, |state| {
            kept = self.is_kept(task.index());
            // One more is counted until the payload is gone: the task does not end before that.
            let held = match state.status() {
                Status::Idle => state.in_degree() + 1,
                // In a list: the thread that takes it out of there lowers the in-degree.
                Status::Ready => 2,
                Status::Blocked => 1,
                Status::Running if kept => return Ok(state.poison()),
                status => {
                    running = (status == Status::Running).then_some(state);
                    return Err(refusal(task, status));
                }
            };
            Ok(state.to(Status::Cancelled).with_in_degree(held))
        });
        if let Some(state) = running {
            if state.linked() {
                self.poison(task)?;
            }
            return Ok(false);
        }
        if change?.is(Status::Running) {
            return Ok(false);
        }
        Ending::new(self).cancelled(task.index());
        Ok(true)
    }

    /// Has the dependents of a running task cancelled when it ends.
    #[cold]
    fn poison(&self, task: TaskId) -> Result<(), Error> {
        let word = self.memory.dependents(task.index());
        // Ordering: Acquire, to learn that the task has ended if the list is closed.
        let mut seen = Dependents(word.load(Ordering::Acquire));
        loop {
            let new = if seen.is_of(task.generation()) {
                if seen.is_closed() {
                    return Err(Error::StaleTask(task));
                }
                seen.poison()
            } else {
                self.known(task)?;
                Dependents::new(task.generation(), OptIndex::NONE).poison()
            };
            // Ordering: AcqRel, as the list that may already be there is passed on.
            match word.compare_exchange_weak(seen.0, new.0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => seen = Dependents(now),
            }
        }
    }
}
