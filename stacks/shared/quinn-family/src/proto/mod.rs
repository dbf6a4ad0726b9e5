//! The transport library, and the few calls by which quinn-proto and its fork noq-proto differ.

#[cfg(all(feature = "noq", not(feature = "quinn")))]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;

#[cfg(all(feature = "noq", not(feature = "quinn")))]
pub use noq::*;
#[cfg(feature = "quinn")]
pub use quinn::*;

#[cfg(not(any(feature = "noq", feature = "quinn")))]
compile_error!("choose the transport: feature \"quinn\" or feature \"noq\"");
