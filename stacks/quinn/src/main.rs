//! `cambrian-quinn`: serves or fetches bytes through quinn's QUIC transport (see docs/reference/endpoint-contract.md).

use std::process::ExitCode;

use cambrian_quinn_family::cca;
use cambrian_quinn_family::cca::Cca;
use cambrian_quinn_family::endpoint::Stack;
use cambrian_quinn_family::program;
use cambrian_quinn_family::proto::congestion::{Bbr, BbrConfig, Cubic, CubicConfig, NewReno, NewRenoConfig};

const STACK: Stack = Stack {
    program: "cambrian-quinn",
    name: "quinn",
    version: "0.11.12",
    ccas: &["cubic", "reno", "bbr"],
    alpns: &["hq-interop", "h3"],
};

const CCAS: [Cca; 3] =
    [cca!("cubic", Cubic, CubicConfig), cca!("reno", NewReno, NewRenoConfig), cca!("bbr", Bbr, BbrConfig)];

fn main() -> ExitCode {
    program::main(&STACK, &CCAS)
}
