//! Bulk-transfer endpoint on msquic, by the contract in docs/reference/endpoint-contract.md.

mod body;
mod calls;
mod cca;
mod client;
mod configuration;
mod library;
mod server;
mod settings;
mod statistics;

use cambrian_endpoint::Stack;

const STACK: Stack = Stack {
    program: "cambrian-msquic",
    name: "msquic",
    version: "2.5.1-beta",
    ccas: &["cubic", "bbr"],
    alpns: &["hq-interop"],
};

fn main() -> std::process::ExitCode {
    cambrian_endpoint::main(&STACK, server::run, client::run)
}
