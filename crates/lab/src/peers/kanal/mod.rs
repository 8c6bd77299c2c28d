//! Adapter for `kanal`, with threads that block.
//!
//! With room for one item, some runs have taken minutes or did not end.

use crate::adapter::{Use, usual_channels};

/// Its channels.
pub(crate) struct Kanal;

usual_channels!(Kanal, "kanal", kanal, |channel: Use| channel.capacity == Some(1));
