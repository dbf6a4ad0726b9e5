//! An endpoint of the laboratory over quinn-proto, or over noq-proto, its fork: the event loop, the roles of server and
//! client, the transport's settings, and controllers whose every event is logged. Which of the two it is, is a feature
//! of this crate; the module [`proto`] bridges where they differ. A stack adds its CCAs.

pub mod cca;
pub mod client;
mod driver;
pub mod gate;
pub mod observe;
pub mod program;
pub mod proto;
pub mod server;
pub mod settings;
pub mod tls;
pub mod transfers;
pub mod transport;

pub use cambrian_endpoint as endpoint;
