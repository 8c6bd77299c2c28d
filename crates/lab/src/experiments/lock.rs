//! Locks.

use crate::adapter::OUR_MUTEXES;
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend, per_call};
use sateen::sync;
use std::hint::black_box;

/// The experiment `lock`.
pub(crate) struct Lock;

impl Experiment for Lock {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn about(&self) -> &'static str {
        "What a lock costs that nobody else wants: taking it and giving it back, with nothing between."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let figure = Figure {
            case: "uncontended-empty".to_owned(),
            config: "t1".to_owned(),
            name: "time per empty critical section/1 thread".to_owned(),
            unit: "ns",
            trend: Trend::Lower,
            description: "a thread alone locks and unlocks: time by pairs".to_owned(),
        };
        let mut group = Group::new(1, vec![figure]);
        let pairs = plan.size(1 << 20, 1 << 8);
        let [shared, local] = OUR_MUTEXES;
        group.add(shared, move || {
            let mutex = sync::Mutex::new(());
            Ok(Run(move || per_call(pairs, || drop(black_box(&mutex).lock()))))
        });
        // For the fibers of one thread: no atomics.
        group.add(local, move || {
            let mutex = sync::local::Mutex::new(());
            let pair = move || {
                let guard = black_box(&mutex).lock();
                // Else the compiler leaves out what nobody can see.
                black_box(&mutex);
                drop(guard);
            };
            Ok(Run(move || per_call(pairs, &pair)))
        });
        if plan.peers {
            crate::peers::add_mutexes(&mut group, pairs);
        }
        vec![group]
    }
}
