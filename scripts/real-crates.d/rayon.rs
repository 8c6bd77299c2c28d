pub use sateen::*;
