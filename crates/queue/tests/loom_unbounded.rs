//! The unbounded queue under the model checker. There a segment has three slots.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_queue::{PopError, mpmc::Unbounded};
use sateen_testkit::model;

/// The items of both producers come out once, in each producer's order, across a segment's end.
#[test]
fn two_producers_one_consumer() {
    model(2, || {
        // One slot before the end: every interleaving crosses into the next segment.
        let queue = Arc::new(Unbounded::starting_at(2));
        let producers: Vec<_> = [[1, 2], [10, 20]]
            .into_iter()
            .map(|items| {
                let queue = queue.clone();
                thread::spawn(move || items.map(|i| queue.push(Box::new(i)).unwrap()))
            })
            .collect();
        let mut got = Vec::new();
        got.extend(queue.pop());
        got.extend(queue.pop());
        for producer in producers {
            producer.join().unwrap();
        }
        while let Ok(item) = queue.pop() {
            got.push(item);
        }
        let got: Vec<i32> = got.into_iter().map(|b| *b).collect();
        let of = |low: bool| got.iter().copied().filter(|i| (*i < 10) == low).collect::<Vec<_>>();
        assert_eq!((of(true), of(false)), (vec![1, 2], vec![10, 20]));
    });
}

/// Two consumers share the items. The segment that they leave is freed once, after both have left
/// it.
#[test]
fn two_consumers_free_the_segment() {
    model(3, || {
        let queue = Arc::new(Unbounded::new());
        for i in 0..4 {
            queue.push(Box::new(i)).unwrap();
        }
        let other = {
            let queue = queue.clone();
            thread::spawn(move || {
                [queue.pop(), queue.pop()].map(|item| *item.expect("four are in"))
            })
        };
        let mine = [queue.pop(), queue.pop()].map(|item| *item.expect("four are in"));
        let theirs = other.join().unwrap();
        assert!(mine[0] < mine[1] && theirs[0] < theirs[1]);
        let mut all = [mine[0], mine[1], theirs[0], theirs[1]];
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert!(queue.pop().is_err() && queue.is_empty());
    });
}

/// Two producers push first, beside a consumer. One of them makes the first segment.
#[test]
fn two_first_pushes() {
    model(2, || {
        let queue = Arc::new(Unbounded::new());
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.push(Box::new(1)).unwrap())
        };
        let consumer = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop().ok())
        };
        queue.push(Box::new(2)).unwrap();
        other.join().unwrap();
        let mut got: Vec<i32> = consumer.join().unwrap().into_iter().map(|b| *b).collect();
        while let Ok(item) = queue.pop() {
            got.push(*item);
        }
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}

/// A consumer that is told "closed" has missed no item, even while the first segment is being made.
#[test]
fn a_first_push_against_a_pop() {
    model(3, || {
        let queue = Arc::new(Unbounded::new());
        let other = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.push(1).unwrap();
                queue.close()
            })
        };
        let mut got = Vec::new();
        loop {
            match queue.pop() {
                Ok(item) => got.push(item),
                Err(PopError::Closed) => break,
                Err(_) => thread::yield_now(),
            }
        }
        assert!(other.join().unwrap() && got == [1]);
    });
}

/// A thread still reads in a segment that both ends have left. The thread that leaves the next
/// segment takes this one off the list, or puts it back there.
#[test]
fn a_retired_segment_waits_for_its_reader() {
    model(2, || {
        let queue = Arc::new(Unbounded::starting_at(1));
        for i in 0..6 {
            queue.push(i).unwrap();
        }
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop().unwrap())
        };
        let mut got: Vec<i32> = (0..4).map(|_| queue.pop().unwrap()).collect();
        got.push(other.join().unwrap());
        got.sort_unstable();
        assert_eq!((got, queue.pop()), (vec![0, 1, 2, 3, 4], Ok(5)));
    });
}

/// A producer reuses the segment that the consumer has just drained.
#[test]
fn a_drained_segment_is_used_again() {
    model(2, || {
        let queue = Arc::new(Unbounded::new());
        for i in 0..5 {
            queue.push(i).unwrap();
        }
        let consumer = {
            let queue = queue.clone();
            thread::spawn(move || [(); 4].map(|()| queue.pop().expect("at least five are in")))
        };
        queue.push(5).unwrap();
        queue.push(6).unwrap();
        assert_eq!(consumer.join().unwrap(), [0, 1, 2, 3]);
        assert_eq!([(); 3].map(|()| queue.pop().unwrap()), [4, 5, 6]);
    });
}

/// A batch and a single pop take each item once. `len` stays within the possible range.
#[test]
fn a_batch_beside_a_pop() {
    model(3, || {
        let queue = Arc::new(Unbounded::starting_at(1));
        for i in 0..3 {
            queue.push(Box::new(i)).unwrap();
        }
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop().ok().map(|b| *b))
        };
        assert!((2..=3).contains(&queue.len()));
        let batch: Vec<i32> = queue.pop_batch(2).into_iter().flatten().map(|b| *b).collect();
        let mut all: Vec<i32> = other.join().unwrap().into_iter().chain(batch).collect();
        while let Ok(item) = queue.pop() {
            all.push(*item);
        }
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

/// Each segment has one slot, because the items are large. The consumer goes from link to link
/// without reading the tail.
#[test]
fn from_link_to_link() {
    model(2, || {
        let item = |i: u64| [i; 16];
        let queue = Arc::new(Unbounded::new());
        queue.push(item(0)).unwrap();
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.push(item(1)).unwrap();
                queue.push(item(2)).unwrap();
            })
        };
        let mut next = 0;
        for _ in 0..3 {
            if let Ok(got) = queue.pop() {
                assert_eq!(got, item(next));
                next += 1;
            }
        }
        producer.join().unwrap();
        while let Ok(got) = queue.pop() {
            assert_eq!(got, item(next));
            next += 1;
        }
        assert_eq!(next, 3);
    });
}

/// Items that are pushed before the queue closes come out before it reports that it is closed. This
/// also holds across a segment's end.
#[test]
fn close_against_push() {
    for start in [None, Some(0), Some(2)] {
        model(3, move || {
            let queue = Arc::new(start.map_or_else(Unbounded::new, Unbounded::starting_at));
            let producer = {
                let queue = queue.clone();
                thread::spawn(move || {
                    [1, 2].into_iter().filter(|i| queue.push(*i).is_ok()).collect::<Vec<_>>()
                })
            };
            let mut got = Vec::from_iter(queue.pop());
            assert!(queue.close());
            loop {
                match queue.pop() {
                    Ok(item) => got.push(item),
                    Err(PopError::Closed) => break,
                    Err(_) => {
                        assert!(queue.is_closed(), "closing was undone");
                        thread::yield_now();
                    }
                }
            }
            assert_eq!(got, producer.join().unwrap());
        });
    }
}

/// Batches at both ends, across a segment's end, beside a single pop.
#[test]
fn batches() {
    model(2, || {
        let queue = Arc::new(Unbounded::starting_at(1));
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || queue.push_from(&mut [0, 1, 2, 3].into_iter()).unwrap())
        };
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop().ok())
        };
        let mut got = Vec::new();
        let _ = queue.pop_into(&mut got, 3);
        assert!(got.is_sorted());
        assert_eq!(producer.join().unwrap(), 4);
        got.extend(other.join().unwrap());
        while queue.pop_into(&mut got, 3).is_ok() {}
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 3]);
    });
}
