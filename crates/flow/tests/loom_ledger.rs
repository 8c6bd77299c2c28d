//! Models of a shared limit.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_flow::ledger::Ledger;

/// What two take and give back at once is never more than what is due, and in the end all of it.
#[test]
fn no_token_is_taken_twice() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new());
        let other = thread::spawn({
            let ledger = Arc::clone(&ledger);
            move || ledger.take(0, 3, 1, 2)
        });
        let mine = ledger.take(0, 3, 1, 2);
        assert_eq!(mine + other.join().unwrap(), 3);
    });
}

/// A place in line that is given back while another is taken.
#[test]
fn a_place_given_back_is_not_lost() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new());
        assert_eq!(ledger.line_up(0, 1), 1);
        let other = thread::spawn({
            let ledger = Arc::clone(&ledger);
            move || ledger.line_up(0, 1)
        });
        ledger.give_back(1);
        assert!((1..=2).contains(&other.join().unwrap()));
        assert_eq!(ledger.take(0, 9, 1, 9), 8);
    });
}
