//! Skynet by `sateen`'s tasks with jemalloc. The lab builds and starts it.

#![forbid(unsafe_code)]

#[path = "../served.rs"]
mod served;
#[path = "../ours/skynet.rs"]
mod skynet;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<(), String> {
    served::serve()
}
