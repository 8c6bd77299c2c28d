//! The lab of Sateen, layer 7: measures every part on the user's own machine, beside what the user
//! would pick instead.
//!
//! Below: everything. Above: nothing; it is a program, `sateen`. From the top down:
//!
//! * `cli`, `values`, `select`: what the user asks for. One line names what makes no sense.
//! * `commands`: the subcommands; `pages`: manual and completions.
//! * `measure`: a measurement from its start to its end, however it ends; `tour`: the short one.
//! * `experiments`: what is measured, against the traits of `adapter`.
//! * `flow`: the throttled worker queue at work: a load, a view of it, a filter.
//! * `soak`: everything at once for a long time, with ledgers that must balance.
//! * `doctor`: what the machine is, and what its steps cost.
//! * `scale`: figures by the number of workers, and the law that fits them.
//! * `advise`: the same loops in the user's own context, ranked.
//! * `registry`: the table of all implementations, on top of the next three.
//! * `adapter`, `ours`, `peers`: what an implementation can do, and the implementations.
//! * `exhibits`: what a user would not choose, to show what the choice is worth.
//! * `blocks`: raw memory behind a safe interface. It and `exhibits` have the unsafe code.
//! * `runner`, `rounds`, `turn`, `apart`, `crew`: repeated, interleaved runs.
//! * `experiment`, `figure`, `store`, `stats`: experiments, their figures, runs and summaries.
//! * `interrupt`, `error`: what ends the lab early, and with which status.
//! * `page`: the report as one page of pictures and tables.
//! * `history`: the figures of many commits as one page, with what changed.
//! * `plot`: pictures.
//! * `report`, `published`: tables, JSON and diffs, with the figures of others beside.
//! * `host`, `proc`: the machine, and whether it is fit for a figure.
//! * `sateen_top::foreign`, in the crate below: text of others, which only that module displays.
//!
//! Invariants:
//!
//! * An identity holds one value and never changes its meaning.
//! * Each experiment checks its own result.
//! * No implementation's threads live while another one is measured.
//! * A file is written whole or not at all.
//!
//! The exit statuses are in `error`. How to add an experiment or a peer is in this crate's README.

#![deny(unsafe_code)]

mod adapter;
mod advise;
mod apart;
mod blocks;
mod cli;
mod commands;
mod costs;
mod crew;
mod doctor;
mod error;
mod exhibits;
mod experiment;
mod experiments;
mod figure;
mod flow;
mod history;
mod host;
mod interrupt;
mod measure;
mod ours;
mod page;
mod pages;
mod peers;
mod plot;
mod proc;
mod published;
mod registry;
mod report;
mod rounds;
mod runner;
mod scale;
mod select;
mod soak;
mod stats;
mod store;
mod tour;
mod turn;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error::Error::Gone) => ExitCode::SUCCESS,
        Err(e) => {
            report::note(&e.to_string());
            ExitCode::from(e.status())
        }
    }
}
