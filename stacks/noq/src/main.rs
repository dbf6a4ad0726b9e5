//! `cambrian-noq`: serves or fetches bytes through noq's QUIC transport (see docs/reference/endpoint-contract.md).

use std::process::ExitCode;

use cambrian_quinn_family::cca;
use cambrian_quinn_family::cca::Cca;
use cambrian_quinn_family::endpoint::Stack;
use cambrian_quinn_family::program;
use cambrian_quinn_family::proto::congestion::{
    Bbr3, Bbr3Config, Cubic, CubicConfig, NewReno, NewRenoConfig,
};

const STACK: Stack = Stack {
    program: "cambrian-noq",
    name: "noq",
    version: "1.4.0",
    ccas: &["cubic", "reno", "bbr3"],
    alpns: &["hq-interop", "h3"],
};

const CCAS: [Cca; 3] =
    [cca!("cubic", Cubic, CubicConfig), cca!("reno", NewReno, NewRenoConfig), cca!("bbr3", Bbr3, Bbr3Config)];

fn main() -> ExitCode {
    program::main(&STACK, &CCAS)
}
