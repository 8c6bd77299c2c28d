//! Callbacks and payloads that panic: nothing is lost, and ready tasks are still announced.

use sateen_shed::{Outcome, Shed, Template};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Counts its drop, and then panics if it is the chosen one.
struct Payload(Arc<AtomicU32>, bool);

impl Drop for Payload {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
        assert!(!self.1, "boom");
    }
}

#[test]
fn a_ready_callback_that_panics_loses_no_task_of_another_channel() {
    let shed = Shed::builder()
        .tasks(4)
        .dependencies(3)
        .channels(3)
        .on_ready(|channel, _| assert!(channel == 0, "boom"))
        .build()
        .expect("small");
    let [predecessor, a, b, c] = shed.create([0; 4]).expect("room");
    shed.set_channel(&[a, c], 1).expect("idle");
    shed.set_channel(&[b], 2).expect("idle");
    shed.depend(&[a, b, c], &[predecessor]).expect("idle");
    shed.ready(&[predecessor]).expect("idle");
    let end = || shed.execute_one(0, |_, _| Outcome::Complete);
    assert!(catch_unwind(AssertUnwindSafe(end)).is_err());
    for (channel, tasks) in [(1, 2), (2, 1)] {
        assert_eq!(shed.execute_batch(channel, 9, |_, _| Outcome::Complete), Ok(tasks));
    }
    shed.create([0; 4]).expect("all slots are free again");
}

#[test]
fn a_cancelled_payload_is_dropped_although_telling_of_it_panics() {
    let dropped = Arc::new(AtomicU32::new(0));
    let shed = Shed::builder()
        .tasks(3)
        .dependencies(2)
        .on_cancel(|_, _: &mut Payload| panic!("boom"))
        .build()
        .expect("small");
    let [predecessor, a, b] =
        shed.create([(); 3].map(|()| Payload(Arc::clone(&dropped), false))).expect("room");
    shed.depend(&[a, b], &[predecessor]).expect("idle");
    assert!(catch_unwind(AssertUnwindSafe(|| shed.cancel(predecessor))).is_err());
    assert_eq!(dropped.load(Relaxed), 3);
    shed.create([(); 3].map(|()| Payload(Arc::clone(&dropped), false)))
        .expect("all slots are free again");
}

#[test]
fn what_becomes_ready_while_a_payload_panics_is_told() {
    let (dropped, told) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let tell = Arc::clone(&told);
    let shed = Shed::builder()
        .tasks(2)
        .dependencies(1)
        .on_ready(move |_, count| _ = tell.fetch_add(count, Relaxed))
        .build()
        .expect("small");
    let [predecessor, successor] = shed
        .create([true, false].map(|panics| Payload(Arc::clone(&dropped), panics)))
        .expect("room");
    shed.depend(&[successor], &[predecessor]).expect("idle");
    shed.ready(&[predecessor]).expect("idle");
    let end = || shed.execute_one(0, |_, _| Outcome::Complete);
    assert!(catch_unwind(AssertUnwindSafe(end)).is_err());
    assert_eq!(told.load(Relaxed), 2);
    assert_eq!(end(), Ok(Some(successor)));
}

#[test]
fn a_run_has_ended_although_telling_of_it_panics() {
    let mut template = Template::new();
    template.task(());
    template.on_done(|| panic!("boom"));
    let shed = Shed::builder().build().expect("small");
    let instance = template.install(&shed).expect("room");
    for _ in 0..2 {
        instance.start().expect("no run is on");
        let end = || shed.execute_one(0, |_, ()| Outcome::Complete);
        assert!(catch_unwind(AssertUnwindSafe(end)).is_err());
        assert!(instance.is_done());
    }
}

/// The second callback for ready tasks is called even if the first one panics. Whatever drives a
/// shed on workers asks last.
#[test]
fn both_callbacks_are_told_although_the_first_panics() {
    let told = Arc::new(AtomicU32::new(0));
    let tell = Arc::clone(&told);
    let shed = Shed::builder()
        .on_ready(|_, _| panic!("boom"))
        .on_ready(move |_, count| _ = tell.fetch_add(count, Relaxed))
        .build()
        .expect("small");
    let tasks = shed.create([(), ()]).expect("room");
    assert!(catch_unwind(AssertUnwindSafe(|| shed.ready(&tasks))).is_err());
    assert_eq!(told.load(Relaxed), 2);
}
