//! Our channels, between threads and between tasks.

use crate::adapter::{OURS, usual_channels};

/// The channels of `sateen::channel`.
pub(crate) struct Sateen;

usual_channels!(Sateen, OURS, sateen::channel);
