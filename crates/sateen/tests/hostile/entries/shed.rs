//! Sheds: tasks, payloads, callbacks.

use super::{Entry, entry};
use sateen::Runtime;
use sateen::flow::{Map, RunOn};
use sateen::shed::{Outcome, Shed};
use std::sync::Arc;

pub(super) static ALL: &[Entry] = &[
    entry("shed: task executed by a thread", |c| {
        let shed = Shed::builder().tasks(8).build().expect("a shed");
        shed.ready(&shed.create([c.item(), c.item()]).expect("room")).expect("idle tasks");
        let run = |_, _: &mut _| {
            c.strike();
            Outcome::Complete
        };
        while shed.execute_one(0, run).expect("a channel").is_some() {}
    }),
    entry("shed: payload dropped at its end", |c| {
        let shed = Shed::builder().tasks(8).build().expect("a shed");
        shed.ready(&shed.create([c.bomb(), c.bomb()]).expect("room")).expect("idle tasks");
        while shed.execute_one(0, |_, _| Outcome::Complete).expect("a channel").is_some() {}
    }),
    entry("shed: payload dropped by cancel", |c| {
        let shed = Shed::builder().tasks(8).build().expect("a shed");
        let [a, b] = shed.create([c.bomb(), c.bomb()]).expect("room");
        shed.depend(&[b], &[a]).expect("idle tasks");
        _ = shed.cancel(a);
    }),
    entry("shed: payloads left", |c| {
        let shed = Shed::builder().tasks(8).build().expect("a shed");
        _ = shed.create([c.bomb(), c.bomb()]);
        c.end(shed);
    }),
    entry("shed: on_ready", |c| {
        let own = Arc::clone(c);
        let shed = Shed::builder().tasks(8).on_ready(move |_, _| own.strike());
        let shed = shed.build().expect("a shed");
        let tasks = shed.create([c.item()]).expect("room");
        _ = shed.ready(&tasks);
    }),
    entry("shed: on_cancel", |c| {
        let own = Arc::clone(c);
        let shed = Shed::builder().tasks(8).on_cancel(move |_, _| own.strike());
        let shed = shed.build().expect("a shed");
        let [task] = shed.create([c.item()]).expect("room");
        _ = shed.cancel(task);
    }),
    entry("shed: task executed by workers", |c| {
        let other = Runtime::builder().workers(2).build().expect("a runtime");
        let own = Arc::clone(c);
        let shed = Shed::builder().tasks(8).run_on(&other, Map::new(), move |_, _, _| {
            own.strike();
            Outcome::Complete
        });
        let shed = shed.expect("a shed");
        let tasks = shed.create([c.item(), c.item()]).expect("room");
        shed.ready(&tasks).expect("idle tasks");
        c.end(shed.wait().is_ok());
    }),
];
