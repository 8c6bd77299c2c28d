//! Two threads take dependencies at once from a list to which earlier ones were given back. Neither
//! writes to a dependency that the other may have taken first.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_shed::{Outcome, Shed};
use sateen_testkit::model;

#[test]
fn dependencies_taken_at_once_are_each_somebodys_alone() {
    // A failure needs a thread that is interrupted between its looks at two heads.
    model(2, || {
        let shed = Arc::new(Shed::builder().tasks(5).dependencies(3).build().expect("small"));
        let [one, two, three, p, q] = shed.create([(); 5]).expect("room");
        // All three are taken and given back, so now they lie in the list.
        shed.depend(&[p], &[one, two, three]).expect("idle");
        shed.free(&[one, two, three]).expect("idle");
        let [one, two, three] = shed.create([(); 3]).expect("room");
        let other = {
            let shed = Arc::clone(&shed);
            thread::spawn(move || shed.depend(&[q], &[three]).expect("idle"))
        };
        shed.depend(&[p], &[one, two]).expect("idle");
        other.join().unwrap();
        shed.ready(&[one, two, three]).expect("idle");
        let mut ran = 0;
        while shed.execute_one(0, |_, ()| Outcome::Complete).expect("a channel").is_some() {
            ran += 1;
        }
        assert_eq!(ran, 5);
        let [successor, a, b, c] = shed.create([(); 4]).expect("room");
        shed.depend(&[successor], &[a, b, c]).expect("all three are free again");
    });
}
