//! In which order what is ready is executed.
#![cfg(not(loom))]

use sateen_shed::{Error, Outcome, Shed};

#[test]
fn the_first_channel_that_has_a_task_is_served() {
    let shed = Shed::builder().tasks(8).channels(3).build().expect("small");
    let tasks = shed.create([2, 0, 1, 2, 0]).expect("room");
    for (task, channel) in tasks.iter().zip([2, 0, 1, 2, 0]) {
        shed.set_channel(&[*task], channel).expect("idle");
    }
    shed.ready(&tasks).expect("idle");
    let mut order = vec![];
    let mut step = |channels: &[u16]| {
        shed.execute_any(channels.iter().copied(), |_, channel| {
            order.push(*channel);
            Outcome::Complete
        })
    };
    assert_eq!(step(&[]), Ok(None));
    assert_eq!(step(&[3, 0]), Err(Error::NoChannel { channel: 3, channels: 3 }));
    while step(&[0, 1, 2]) != Ok(None) {}
    assert_eq!(order, [0, 0, 1, 2, 2]);
    // The second is not looked at if the first has a task.
    let [task] = shed.create([0]).expect("room");
    shed.ready(&[task]).expect("idle");
    assert_eq!(shed.execute_any([0, 9], |_, _| Outcome::Complete), Ok(Some(task)));
}
