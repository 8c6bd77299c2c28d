//! A window's main thread: it draws frames, and runs tasks from worker threads in between.
//!
//! ```text
//! cargo run --release --example gui_pump
//! ```
//!
//! Only the main thread may touch the window (here: a string that is not `Send`). Heavy work runs
//! on the workers of another runtime. Their tasks hand results over by spawning on the main thread.

use sateen::sync::{AutoEvent, timer};
use sateen::{CurrentThread, Runtime, Spawner, par_map, spawn_local};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for tasks in each frame.
const BUDGET: Duration = Duration::from_millis(4);
const FRAME: Duration = Duration::from_millis(10);
const TILES: usize = 8;

/// The data that only the main thread has.
struct Window {
    tiles: [Option<u64>; TILES],
    clock: u32,
    frames: u32,
}

thread_local! {
    /// How tasks from other threads find this data.
    static WINDOW: RefCell<Option<Rc<RefCell<Window>>>> = const { RefCell::new(None) };
}

fn with_window<R>(f: impl FnOnce(&mut Window) -> R) -> R {
    WINDOW.with_borrow(|window| f(&mut window.as_ref().expect("the main thread").borrow_mut()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let window = Rc::new(RefCell::new(Window { tiles: [None; TILES], clock: 0, frames: 0 }));
    WINDOW.set(Some(Rc::clone(&window)));

    // A window system would send a message to its loop here. Our loop waits for this event.
    let wanted = Arc::new(AutoEvent::new());
    let notice = Arc::clone(&wanted);
    let pump = Runtime::builder().on_arrival(move || notice.set()).current_thread()?;

    // A task of the main thread, written as if it had the thread to itself.
    let ticking = Rc::clone(&window);
    let clock = pump.spawn_local(move || {
        loop {
            timer::sleep(Duration::from_millis(5));
            ticking.borrow_mut().clock += 1;
        }
    });
    let workers = Runtime::builder().workers(2).build()?;
    let rendering = {
        let screen = pump.spawner();
        workers.spawn(move || render(&screen))
    };
    let waits = pump.spawn_local(move || {
        let rendered = rendering.join().expect("rendered");
        // A task of this thread spawns others of this thread.
        spawn_local(move || println!("{rendered} tiles rendered")).join().expect("said");
    });

    while !waits.is_finished() {
        frame(&pump, &wanted);
    }
    clock.cancel();
    pump.shutdown();
    let window = window.borrow();
    assert!(window.tiles.iter().all(Option::is_some));
    println!("{} frames, {} ticks", window.frames, window.clock);
    Ok(())
}

/// One turn of the main loop.
fn frame(pump: &CurrentThread, wanted: &AutoEvent) {
    let end = Instant::now() + FRAME;
    with_window(|window| window.frames += 1);
    loop {
        let polled = pump.poll(BUDGET);
        let now = Instant::now();
        if polled.ready || now >= end {
            // Out of time for tasks: draw first.
            return;
        }
        let until = polled.next_timer.map_or(end, |due| due.min(end));
        wanted.wait_timeout(until.saturating_duration_since(now));
    }
}

/// On the workers: computes the tiles, and sends each to the screen.
fn render(screen: &Spawner) -> usize {
    let tiles: Vec<usize> = (0..TILES).collect();
    let shown = par_map(&tiles, |&tile| {
        let colour = (0..200_000u64).fold(tile as u64, |c, i| c.wrapping_mul(31).wrapping_add(i));
        screen.spawn(move || with_window(|window| window.tiles[tile] = Some(colour)))
    });
    shown.into_iter().map(|tile| tile.join().expect("shown")).count()
}
