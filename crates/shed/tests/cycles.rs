//! Cycles: found afterwards, or refused.

use sateen_shed::{Error, Outcome, Shed, TaskId, TaskState};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn shed(checks: bool) -> Shed<u32> {
    Shed::builder().tasks(200).dependencies(1_000).checks(checks).build().expect("small")
}

/// How often to do something: in a debug build, else, and less under Miri.
const fn sized(debug: usize, release: usize) -> usize {
    match debug {
        _ if cfg!(miri) => debug / 100,
        _ if cfg!(debug_assertions) => debug,
        _ => release,
    }
}

/// Each task waits for the next one, and the last waits for the first.
fn assert_cycle(found: Option<Vec<TaskId>>, edges: &[(TaskId, TaskId)], len: usize) {
    let cycle = found.expect("there is one");
    assert_eq!(cycle.len(), len);
    for i in 0..len {
        let edge = (cycle[i], cycle[(i + 1) % len]);
        assert!(edges.contains(&edge), "{edge:?} of {cycle:?}");
    }
}

fn drain(shed: &Shed<u32>) -> usize {
    let mut ran = 0;
    while shed.execute_one(0, |_, _| Outcome::Complete).expect("a channel").is_some() {
        ran += 1;
    }
    ran
}

#[test]
fn the_tasks_on_a_cycle_are_named_and_nobody_else() {
    for &len in if cfg!(miri) { &[3][..] } else { &[2, 3, 50] } {
        let shed = shed(false);
        assert_eq!(shed.find_cycle(), None);
        let mut ids = [TaskId::NONE; 100];
        shed.create_all(&mut (0..), &mut ids).expect("room");
        let mut edges = vec![];
        let mut depend = |successor: usize, predecessor: usize| {
            shed.depend(&[ids[successor]], &[ids[predecessor]]).expect("idle");
            edges.push((ids[successor], ids[predecessor]));
        };
        // The cycle has a chain below it, one above it, and side branches.
        for i in 0..99 {
            depend(i, i + 1);
        }
        for i in 0..30 {
            depend(i, i + 60);
        }
        assert_eq!(shed.find_cycle(), None);
        depend(20 + len - 1, 20);
        assert_cycle(shed.find_cycle(), &edges, len);
        // Executing the tasks that can run does not change that.
        shed.ready(&[ids[99]]).expect("idle");
        assert_eq!(drain(&shed), 99 - (20 + len - 1));
        assert_cycle(shed.find_cycle(), &edges, len);
        // Cancelling a task that will never end does not change it either.
        assert_eq!(shed.cancel(ids[20]), Ok(true));
        assert_cycle(shed.find_cycle(), &edges, len);
    }
}

#[test]
fn tasks_that_wait_for_somebody_to_ready_them_are_no_cycle() {
    let shed = shed(false);
    let [a, b, c, d] = shed.create([0, 1, 2, 3]).expect("room");
    shed.depend(&[a, b], &[c, d]).expect("idle");
    shed.depend(&[b], &[a]).expect("idle");
    assert_eq!(shed.find_cycle(), None);
    shed.ready(&[c]).expect("idle");
    assert_eq!(shed.execute_one(0, |_, _| Outcome::Blocked), Ok(Some(c)));
    assert_eq!(shed.cancel(d), Ok(true));
    assert_eq!(shed.find_cycle(), None);
    shed.ready(&[c]).expect("blocked");
    assert_eq!(drain(&shed), 1);
    assert_eq!(shed.find_cycle(), None);
}

#[test]
fn checks_refuse_what_would_close_a_cycle_and_change_nothing() {
    let shed = shed(true);
    let [a, b, c, d, e] = shed.create([0, 1, 2, 3, 4]).expect("room");
    shed.depend(&[a], &[b]).expect("no cycle");
    shed.depend(&[b, c], &[d]).expect("no cycle");
    shed.depend(&[a], &[c]).expect("no cycle");
    let refused = |successors: &[TaskId], predecessors: &[TaskId], successor, predecessor| {
        let before = [a, b, c, d, e].map(|task| shed.state(task));
        assert_eq!(
            shed.depend(successors, predecessors),
            Err(Error::Cycle { successor, predecessor })
        );
        assert_eq!([a, b, c, d, e].map(|task| shed.state(task)), before);
    };
    refused(&[b], &[a], b, a);
    refused(&[d], &[a], d, a);
    refused(&[d], &[c], d, c);
    refused(&[e, d], &[b], d, b);
    refused(&[d], &[e, a], d, a);
    // With both dependencies, `e` would wait for `a`, which waits for `d`, which would wait for
    // `a`.
    refused(&[e, d], &[a], d, a);
    assert_eq!(shed.depend(&[a, e], &[e]), Err(Error::SelfDependency(e)));
    shed.depend(&[e], &[a, d]).expect("no cycle");
    refused(&[d], &[e], d, e);
    assert_eq!(shed.find_cycle(), None);
    shed.ready(&[d]).expect("idle");
    assert_eq!(drain(&shed), 5);
    // A refused dependency takes no room: all dependencies are free again.
    let mut ids = [TaskId::NONE; 200];
    shed.create_all(&mut (0..), &mut ids).expect("room");
    for _ in 0..sized(1_000, 1_000) {
        shed.depend(&ids[..1], &ids[1..2]).expect("room");
    }
}

/// Random dependencies in both directions. A search over the accepted ones shows that each refused
/// dependency would close a cycle, and that no accepted one does.
#[test]
fn checks_agree_with_a_search() {
    const TASKS: usize = if cfg!(miri) { 6 } else { 12 };
    let mut random = 1_u64;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below
    };
    for _ in 0..sized(200, 200) {
        let shed = shed(true);
        let mut ids = [TaskId::NONE; TASKS];
        shed.create_all(&mut (0..), &mut ids).expect("room");
        let mut edges = BTreeSet::new();
        for _ in 0..if cfg!(miri) { 12 } else { 40 } {
            let successors: Vec<usize> = (0..=next(2)).map(|_| next(TASKS)).collect();
            let predecessors: Vec<usize> = (0..=next(2)).map(|_| next(TASKS)).collect();
            let all = |of: &[usize]| of.iter().map(|&i| ids[i]).collect::<Vec<_>>();
            let result = shed.depend(&all(&successors), &all(&predecessors));
            let mut more: BTreeSet<(usize, usize)> = edges.clone();
            more.extend(successors.iter().flat_map(|&p| predecessors.iter().map(move |&c| (p, c))));
            // Which task reaches which, by Warshall's closure.
            let mut reaches = [[false; TASKS]; TASKS];
            more.iter().for_each(|&(p, c)| reaches[p][c] = true);
            for via in 0..TASKS {
                for from in 0..TASKS {
                    for to in 0..TASKS {
                        reaches[from][to] |= reaches[from][via] && reaches[via][to];
                    }
                }
            }
            let cycle = (0..TASKS).any(|i| reaches[i][i]);
            assert_eq!(result.is_err(), cycle, "{result:?} for {successors:?} on {predecessors:?}");
            if !cycle {
                edges = more;
            }
        }
        assert_eq!(shed.find_cycle(), None);
    }
}

#[test]
fn two_threads_do_not_close_a_cycle_together() {
    for _ in 0..sized(300, 3_000) {
        let shed = shed(true);
        let [a, b] = shed.create([0, 1]).expect("room");
        let go = |successor, predecessor| {
            let shed = &shed;
            move || shed.depend(&[successor], &[predecessor]).is_ok()
        };
        let [one, two] = thread::scope(|s| {
            [s.spawn(go(a, b)), s.spawn(go(b, a))].map(|t| t.join().expect("no panic"))
        });
        assert!(one ^ two);
        assert_eq!(shed.find_cycle(), None);
    }
}

#[test]
fn a_cycle_is_told_from_what_moves() {
    let rounds = sized(200, 2_000);
    for planted in [false, true] {
        let shed = shed(false);
        let mut edges = vec![];
        let mut ids = [TaskId::NONE; 3];
        if planted {
            shed.create_all(&mut (0..), &mut ids).expect("room");
            for i in 0..3 {
                shed.depend(&[ids[i]], &[ids[(i + 1) % 3]]).expect("idle");
                edges.push((ids[i], ids[(i + 1) % 3]));
            }
        }
        let stop = AtomicBool::new(false);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut turn = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let [a, b, c, d] = shed.create([0; 4]).expect("room");
                        let order = [[a, b, c, d], [d, c, b, a]][turn % 2];
                        order.windows(2).for_each(|w| shed.depend(&w[..1], &w[1..]).expect("idle"));
                        shed.depend(&order[..1], &order[2..]).expect("idle");
                        shed.ready(&order[3..]).expect("idle");
                        drain(&shed);
                        turn += 1;
                        // Each thread drains until its own tasks have ended, so that memory stays
                        // available.
                        while shed.state(order[0]) != Err(Error::StaleTask(order[0])) {
                            drain(&shed);
                        }
                    }
                });
            }
            for _ in 0..rounds {
                match planted {
                    true => assert_cycle(shed.find_cycle(), &edges, 3),
                    false => assert_eq!(shed.find_cycle(), None),
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(shed.state(ids[0]).is_ok(), planted);
        assert!(!planted || shed.state(ids[0]) == Ok(TaskState::Waiting(1)));
    }
}
