//! Threads that grow a shed, beside others that grow it and use what was added.
#![cfg(loom)]

use loom::thread;
use sateen_shed::{Growing, Outcome, Packed, Shed};
use sateen_testkit::model;
use std::sync::Arc;

#[test]
fn two_threads_take_slots_that_there_are_not_yet() {
    // A failure needs a thread that finds what another one has just added. That takes one
    // preemption.
    model(2, || {
        let shed = Shed::builder().tasks(1).dependencies(0).layout::<Packed>().growing();
        let shed: Arc<Shed<u32, Growing<Packed>>> = Arc::new(shed.build().unwrap());
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.create([1]).unwrap())
        };
        let [mine] = shed.create([2]).unwrap();
        let [theirs] = other.join().unwrap();
        assert_ne!(mine, theirs);
        shed.ready(&[mine, theirs]).unwrap();
        let mut sum = 0;
        let ran = shed.execute_batch(0, 3, |_, n| {
            sum += *n;
            Outcome::Complete
        });
        assert_eq!((ran, sum, shed.capacity()), (Ok(2), 3, 2));
    });
}

/// A thread knows only the first block, and comes to the counter after all of the second was taken.
#[test]
fn who_knows_fewer_slots_than_were_taken_adds_some() {
    model(1, || {
        let shed = Shed::builder().tasks(1).dependencies(0).layout::<Packed>().growing();
        let shed: Arc<Shed<u32, Growing<Packed>>> = Arc::new(shed.build().unwrap());
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.create([1, 2]).unwrap())
        };
        let [mine] = shed.create([3]).unwrap();
        let theirs = other.join().unwrap();
        assert!(!theirs.contains(&mine));
        shed.ready(&[mine, theirs[0], theirs[1]]).unwrap();
        let mut sum = 0;
        let ran = shed.execute_batch(0, 4, |_, n| {
            sum += *n;
            Outcome::Complete
        });
        assert_eq!((ran, sum, shed.capacity()), (Ok(3), 6, 4));
    });
}

/// A name travels without synchronisation. It is unknown, or leads to its task.
#[test]
fn a_name_finds_its_block() {
    model(2, || {
        let shed = Shed::builder().tasks(1).dependencies(0).layout::<Packed>().growing();
        let shed: Arc<Shed<u32, Growing<Packed>>> = Arc::new(shed.build().unwrap());
        let [first] = shed.create([1]).unwrap();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.create([2]).unwrap())
        };
        let second = sateen_shed::TaskId::from_bits(first.to_bits() + 1);
        let _ = shed.state(second);
        assert_eq!(other.join().unwrap(), [second]);
        assert!(shed.state(second).is_ok());
    });
}
