pub use sateen::channel::*;
