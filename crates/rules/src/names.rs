//! Names of public functions, read from the snapshot of the interface: what is the same is named
//! the same.

use super::{read, root};
use std::collections::{BTreeMap, BTreeSet};

/// Types for one thread with the types that they stand for.
const TWINS: [(&str, &str); 7] = [
    ("sync::local::Condvar", "sync::Condvar"),
    ("sync::local::Event", "sync::Event"),
    ("sync::local::Mutex", "sync::Mutex"),
    ("sync::local::Receiver", "channel::Receiver"),
    ("sync::local::Semaphore", "sync::Semaphore"),
    ("sync::local::SemaphoreGuard", "sync::SemaphoreGuard"),
    ("sync::local::Sender", "channel::Sender"),
];

/// Functions that one of two twins has alone, and why.
const ALONE: [(&str, &str); 30] = [
    ("sync::local::Condvar::wait_timeout", "guards go in and come out, as with `std`"),
    ("sync::Condvar::wait_for", "guards are borrowed, as with `parking_lot`"),
    ("sync::Condvar::wait_until", "the same"),
    ("sync::Condvar::wait_while_for", "the same"),
    ("sync::Condvar::wait_while_until", "the same"),
    ("sync::Event::wait_until", "a moment: only with the types of all threads"),
    ("sync::Mutex::data_ptr", "of `lock_api`, for code beside the lock"),
    ("sync::Mutex::fair", "one thread has no contention to be fair in"),
    ("sync::Mutex::force_unlock", "of `lock_api`, for code beside the lock"),
    ("sync::Mutex::is_locked", "the same"),
    ("sync::Mutex::try_lock_until", "a moment: only with the types of all threads"),
    ("channel::Receiver::capacity", "channels for one thread are of the size they were made with"),
    ("channel::Receiver::into_stream", "no streams for one thread"),
    ("channel::Receiver::is_full", "nobody but the sender wants to know"),
    ("channel::Receiver::iter", "no iterators for one thread"),
    ("channel::Receiver::recv_deadline", "a moment: only with the types of all threads"),
    ("channel::Receiver::recv_into", "batches save locked instructions"),
    ("channel::Receiver::same_channel", "of crossbeam"),
    ("channel::Receiver::stream", "no streams for one thread"),
    ("channel::Receiver::try_iter", "no iterators for one thread"),
    ("channel::Receiver::try_recv_into", "batches save locked instructions"),
    ("channel::Sender::capacity", "channels for one thread are of the size they were made with"),
    ("channel::Sender::into_sink", "no sinks for one thread"),
    ("channel::Sender::is_empty", "the receiver tells"),
    ("channel::Sender::is_full", "`try_send` tells"),
    ("channel::Sender::len", "the receiver tells"),
    ("channel::Sender::same_channel", "of crossbeam"),
    ("channel::Sender::send_all", "batches save locked instructions"),
    ("channel::Sender::send_deadline", "a moment: only with the types of all threads"),
    ("channel::Sender::sink", "no sinks for one thread"),
];

/// Each public function of the snapshot: its type, without `sateen::`, its name, its text.
fn functions() -> Vec<(String, String, String)> {
    let snapshot = read(&root().join("docs/api.txt"));
    let (mut of, mut found) = (String::new(), Vec::new());
    for line in snapshot.lines() {
        if !line.starts_with([' ', '#']) {
            let name = line.split(' ').nth(1).unwrap_or_default();
            of = name.strip_prefix("sateen::").unwrap_or(name).to_owned();
        } else if let Some((before, rest)) = line.split_once("fn ")
            && !before.contains("impl")
            && !before.contains("trait")
        {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push((of.clone(), rest[..end].to_owned(), line.trim().to_owned()));
        }
    }
    found
}

#[test]
fn local_forms_have_the_functions_of_their_twins() {
    let mut of_type: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (of, name, _) in functions() {
        of_type.entry(of).or_default().insert(name);
    }
    let mut alone = BTreeSet::new();
    for (local, twin) in TWINS {
        let [local_functions, twin_functions] = [local, twin].map(|of| &of_type[of]);
        let only = |of, functions: &BTreeSet<String>, others: &BTreeSet<String>| {
            functions.difference(others).map(|name| format!("{of}::{name}")).collect::<Vec<_>>()
        };
        alone.extend(only(local, local_functions, twin_functions));
        alone.extend(only(twin, twin_functions, local_functions));
    }
    let known = ALONE.iter().map(|(name, _)| (*name).to_owned()).collect();
    let differ: Vec<_> = alone.symmetric_difference(&known).collect();
    assert!(differ.is_empty(), "the table ALONE and docs/api.txt differ: {differ:#?}");
}

/// A wait with a time span as its limit is called `_timeout`, and one with a moment `_until`.
/// Channels keep crossbeam's `_deadline`, locks and condition variables `parking_lot`'s `_for`.
#[test]
fn limits_of_time_are_named_alike() {
    let mut wrong = Vec::new();
    for (_, name, text) in functions() {
        let endings: &[&str] = match () {
            () if text.contains("deadline: Instant") => &["_until", "_deadline"],
            () if text.contains("timeout: Duration") => &["_timeout", "_for"],
            () => continue,
        };
        let name = name.strip_suffix("_async").unwrap_or(&name);
        if name != "arm" && !endings.iter().any(|ending| name.ends_with(ending)) {
            wrong.push(text);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
