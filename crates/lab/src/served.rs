//! What the small programs with other allocators do: one run of skynet for each line of input. Each
//! run prints the sum and the nanoseconds it took.

use crate::skynet;
use sateen::Runtime;
use std::io::{self, BufRead};
use std::time::Instant;

/// Serves until the input ends: `PROGRAM FORM WORKERS LEAVES`.
///
/// # Errors
/// The arguments make no sense, the runtime cannot be built, or the input cannot be read.
pub(crate) fn serve() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [form, workers, leaves] = &arguments[..] else {
        return Err("three arguments are wanted: form, workers, leaves".to_owned());
    };
    let number = |text: &str| text.parse::<u64>().map_err(|e| format!("`{text}`: {e}"));
    let (workers, leaves) = (number(workers)? as usize, number(leaves)?);
    let runtime = Runtime::builder().workers(workers).build().map_err(|e| e.to_string())?;
    for line in io::stdin().lock().lines() {
        line.map_err(|e| e.to_string())?;
        let start = Instant::now();
        let sum = match form.as_str() {
            "sateen-join" => runtime.install(|| skynet::join(0, leaves)),
            "sateen-suspend" => runtime.install(|| skynet::suspend(0, leaves)),
            "sateen-detach" => runtime.install(|| skynet::detach(0, leaves)),
            "sateen-channel" => runtime.install(|| skynet::channel(0, leaves)),
            "sateen-async" => runtime.install(|| skynet::future(0, leaves)),
            _ => return Err(format!("`{form}` is no form of skynet")),
        };
        println!("{sum} {}", start.elapsed().as_nanos());
    }
    Ok(())
}
