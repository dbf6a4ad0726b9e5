//! The lab's controllers on quinn's transport.
//!
//! quinn's pacer cannot be set: it paces every controller at 1.25·cwnd/RTT in trains of ten packets or more, and it
//! stops short of the window by a packet. It lets everything pass, though, when `Controller::window()` is beyond
//! 4 GiB. So the lab limits and paces by itself, at a gate that the event loop asks before each datagram: while the
//! loop polls, `window()` is either beyond all bounds or one byte; at any other time it is the congestion window.

mod controller;
mod flow;

pub use controller::{gates, name_of, LabController, LabFactory};
