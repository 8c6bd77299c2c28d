//! The lab of Sateen, layer 7: measures every part on the user's own machine, beside what the user
//! would pick instead.
//!
//! Below: everything. Above: nothing; it is a program, `sateen`. It reads top-down:
//!
//! * `cli`, `select`: what was asked for, refused with one line and exit 2 if it makes no sense.
//! * `experiments`: what is measured, against the traits of `adapter`.
//! * `flow`: the throttled worker queue at work: a load, a view of it, a filter.
//! * `soak`: everything at once for a long time, with books that must balance.
//! * `advise`: the same loops in the user's own context, ranked.
//! * `adapter`, `ours`, `peers`: what an implementation can do, and the implementations.
//! * `blocks`: raw memory behind a safe interface, the only unsafe code.
//! * `runner`, `apart`, `crew`, `stats`, `store`: repeated, interleaved runs and their summaries.
//! * `report`, `published`, `host`: tables, JSON, diffs and plots, with the figures of others and
//!   the fitness of the machine beside.
//!
//! Invariants: an identity holds one value and never changes its meaning; each experiment checks its
//! own result; no implementation's threads live while another one is measured; a file is written
//! whole or not at all. Exit status: 0; 1 for a wrong result or a regression; 2 for bad input; 130
//! after Ctrl-C. How to add an experiment or a peer is in this crate's README.

#![deny(unsafe_code)]

mod adapter;
mod advise;
mod apart;
mod blocks;
mod cli;
mod commands;
mod crew;
mod error;
mod experiment;
mod experiments;
mod flow;
mod host;
mod interrupt;
mod ours;
mod peers;
mod published;
mod report;
mod runner;
mod select;
mod soak;
mod stats;
mod store;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // Where it should be said may be gone.
            let _ = writeln!(std::io::stderr(), "sateen: {e}");
            e.exit_code()
        }
    }
}
