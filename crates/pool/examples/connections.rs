//! A table of connections that worker threads share.
//!
//! Each connection is an entry of a pool. Its key leaves the table as a number (here: in events). A
//! late event for a closed connection finds nothing, even if another connection has the slot by
//! then. A thread may close a connection while another thread looks at it. The last thread to leave
//! drops it.

use sateen::pool::{Growth, Key, Pool};
use std::sync::atomic::{AtomicU64, Ordering};

struct Connection {
    id: Key,
    peer: String,
    received: AtomicU64,
}

struct Table {
    connections: Pool<Connection>,
    closed: AtomicU64,
}

impl Table {
    fn new() -> Result<Self, sateen::pool::BuildError> {
        // Room for 8, growing to 64: further connections are refused.
        let connections = Pool::builder(8).grow(Growth::Doubling, 64).build()?;
        Ok(Self { connections, closed: AtomicU64::new(0) })
    }

    /// The number that events for this connection will carry.
    fn open(&self, peer: &str) -> Option<u64> {
        let connect = |id| Connection { id, peer: peer.to_owned(), received: AtomicU64::new(0) };
        self.connections.insert_with(connect).ok().map(Key::to_bits)
    }

    /// Handles an event. Returns whether its connection is open.
    fn receive(&self, tag: u64, bytes: u64) -> bool {
        let connection = Key::from_bits(tag).and_then(|key| self.connections.get(key));
        connection.is_some_and(|connection| {
            let before = connection.received.fetch_add(bytes, Ordering::Relaxed);
            if before + bytes >= 1000 && self.connections.remove(connection.id) {
                // This thread can still use it: `connection` is a guard.
                assert!(!connection.peer.is_empty());
                self.closed.fetch_add(1, Ordering::Relaxed);
            }
            true
        })
    }
}

/// Opens `peers` connections from `threads` threads and sends each more than it takes. Returns how
/// many were closed and how many are left.
fn serve(peers: usize, threads: u64) -> (u64, usize) {
    let table = Table::new().expect("memory for 8 connections");
    let tags: Vec<u64> = (0..peers).filter_map(|n| table.open(&format!("peer {n}"))).collect();
    std::thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                for round in 0..30 {
                    let delivered = tags.iter().filter(|tag| table.receive(**tag, 100)).count();
                    assert!(round < 10 || threads > 1 || delivered == 0);
                }
            });
        }
    });
    (table.closed.load(Ordering::Relaxed), table.connections.in_use())
}

fn main() {
    for (peers, threads) in [(5, 1), (50, 2), (100, 4)] {
        let (closed, left) = serve(peers, threads);
        println!("{peers:3} peers, {threads} threads: {closed} closed, {left} left");
    }
}

#[test]
fn each_connection_is_closed_once() {
    for threads in [1, 2, 4] {
        assert_eq!(serve(5, threads), (5, 0));
        assert_eq!(serve(50, threads), (50, 0));
        // This is more than the table takes.
        assert_eq!(serve(100, threads), (64, 0));
    }
}
