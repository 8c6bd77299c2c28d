//! Skynet by `sateen`'s tasks with mimalloc. The lab builds and starts it.

#![forbid(unsafe_code)]

#[path = "../served.rs"]
mod served;
#[path = "../ours/skynet.rs"]
mod skynet;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), String> {
    served::serve()
}
