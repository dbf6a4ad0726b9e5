//! `cambrian-tquic`: serves or fetches bytes through Tencent's tquic (see docs/reference/endpoint-contract.md).

mod client;
mod controller;
mod driver;
mod server;
mod settings;
mod transfers;
mod transport;

use std::process::ExitCode;

use cambrian_endpoint::Stack;

/// The package of the endpoint has the version of the tquic that it pins.
const STACK: Stack = Stack {
    program: env!("CARGO_BIN_NAME"),
    name: "tquic",
    version: env!("CARGO_PKG_VERSION"),
    ccas: &["cubic", "bbr", "bbr3", "copa"],
    alpns: &["hq-interop"],
};

fn main() -> ExitCode {
    cambrian_endpoint::main(&STACK, server::run, client::run)
}
