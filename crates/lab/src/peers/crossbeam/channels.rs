//! Adapter for `crossbeam-channel`.

use super::Crossbeam;
use crate::adapter::usual_channels;

usual_channels!(Crossbeam, "crossbeam", crossbeam_channel);
