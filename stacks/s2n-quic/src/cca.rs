//! The congestion controllers that s2n-quic ships, by the names the laboratory uses, and which one a connection got.

use std::sync::{Arc, OnceLock};

use s2n_quic::provider::congestion_controller::{self, Endpoint, PathInfo};

use crate::settings::Settings;

pub const CUBIC: &str = "cubic";
/// Version 2 of BBR.
pub const BBR: &str = "bbr";

/// s2n-quic's CUBIC; `initial_window_packets` replaces its own initial window (10 datagrams, at most 14,720 bytes).
pub fn cubic(settings: &Settings) -> congestion_controller::Cubic {
    let mut builder = congestion_controller::cubic::Builder::default();
    if let Some(bytes) = settings.initial_window_bytes() {
        builder = builder.with_initial_congestion_window(bytes);
    }
    builder.build()
}

/// s2n-quic's BBR with the knobs of `settings`.
pub fn bbr(settings: &Settings) -> congestion_controller::Bbr {
    let mut builder = congestion_controller::bbr::Builder::default();
    if let Some(bytes) = settings.initial_window_bytes() {
        builder = builder.with_initial_congestion_window(bytes);
    }
    if let Some(percent) = settings.bbr_cwnd_gain_percent {
        builder = builder.with_probe_bw_cwnd_gain(percent);
    }
    if let Some(percent) = settings.bbr_up_pacing_gain_percent {
        builder = builder.with_probe_bw_up_pacing_gain(percent);
    }
    if let Some(percent) = settings.bbr_loss_threshold_percent {
        builder = builder.with_loss_threshold(percent);
    }
    builder.build()
}

/// The type name of the controller that the stack made for a connection.
pub type MadeController = Arc<OnceLock<&'static str>>;

/// Passes requests for a controller on, and remembers what came of it.
#[derive(Debug)]
pub struct ReadBack<E> {
    inner: E,
    made: MadeController,
}

impl<E: Endpoint> ReadBack<E> {
    pub fn new(inner: E, made: MadeController) -> Self {
        Self { inner, made }
    }
}

impl<E: Endpoint> Endpoint for ReadBack<E> {
    type CongestionController = E::CongestionController;

    fn new_congestion_controller(&mut self, path_info: PathInfo) -> Self::CongestionController {
        let controller = self.inner.new_congestion_controller(path_info);
        self.made.get_or_init(|| std::any::type_name_of_val(&controller));
        controller
    }
}

/// The CCA whose controller has this type name, or `None` for one that s2n-quic does not ship.
pub fn of_type(type_name: &str) -> Option<&'static str> {
    match type_name.rsplit("::").next()? {
        "CubicCongestionController" => Some(CUBIC),
        "BbrCongestionController" => Some(BBR),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_made_by<E: Endpoint>(_: &E) -> &'static str {
        std::any::type_name::<E::CongestionController>()
    }

    #[test]
    fn each_cca_is_read_back_by_the_type_of_its_controller() {
        let settings = Settings::default();
        assert_eq!(of_type(type_made_by(&cubic(&settings))), Some(CUBIC));
        assert_eq!(of_type(type_made_by(&bbr(&settings))), Some(BBR));
        assert_eq!(of_type("somebody::elses::Controller"), None);
    }
}
