//! Layer 5 of Sateen: what drives sheds on runtime workers, and graphs of tasks with results.
//!
//! Below: `sateen-shed` and `sateen-runtime`. Above: users, through the facade.
