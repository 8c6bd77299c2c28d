pub use sateen::queue::{ArrayQueue, SegQueue};
