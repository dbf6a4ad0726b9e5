//! `cambrian-quinn`: serves or fetches bytes through quinn's QUIC transport (see docs/endpoint-contract.md).

mod cca;
mod cli;
mod client;
mod clock;
mod contract;
mod controller;
mod driver;
mod ecn;
mod error;
mod hq;
mod server;
mod settings;
mod socket;
mod tls;
mod transport;
mod transport_log;

use std::process::ExitCode;

use error::Result;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cambrian-quinn: {error}");
            error.exit_code()
        }
    }
}

fn run() -> Result<()> {
    match cli::parse(std::env::args_os().skip(1))? {
        cli::Command::Server(arguments) => server::run(&arguments),
        cli::Command::Client(arguments) => client::run(&arguments),
        cli::Command::Describe => {
            contract::describe();
            Ok(())
        }
    }
}
