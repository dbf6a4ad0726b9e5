//! The whole program of a stack that brings its own CCAs.

use std::process::ExitCode;

use cambrian_endpoint::Stack;

use crate::cca::{read_back, Cca};
use crate::server::Sender;
use crate::settings::Settings;
use crate::transfers::Handover;
use crate::{client, server};

/// Play the role that the command line asks for. `ccas` are those that `stack` names.
pub fn main(stack: &Stack, ccas: &'static [Cca]) -> ExitCode {
    cambrian_endpoint::main(
        stack,
        |arguments| {
            let settings = Settings::from_pairs(&arguments.settings)?;
            let cca = ccas.iter().find(|cca| cca.name == arguments.cca);
            let cca = cca.expect("the command line knows the stack's CCAs only");
            server::run(arguments, |log| Sender {
                factory: (cca.factory)(settings.initial_window_bytes(), log),
                transport: settings.transport.config(),
                read_back: Box::new(|controller| read_back(ccas, controller).map(ToOwned::to_owned)),
                gates: None,
                handover: Handover::Whole,
            })
        },
        |arguments| client::run(arguments, Settings::from_pairs(&arguments.settings)?.transport.config()),
    )
}
