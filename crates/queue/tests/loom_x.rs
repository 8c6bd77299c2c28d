#![cfg(loom)]
use loom::sync::Arc;
use loom::thread;
use sateen_queue::mpmc::Unbounded;
#[test]
fn x() {
    let n = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)); let m = n.clone();
    let g = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)); let h = g.clone();
    loom::model(move || {
        m.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let q = Arc::new(Unbounded::new());
        let q2 = q.clone();
        let t = thread::spawn(move || q2.push(1));
        if q.pop().is_some() { h.fetch_add(1, std::sync::atomic::Ordering::Relaxed); }
        t.join().unwrap();
    });
    eprintln!("{n:?} {g:?}");
}
