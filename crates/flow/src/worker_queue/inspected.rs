//! A worker queue as `sateen-top` sees it. Nothing without the feature `inspect`.

use super::shared::Shared;
use crate::inspect::Listed;
use sateen_base::prim::Arc;

#[cfg(not(all(feature = "inspect", unix)))]
pub(super) fn list<T>(_: &Arc<Shared<T>>, _: &str) -> Listed {
    Listed
}

/// From now on it is seen, until the result is dropped.
#[cfg(all(feature = "inspect", unix))]
pub(super) fn list<T: Send + 'static>(shared: &Arc<Shared<T>>, name: &str) -> Listed {
    let (shared, name) = (Arc::clone(shared), name.to_owned());
    crate::inspect::list_queue(std::sync::Arc::new(on::Named { shared, name }))
}

#[cfg(all(feature = "inspect", unix))]
mod on {
    use super::Shared;
    use crate::inspect::{Queue, QueueLook};
    use sateen_base::prim::Arc;
    use sateen_base::prim::Ordering::Relaxed;

    pub(super) struct Named<T> {
        pub(super) shared: Arc<Shared<T>>,
        pub(super) name: String,
    }

    impl<T: Send> Queue for Named<T> {
        fn look(&self, look: &mut QueueLook<'_>) {
            let shared = &*self.shared;
            let depths = || shared.lanes.iter().map(|lane| lane.queue.len());
            // What leaves is counted before what comes in.
            look.handled = shared.metrics.iter().map(|metrics| metrics.ended()).sum();
            look.busy = shared.metrics.iter().filter(|metrics| metrics.is_busy()).count();
            look.depth = depths().sum();
            look.deepest = depths().max().unwrap_or(0);
            look.capacity = match shared.rendezvous {
                true => 0,
                false => shared.lanes.iter().map(|lane| lane.queue.capacity()).sum(),
            };
            look.lanes = shared.lanes.len();
            look.workers = shared.metrics.len();
            look.dropped = shared.dropped.load(Relaxed);
            look.sent = shared.try_total_sent();
            look.closed = shared.is_closed();
        }

        fn name(&self) -> &str {
            &self.name
        }
    }
}
