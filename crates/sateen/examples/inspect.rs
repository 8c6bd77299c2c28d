//! A program to look at with `sateen-top`. It serves orders at a rate, counts under one lock,
//! computes, and has two tasks in a deadlock. It ends after as many seconds as its argument says.
//!
//! `cargo run --release -p sateen --features inspect --example inspect -- 60`, and in another
//! terminal `cargo run --release -p sateen-top -- inspect`.

use sateen::flow::{Rate, WorkerQueue};
use sateen::sync::{Barrier, Event, Mutex};
use sateen::{Runtime, Spawn, par_for};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(10.0), |text| text.parse())?;
    let end = Instant::now() + Duration::try_from_secs_f64(seconds)?;
    let runtime = Runtime::builder().workers(3).inspect(true).build()?;
    let over = Arc::new(AtomicBool::new(false));

    // Orders come faster than two cooks can serve them.
    let kitchen = WorkerQueue::builder()
        .workers(2)
        .capacity(500)
        .receive_rate(Rate::per_second(400.0)?)
        .name("kitchen")
        .start(|_, order: &mut u64| _ = black_box(*order))?;

    // One till, and a queue at it.
    let till = Arc::new(Mutex::new(0_u64));
    for customer in 1..=12 {
        let (till, over) = (Arc::clone(&till), Arc::clone(&over));
        let name = Spawn::new().name(format!("customer {customer}"));
        drop(runtime.spawn_with(name, move || {
            while !over.load(Ordering::Relaxed) {
                let mut paid = till.lock();
                sateen::sleep(Duration::from_millis(40));
                *paid += customer;
            }
        }));
    }

    // Somebody waits for the evening.
    let evening = Arc::new(Event::new());
    let waits = Arc::clone(&evening);
    drop(runtime.spawn_with(Spawn::new().name("night watch"), move || waits.wait()));

    // Two cooks want both knives, and each has taken one.
    let knives = [(); 2].map(|()| Arc::new(Mutex::new(())));
    let both = Arc::new(Barrier::new(2));
    let cooks = [("cook A", 0), ("cook B", 1)].map(|(name, first)| {
        let (mine, other) = (Arc::clone(&knives[first]), Arc::clone(&knives[1 - first]));
        let both = Arc::clone(&both);
        runtime.spawn_with(Spawn::new().name(name), move || {
            let _mine = mine.lock();
            both.wait();
            let _other = other.lock();
        })
    });

    // And there is work to do.
    let busy = Arc::clone(&over);
    let baker = runtime.spawn_with(Spawn::new().name("baker"), move || {
        while !busy.load(Ordering::Relaxed) {
            par_for(0..20_000_000, |i| _ = black_box(i * i));
            sateen::sleep(Duration::from_millis(3));
        }
    });
    let mut order = 0;
    while Instant::now() < end {
        for _ in 0..10 {
            order += 1;
            // With the queue full, the order is lost.
            _ = kitchen.try_send(order);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    over.store(true, Ordering::Relaxed);
    evening.set();
    // Nothing else ends that.
    cooks.iter().for_each(|cook| cook.cancel());
    kitchen.abort();
    baker.join()?;
    println!("{order} orders, {} paid", till.lock());
    Ok(())
}
