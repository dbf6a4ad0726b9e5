//! The endpoint contract (docs/reference/endpoint-contract.md) for programs in Rust, without any QUIC or TLS library: command
//! line, JSON lines, exit statuses, transport log, hq-interop's requests, and a UDP socket that makes few system
//! calls. A stack's own crate adds the transport.

pub mod cli;
pub mod clock;
pub mod contract;
mod ecn;
pub mod error;
pub mod fetch;
#[cfg(feature = "h3")]
pub mod h3;
pub mod hq;
#[cfg(feature = "probe")]
pub mod probe;
#[cfg(feature = "h3")]
pub mod serve;
pub mod settings;
pub mod socket;
pub mod stop;
#[cfg(feature = "testing")]
pub mod testing;
pub mod train;
pub mod transport_log;

use std::process::ExitCode;

use cli::{ClientArguments, Command, ServerArguments};
pub use ecn::Ecn;
pub use error::{Error, Result};

/// What a stack is, for its command line and for `describe`.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// The program's name, as in `cambrian-quinn`.
    pub program: &'static str,
    /// The stack's name, as its manifest has it.
    pub name: &'static str,
    /// The stack's own version.
    pub version: &'static str,
    pub ccas: &'static [&'static str],
    /// The application protocols it speaks; the first is the default.
    pub alpns: &'static [&'static str],
}

/// A whole `main`: parse the command line, play the role, and turn an error into its text and exit status.
pub fn main(
    stack: &Stack,
    server: impl FnOnce(&ServerArguments) -> Result<()>,
    client: impl FnOnce(&ClientArguments) -> Result<()>,
) -> ExitCode {
    let outcome = cli::parse(stack, std::env::args_os().skip(1)).and_then(|command| match command {
        Command::Server(arguments) => server(&arguments),
        Command::Client(arguments) => client(&arguments),
        Command::Describe => {
            contract::describe(stack);
            Ok(())
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", stack.program);
            error.exit_code()
        }
    }
}
