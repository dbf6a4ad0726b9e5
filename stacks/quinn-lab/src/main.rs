//! `cambrian-quinn-lab`: textbook congestion controllers with every knob a study may want, on quinn's transport (see
//! docs/reference/lab-stack.md and docs/reference/endpoint-contract.md).

mod controllers;
mod fault_knobs;
mod knobs;
mod lab;
mod pacer;
mod presets;

use std::process::ExitCode;

use cambrian_quinn_family::cca::logged;
use cambrian_quinn_family::endpoint::Stack;
use cambrian_quinn_family::server::{self, Sender};
use cambrian_quinn_family::{client, endpoint};

use knobs::Knobs;
use lab::{gates, name_of, LabController, LabFactory};

const STACK: Stack = Stack {
    program: "cambrian-quinn-lab",
    name: "quinn-lab",
    version: env!("CARGO_PKG_VERSION"),
    ccas: &presets::NAMES,
    alpns: &["hq-interop", "h3"],
};

fn main() -> ExitCode {
    endpoint::main(
        &STACK,
        |arguments| {
            let knobs = Knobs::of_cca(&arguments.cca, &arguments.settings)?;
            let preset = presets::find(&arguments.cca)?;
            server::run(arguments, |log| {
                let transport = knobs.transport_config();
                let handover = knobs.faults.handover();
                let factory = LabFactory::new(preset.name, knobs);
                Sender {
                    factory: logged::<LabController>(factory.clone(), log),
                    transport,
                    read_back: Box::new(name_of),
                    gates: Some(gates(factory)),
                    handover,
                }
            })
        },
        |arguments| {
            let knobs = Knobs::of_receiver(&arguments.settings)?;
            client::run(arguments, knobs.transport_config())
        },
    )
}
