//! What the shed calls, and what it asks.

use sateen_shed::{Error, Outcome, Shed};
use std::sync::{Arc, Mutex};

#[test]
fn two_callbacks_are_called_in_order() -> Result<(), Box<dyn std::error::Error>> {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let note = |who: &'static str| {
        let calls = Arc::clone(&calls);
        move |channel, count| calls.lock().unwrap().push((who, channel, count))
    };
    let shed =
        Shed::builder().channels(2).on_ready(note("first")).on_ready(note("second")).build()?;
    let tasks = shed.create([(), ()]).unwrap();
    shed.set_channel(&tasks, 1)?;
    shed.ready(&tasks)?;
    assert_eq!(*calls.lock().unwrap(), [("first", 1, 2), ("second", 1, 2)]);
    Ok(())
}

#[test]
fn a_channel_says_whether_it_has_tasks() -> Result<(), Box<dyn std::error::Error>> {
    let shed = Shed::builder().channels(2).layout::<sateen_shed::Sharded>().build()?;
    let tasks = shed.create([()]).unwrap();
    shed.set_channel(&tasks, 1)?;
    assert_eq!((shed.has_ready(0), shed.has_ready(1)), (Ok(false), Ok(false)));
    shed.ready(&tasks)?;
    assert_eq!((shed.has_ready(0), shed.has_ready(1)), (Ok(false), Ok(true)));
    shed.execute_one(1, |_, ()| Outcome::Complete)?;
    assert_eq!(shed.has_ready(1), Ok(false));
    assert_eq!(shed.has_ready(2), Err(Error::NoChannel { channel: 2, channels: 2 }));
    Ok(())
}

/// Two runners take turns on a thread. The hook, which the whole process shares, tells them apart.
#[cfg(feature = "std")]
#[test]
fn runners_of_one_thread_are_told_apart() -> Result<(), Box<dyn std::error::Error>> {
    use sateen_shed::set_runner_hook;
    use std::cell::Cell;

    thread_local! {
        static FIBER: Cell<Option<u32>> = const { Cell::new(None) };
    }
    assert!(set_runner_hook(|| FIBER.get()));
    assert!(!set_runner_hook(|| None));

    let shed = Shed::builder().build()?;
    let [first, second] = shed.create([(), ()]).unwrap();
    shed.ready(&[first])?;
    FIBER.set(Some(7));
    shed.execute_one(0, |_, ()| {
        assert_eq!(shed.ready(&[first]), Err(Error::Running(first)));
        // As if `first` were suspended here and another fiber resumed.
        FIBER.set(Some(8));
        shed.ready(&[second]).unwrap();
        shed.execute_one(0, |_, ()| {
            assert_eq!(shed.ready(&[first]), Ok(()));
            assert_eq!(shed.ready(&[second]), Err(Error::Running(second)));
            Outcome::Complete
        })
        .unwrap();
        FIBER.set(None);
        assert_eq!(shed.ready(&[first]), Ok(()), "woken once more, by the plain thread");
        FIBER.set(Some(7));
        Outcome::Blocked
    })?;
    FIBER.set(None);
    // The task was woken while it ran, so it is ready again.
    assert_eq!(shed.execute_one(0, |_, ()| Outcome::Complete), Ok(Some(first)));
    Ok(())
}
