//! Models of a shared limit: a number belongs to one caller at most.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_flow::gaps::Run;
use sateen_flow::ledger::Ledger;
use sateen_testkit::model;

/// The numbers of a run.
fn numbers(run: Run) -> Vec<u64> {
    (run.last + 1 - run.len..=run.last).collect()
}

/// Two threads take at once. Together they never take more than is due, and in the end they have
/// taken all of it.
#[test]
fn no_token_is_taken_twice() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new());
        let other = thread::spawn({
            let ledger = Arc::clone(&ledger);
            move || ledger.take_some(0, 3, 2)
        });
        let mut all = numbers(ledger.take_some(0, 3, 2));
        all.extend(numbers(other.join().unwrap()));
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    });
}

/// A caller gives the last number back while another lines up.
#[test]
fn a_place_given_back_is_not_lost() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new());
        let mine = ledger.line_up(0);
        let other = thread::spawn({
            let ledger = Arc::clone(&ledger);
            move || ledger.line_up(0)
        });
        ledger.give_back(Run { last: mine, len: 1 });
        let mut all = vec![other.join().unwrap()];
        while ledger.take_all(0, 4, 1) {
            all.push(0);
        }
        assert_eq!(all.len(), 4);
    });
}

/// Two threads give numbers back, in any order, while a third takes what is due. Each number is
/// taken once, and none is lost.
#[test]
fn places_given_back_in_any_order() {
    model(3, || {
        let ledger = Arc::new(Ledger::new());
        let places = [ledger.line_up(0), ledger.line_up(0), ledger.line_up(0)];
        assert_eq!(places, [1, 2, 3]);
        let others = [1, 2].map(|number| {
            let ledger = Arc::clone(&ledger);
            thread::spawn(move || ledger.give_back(Run { last: number + 1, len: 1 }))
        });
        let mut mine = numbers(ledger.take_some(0, 5, 1));
        mine.push(ledger.line_up(0));
        for other in others {
            other.join().unwrap();
        }
        loop {
            let run = ledger.take_some(0, 5, 9);
            if run.len == 0 {
                break;
            }
            mine.extend(numbers(run));
        }
        mine.sort_unstable();
        assert_eq!(mine, [2, 3, 4, 5]);
    });
}
