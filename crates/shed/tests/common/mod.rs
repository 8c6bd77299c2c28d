//! Helpers that several tests of the shed share.
#![allow(dead_code, unused_imports, unused_macros, reason = "not every test uses all of it")]

use sateen_shed::{Layout, Shed, TaskId};

/// Makes a test from a function that is generic over the layout.
macro_rules! each_layout {
    ($name:ident) => {
        mod $name {
            use sateen_shed::{Central, Packed, Padded, Sharded};

            #[test]
            fn with_each_layout() {
                super::$name::<Packed>();
                super::$name::<Sharded<8>>();
                if cfg!(not(miri)) {
                    super::$name::<Padded>();
                    super::$name::<Central>();
                    super::$name::<Sharded<1>>();
                }
            }
        }
    };
}
pub(crate) use each_layout;

/// How many tasks and dependencies the shed has room for, found by filling it. Dependencies are
/// counted only if two tasks fit.
pub(crate) fn room<T: Default, L: Layout>(shed: &Shed<T, L>) -> (usize, usize) {
    let mut ids = vec![TaskId::NONE; shed.capacity() as usize + 1];
    let tasks = shed.create_some(&mut std::iter::repeat_with(T::default), &mut ids);
    let mut dependencies = 0;
    if let [predecessor, successor, ..] = ids[..tasks] {
        dependencies =
            (0..).take_while(|_| shed.depend(&[successor], &[predecessor]).is_ok()).count();
        shed.free(&[predecessor]).expect("it waits for nothing");
        ids[0] = successor;
        shed.free(&ids[..1]).expect("nor does this now");
    }
    let rest = if tasks >= 2 { &ids[2..tasks] } else { &ids[..tasks] };
    shed.free(rest).expect("idle");
    (tasks, dependencies)
}

/// Runs `operation`, which must leave the shed and those tasks as they were.
#[track_caller]
pub(crate) fn unchanged<T: Default, L: Layout, R>(
    shed: &Shed<T, L>,
    tasks: &[TaskId],
    operation: impl FnOnce() -> R,
) -> R {
    let look = || {
        let states: Vec<_> = tasks.iter().map(|&t| (shed.state(t), shed.channel(t))).collect();
        (states, room(shed))
    };
    let before = look();
    let result = operation();
    assert_eq!(look(), before);
    result
}
