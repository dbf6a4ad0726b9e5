//! A door in front of a connection's datagrams, for a pacer that is not the transport's own.
//!
//! A gate shares state with the controller of its connection. While it is open for a datagram, that controller can
//! report a window beyond 4 GiB, at which the transport neither limits nor paces (quinn's `Pacer::delay` lets
//! everything pass); while it is shut, a window of one byte, which only acknowledgements and loss probes get past.
//! Both the congestion window and the pacing are then the controller's own to enforce.

use std::time::Instant;

/// Of one connection.
pub trait Gate {
    /// Asked before each datagram. Returns `None` to let it go, or the time at which the next one may; the transport
    /// is asked for a datagram in either case, and the controller's window decides.
    fn open(&mut self, now: Instant) -> Option<Instant>;

    /// The transport has given a datagram: is it to be sent, or lost before it reaches the socket?
    fn passes(&mut self, _now: Instant) -> bool {
        true
    }

    /// The last datagram for now has been asked for.
    fn close(&mut self);

    /// A timer of the transport's has expired, and the transport has acted on it.
    fn timed_out(&mut self, _now: Instant) {}
}

/// Called after a connection, and so its controller, has been made: the gate of that connection.
pub type GateSource = Box<dyn FnMut() -> Option<Box<dyn Gate>>>;
