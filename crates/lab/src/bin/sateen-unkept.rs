//! Skynet by `sateen`'s tasks, whose frames come straight from the allocator. The lab builds and
//! starts it.

#![forbid(unsafe_code)]

#[path = "../served.rs"]
mod served;
#[path = "../ours/skynet.rs"]
mod skynet;

fn main() -> Result<(), String> {
    sateen_pool::HeapMagazine::keep_nothing();
    served::serve()
}
