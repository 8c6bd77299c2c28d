use sateen_runtime::Runtime;
use sateen_sync::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
fn status(key: &str) -> usize {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .find(|l| l.starts_with(key))
        .and_then(|l| l.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
fn maps() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}
fn main() {
    let n: usize = std::env::args().nth(1).map_or(100_000, |a| a.parse().unwrap());
    let rounds: usize = std::env::args().nth(2).map_or(1, |a| a.parse().unwrap());
    let rt = Runtime::builder().workers(2).build().unwrap();
    rt.spawn(|| ()).join().unwrap();
    for _ in 0..rounds {
        let event = Arc::new(Event::new());
        let before = (status("VmRSS"), status("VmPTE"));
        let t = Instant::now();
        let started = Arc::new(AtomicUsize::new(0));
        for _ in 0..n {
            let (e, s) = (event.clone(), started.clone());
            drop(rt.spawn(move || {
                s.fetch_add(1, Relaxed);
                e.wait();
                s.fetch_add(1, Relaxed);
            }));
        }
        let spawned = t.elapsed();
        while started.load(Relaxed) < n {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let blocked = t.elapsed();
        let (rss, pte) = (status("VmRSS") - before.0, status("VmPTE") - before.1);
        println!(
            "blocked {n}: rss {} B, pte {} B each, total {} B; maps {}; vm {} GiB",
            rss * 1024 / n,
            pte * 1024 / n,
            (rss + pte) * 1024 / n,
            maps(),
            status("VmSize") >> 20
        );
        let t2 = Instant::now();
        event.set();
        let set = t2.elapsed();
        while started.load(Relaxed) < 2 * n {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        println!(
            "spawned {spawned:?} blocked {blocked:?} set {set:?} released {:?} total {:?}; rss after {} MiB",
            t2.elapsed(),
            t.elapsed(),
            status("VmRSS") >> 10
        );
        std::thread::sleep(std::time::Duration::from_millis(
            std::env::args().nth(3).map_or(0, |a| a.parse().unwrap()),
        ));
        println!("later: rss {} MiB maps {}", status("VmRSS") >> 10, maps());
    }
    let t = Instant::now();
    drop(rt);
    println!("drop {:?}; rss {} MiB", t.elapsed(), status("VmRSS") >> 10);
}
