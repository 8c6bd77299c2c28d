//! Adapter for `kanal`, with threads that block.

use crate::adapter::usual_channels;

/// Its channels.
pub(crate) struct Kanal;

usual_channels!(Kanal, "kanal", kanal);
