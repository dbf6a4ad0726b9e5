//! Bulk-transfer endpoint on s2n-quic, by the contract in docs/reference/endpoint-contract.md.

mod cca;
mod client;
mod io;
mod observer;
mod runtime;
mod server;
mod settings;
mod timers;
mod tls;

use cambrian_endpoint::Stack;

const STACK: Stack = Stack {
    program: "cambrian-s2n-quic",
    name: "s2n-quic",
    version: "1.91.0",
    ccas: &[cca::CUBIC, cca::BBR],
    alpns: &["hq-interop"],
};

fn main() -> std::process::ExitCode {
    cambrian_endpoint::main(&STACK, server::run, client::run)
}
