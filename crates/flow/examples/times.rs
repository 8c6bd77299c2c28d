//! Times of sheds and graphs on two workers: `cargo run --release -p sateen-flow --example times`.
//! Run it on an idle machine.

use sateen_flow::{Graph, GraphError, Map, RunOn};
use sateen_runtime::Runtime;
use sateen_shed::{Central, Layout, Outcome, Sharded, Shed, TaskId};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let runtime = Runtime::builder().workers(2).build()?;
    for batch in [1, 16] {
        throughput::<Central>(&runtime, batch)?;
        throughput::<Sharded>(&runtime, batch)?;
    }
    frame(&runtime)
}

/// Four producers of batches of 16, tasks that add 1 to one counter.
fn throughput<L: Layout>(runtime: &Runtime, batch: u32) -> Result<()> {
    const TASKS: u64 = 16_777_216;
    static SUM: AtomicU64 = AtomicU64::new(0);
    SUM.store(0, Ordering::Relaxed);
    let map = (0..4).fold(Map::new(), |map, channel| map.batch(channel, batch));
    let shed = Shed::builder().tasks(8_388_607).channels(4).layout::<L>().run_on(
        runtime,
        map,
        |_, _, ()| {
            SUM.fetch_add(1, Ordering::Relaxed);
            Outcome::Complete
        },
    )?;
    let produce = &|channel| {
        let mut left = TASKS as usize / 4;
        let mut ids = [TaskId::NONE; 16];
        while left > 0 {
            match shed.create_some(&mut std::iter::repeat_n((), left), &mut ids) {
                0 => std::thread::sleep(Duration::from_millis(1)),
                made => {
                    shed.set_channel(&ids[..made], channel)?;
                    shed.ready(&ids[..made])?;
                    left -= made;
                }
            }
        }
        Ok::<(), sateen_shed::Error>(())
    };
    let start = Instant::now();
    std::thread::scope(|s| {
        let producers = [0, 1, 2, 3].map(|channel| s.spawn(move || produce(channel)));
        producers
            .map(|producer| producer.join().expect("no panic"))
            .into_iter()
            .collect::<std::result::Result<(), _>>()
    })?;
    shed.wait()?;
    let nanos = start.elapsed().as_nanos() as f64 / TASKS as f64;
    assert_eq!(SUM.load(Ordering::Relaxed), TASKS);
    println!("{}, {batch} taken at once: {nanos:.1} ns a task", L::NAME);
    Ok(())
}

/// Ten layers of 30 tasks, each of which uses two of the layer before.
fn frame(runtime: &Runtime) -> Result<()> {
    const RUNS: u32 = 10_000;
    let mut g = Graph::new();
    let mut before: Vec<_> = (0..30).map(|i| g.task(move || i)).collect();
    for _ in 1..10 {
        before = (0..30)
            .map(|i| g.task_with((&before[i], &before[(i + 7) % 30]), |(a, b)| a + b))
            .collect();
    }
    let mut time = || {
        let start = Instant::now();
        (0..RUNS).try_for_each(|_| g.run(runtime))?;
        Ok::<Duration, GraphError>(start.elapsed() / RUNS)
    };
    println!("a graph of 300 tasks, run by a thread: {:?}", time()?);
    println!("a graph of 300 tasks, run by a task: {:?}", runtime.install(time)?);
    Ok(())
}
