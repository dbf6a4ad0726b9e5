//! The congestion controllers that msquic ships, by the names the laboratory uses.

use msquic::ffi::{
    HQUIC, QUIC_CONGESTION_CONTROL_ALGORITHM_QUIC_CONGESTION_CONTROL_ALGORITHM_BBR as BBR,
    QUIC_CONGESTION_CONTROL_ALGORITHM_QUIC_CONGESTION_CONTROL_ALGORITHM_CUBIC as CUBIC,
    QUIC_PARAM_CONN_SETTINGS, QUIC_SETTINGS,
};
use msquic::Api;

const NUMBERS: [(&str, u16); 2] = [("cubic", CUBIC as u16), ("bbr", BBR as u16)];

/// msquic's number for the CCA called `name`, which is one of the stack's.
pub fn number(name: &str) -> u16 {
    NUMBERS.iter().find(|(known, _)| *known == name).map_or(CUBIC as u16, |&(_, number)| number)
}

/// The CCA that msquic calls by this number.
fn name(number: u16) -> Option<&'static str> {
    NUMBERS.iter().find(|&&(_, known)| known == number).map(|&(name, _)| name)
}

/// The CCA of a live connection. Before it is connected, a server's connection has the defaults still.
///
/// # Safety
/// `connection` must be the handle of a connection that has not been closed.
pub unsafe fn read_back(connection: HQUIC) -> Option<&'static str> {
    let settings =
        unsafe { Api::get_param_auto::<QUIC_SETTINGS>(connection, QUIC_PARAM_CONN_SETTINGS) }.ok()?;
    name(settings.CongestionControlAlgorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cca_has_a_number_of_its_own() {
        for cca in crate::STACK.ccas {
            assert_eq!(name(number(cca)), Some(*cca));
        }
        assert_eq!(name(7), None);
    }
}
