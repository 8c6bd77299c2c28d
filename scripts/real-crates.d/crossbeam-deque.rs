pub use sateen::deque::*;
