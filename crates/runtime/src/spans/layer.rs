//! Shows the program's spans in the runtime's trace.

use crate::trace;
use tracing::Subscriber;
use tracing::span::Id;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// A layer for `tracing-subscriber` that shows the program's spans in the runtime's
/// [trace](crate::Trace), within the task that enters them. With the features `trace` and
/// `tracing`.
///
/// A span that is entered outside of tasks is not shown. Slices nest, so leaving a span also ends
/// spans within it that are still entered.
///
/// # Examples
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let subscriber = tracing_subscriber::registry().with(sateen::TraceLayer::new());
/// tracing::subscriber::set_global_default(subscriber)?;
/// let runtime = sateen::Runtime::builder().workers(1).build()?;
/// runtime.trace().start();
/// runtime.spawn(|| tracing::info_span!("load").in_scope(|| sateen::yield_now())).join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
/// Two events for each entered span, while a trace runs.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TraceLayer;

impl TraceLayer {
    /// A layer for any registry.
    pub fn new() -> Self {
        Self
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            trace::span_entered(span.name());
        }
    }

    fn on_exit(&self, _: &Id, _: Context<'_, S>) {
        trace::span_left();
    }
}
