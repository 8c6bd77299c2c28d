//! Skynet by `sateen`'s tasks with tcmalloc, which replaces the system's allocator where it is
//! linked. The lab builds it so, and starts it.

#![forbid(unsafe_code)]

#[path = "../served.rs"]
mod served;
#[path = "../ours/skynet.rs"]
mod skynet;

fn main() -> Result<(), String> {
    served::serve()
}
