//! `cambrian-quiche`: serves or fetches bytes through Cloudflare's quiche (see docs/reference/endpoint-contract.md).
//!
//! stacks/quiche-0.24 builds the same source on an older quiche.

mod client;
mod controller;
mod driver;
mod link;
mod outbox;
mod pages;
mod report;
mod server;
mod settings;
mod transfers;
mod transport;

use std::process::ExitCode;

use cambrian_endpoint::Stack;

/// The packages of the endpoint have the versions of the quiche that they pin.
const STACK: Stack = if cfg!(feature = "older-bbr") {
    Stack {
        program: env!("CARGO_BIN_NAME"),
        name: "quiche-0.24",
        version: env!("CARGO_PKG_VERSION"),
        ccas: &["cubic", "reno", "bbr", "bbr2", "bbr2_gcongestion"],
        alpns: &["hq-interop", "h3"],
    }
} else {
    Stack {
        program: env!("CARGO_BIN_NAME"),
        name: "quiche",
        version: env!("CARGO_PKG_VERSION"),
        ccas: &["cubic", "reno", "bbr2_gcongestion"],
        alpns: &["hq-interop", "h3"],
    }
};

fn main() -> ExitCode {
    cambrian_endpoint::main(&STACK, server::run, client::run)
}
