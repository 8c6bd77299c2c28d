//! Models of the inbox, and of how a worker learns that something is in it, whether it sleeps, is
//! about to sleep, or is busy.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::searched::AtomicPtr;
use sateen_runtime::models::inbox::{Inbox, Linked};
use sateen_runtime::models::request_word::{READY, RequestWord};
use sateen_runtime::models::sleepers::Sleepers;
use sateen_testkit::model;

struct Node {
    next: AtomicPtr<Node>,
    number: UnsafeCell<usize>,
}

impl Linked for Node {
    fn link(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

struct Model {
    inbox: Inbox<Node>,
    nodes: [Node; 3],
    requests: RequestWord,
    sleepers: Sleepers,
}

// SAFETY: a node belongs to its pusher until it is pushed, and then to the taker. The model checks
// this.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    fn new() -> Arc<Self> {
        let node =
            || Node { next: AtomicPtr::new(std::ptr::null_mut()), number: UnsafeCell::new(9) };
        Arc::new(Self {
            inbox: Inbox::new(),
            nodes: [node(), node(), node()],
            requests: RequestWord::new(0),
            sleepers: Sleepers::new(1, None),
        })
    }

    fn push(&self, i: usize) {
        // SAFETY: this thread owns the node until it is pushed. Nodes live as long as the model.
        unsafe {
            self.nodes[i].number.with_mut(|number| *number = i);
            self.inbox.push(&self.nodes[i]);
        }
    }

    /// Makes a fiber ready as `Worker::make_ready` does from another thread.
    fn make_ready(&self, i: usize) {
        self.push(i);
        if !self.sleepers.wake_owner(0) {
            self.requests.request(READY);
        }
    }

    /// Takes the nodes. Returns their numbers in the order of the pushes.
    fn take(&self) -> Vec<usize> {
        let mut taken = Vec::new();
        self.inbox.take(|node| {
            // SAFETY: the node was taken, so this thread owns it.
            taken.push(unsafe { (*node).number.with(|number| *number) });
        });
        taken.reverse();
        taken
    }
}

/// Every node arrives once, whole, and in the order of its pusher.
#[test]
fn two_pushers_against_the_owner() {
    model(3, || {
        let model = Model::new();
        let pushers = [0..2, 2..3].map(|nodes| {
            let model = Arc::clone(&model);
            thread::spawn(move || nodes.for_each(|i| model.push(i)))
        });
        let mut taken = model.take();
        pushers.map(|pusher| pusher.join().unwrap());
        taken.extend(model.take());
        let first = taken.iter().position(|&i| i == 0);
        let second = taken.iter().position(|&i| i == 1);
        assert!(first < second, "{taken:?}");
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
    });
}

/// A node comes back while another pusher is between its look at the head and its exchange.
#[test]
fn a_node_comes_back_under_a_push() {
    model(3, || {
        let model = Model::new();
        model.push(0);
        let pusher = thread::spawn({
            let model = Arc::clone(&model);
            move || model.push(1)
        });
        let mut taken = model.take();
        assert!(taken.contains(&0));
        model.push(0);
        pusher.join().unwrap();
        taken.extend(model.take());
        taken.sort_unstable();
        assert_eq!(taken, [0, 0, 1]);
    });
}

/// A worker that sleeps, or is about to sleep, is woken for work that only it can run.
#[test]
fn a_ready_fiber_is_not_slept_through() {
    model(3, || {
        let model = Model::new();
        let other = thread::spawn({
            let model = Arc::clone(&model);
            move || model.make_ready(0)
        });
        while model.take().is_empty() {
            if model.sleepers.announce(0, || !model.inbox.is_empty()) {
                model.sleepers.sleep(0, None);
            }
        }
        other.join().unwrap();
    });
}

/// A busy worker settles an old request while another fiber becomes ready. Either it has taken that
/// fiber, or it will find the request.
#[test]
fn a_busy_worker_keeps_the_request() {
    model(3, || {
        let model = Model::new();
        model.requests.insist(READY);
        let other = thread::spawn({
            let model = Arc::clone(&model);
            move || model.make_ready(0)
        });
        model.requests.lower_unless(READY, || !model.inbox.is_empty());
        other.join().unwrap();
        assert!(model.requests.has(READY));
    });
}
