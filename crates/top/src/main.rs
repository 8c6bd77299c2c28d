//! The program `sateen-top`; see `top`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[cfg(unix)]
mod top;

#[cfg(unix)]
fn main() -> ExitCode {
    top::main()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("sateen-top: it needs Unix sockets, which this system lacks");
    ExitCode::from(2)
}
