//! Calls every family of public entry points, in every place, with every hostile behaviour of the
//! user code that it calls back. The combinations are generated.
//!
//! * `behaviour`: what the user code does. `place`: where the entry point is called.
//! * `entries`: what is called. Each entry puts the user code at one moment.
//! * `cell`: one combination, and what must hold after it. `run`: cells in child processes.
//!
//! A cell must end, keep the process alive, destroy every item once, and leave a runtime that still
//! works. A cell that cannot occur says why (`cell::impossible`).
#![forbid(unsafe_code)]

mod behaviour;
mod cell;
mod entries;
mod place;
mod run;

/// Runs all cells; with `SATEEN_HOSTILE_ONLY=words`, those whose names contain each of the words.
#[test]
fn every_entry_point_survives_every_behaviour_everywhere() {
    run::all();
}
