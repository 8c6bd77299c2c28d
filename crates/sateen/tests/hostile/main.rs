//! Every family of public entry points with every hostile behaviour of the code that it calls, in
//! every
//! place: generated, not written out.
//!
//! * `behaviour`: what the user's code does. `place`: where the entry point is called.
//! * `entries`: what is called; each hands the user's code to a moment at which we call it.
//! * `cell`: one combination, and what must hold after it. `run`: cells in child processes.
//!
//! A cell must come to its end, keep the process alive, destroy every item once, and leave a
//! runtime
//! that still works. A cell that cannot occur says why (`cell::impossible`).
#![forbid(unsafe_code)]

mod behaviour;
mod cell;
mod entries;
mod place;
mod run;

/// All cells; `SATEEN_HOSTILE_ONLY=words` runs those whose names contain each of the words.
#[test]
fn every_entry_point_survives_every_behaviour_everywhere() {
    run::all();
}
