//! Spans for [`tracing`](https://docs.rs/tracing): launches, transfers, adjoints, what checkpointing does. Without the
//! feature `trace` there are none, and this costs nothing; with it and no subscriber a launch costs a load more.

#[cfg(feature = "trace")]
mod chrome;

#[cfg(feature = "trace")]
pub use chrome::ChromeTrace;

use crate::domain::Domain;
use crate::schedule::Action;

/// Open while it lives.
#[cfg(feature = "trace")]
pub(crate) struct Span(#[expect(dead_code, reason = "its drop closes the span")] tracing::span::EnteredSpan);

/// Nothing.
#[cfg(not(feature = "trace"))]
pub(crate) struct Span;

macro_rules! span {
    ($what:literal, $($field:tt)*) => {{
        #[cfg(feature = "trace")]
        let span = Span(tracing::trace_span!(target: "diffkern", $what, $($field)*).entered());
        #[cfg(not(feature = "trace"))]
        let span = Span;
        span
    }};
}

/// Something that the user should know of.
#[cfg_attr(not(feature = "trace"), expect(unused_variables, reason = "nowhere to say it"))]
pub(crate) fn warn(words: &str) {
    #[cfg(feature = "trace")]
    tracing::warn!(target: "diffkern", "{words}");
}

/// A program of a kernel runs, or is handed to a GPU.
#[inline(always)]
#[cfg_attr(not(feature = "trace"), expect(unused_variables, reason = "fields of no span"))]
pub(crate) fn launch(kernel: &'static str, program: &'static str, domain: Domain) -> Span {
    span!("launch", name = kernel, program, positions = domain.len())
}

/// Bytes move.
#[inline(always)]
#[cfg_attr(not(feature = "trace"), expect(unused_variables, reason = "fields of no span"))]
pub(crate) fn transfer(what: &'static str, bytes: usize) -> Span {
    span!("transfer", name = what, bytes)
}

/// A tape is walked backwards, over so many entries.
#[inline(always)]
#[cfg_attr(not(feature = "trace"), expect(unused_variables, reason = "fields of no span"))]
pub(crate) fn backward(what: &'static str, nodes: usize) -> Span {
    span!("backward", name = what, nodes)
}

/// A rollout keeps, restores, recomputes or reverses; a state of it has so many bytes.
#[inline(always)]
#[cfg_attr(not(feature = "trace"), expect(unused_variables, reason = "fields of no span"))]
pub(crate) fn action(action: Action, state_bytes: usize) -> Span {
    let (name, step, to) = match action {
        Action::Snapshot { step } => ("snapshot", step, step),
        Action::Restore { step } => ("restore", step, step),
        Action::Discard { step } => ("discard", step, step),
        Action::Forward { from, to } => ("forward", from, to),
        Action::Record { step } => ("record", step, step + 1),
        Action::Forget { step } => ("forget", step, step),
        Action::Save { step } => ("save", step, step),
        Action::Load { step } => ("load", step, step),
        Action::Erase { step } => ("erase", step, step),
        Action::Reverse { step } => ("reverse", step + 1, step),
    };
    span!("checkpoint", name, step, to, state_bytes)
}
