//! Skynet by `sateen`'s tasks with nothing between their frames and the allocator. The lab builds and starts it.

#![forbid(unsafe_code)]

#[path = "../served.rs"]
mod served;
#[path = "../ours/skynet.rs"]
mod skynet;

fn main() -> Result<(), String> {
    sateen::pool::HeapMagazine::keep_nothing();
    served::serve()
}
