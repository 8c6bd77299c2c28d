//! Adapter for `flume`, with threads that block.

use crate::adapter::usual_channels;

/// Its channels.
pub(crate) struct Flume;

usual_channels!(Flume, "flume", flume);
