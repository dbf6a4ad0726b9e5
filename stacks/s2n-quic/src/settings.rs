//! The knobs of s2n-quic that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{number, unknown, Pairs};
use cambrian_endpoint::{Error, Result};

use crate::cca;

/// The knobs that were set; `None` leaves s2n-quic's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `initial_window`: initial congestion window in bytes (s2n-quic: 10 datagrams, 12,000 bytes at its first MTU).
    pub initial_window_bytes: Option<u32>,
    /// `mtu`: UDP payload in bytes before path-MTU discovery has probed (s2n-quic: 1200).
    pub initial_mtu_bytes: Option<u16>,
    /// `bbr_cwnd_gain_percent`: window in ProbeBW as a percentage of the estimated BDP (200).
    pub bbr_cwnd_gain_percent: Option<u32>,
    /// `bbr_up_pacing_gain_percent`: pacing rate in ProbeBW's UP phase as a percentage of the bandwidth (125).
    pub bbr_up_pacing_gain_percent: Option<u32>,
    /// `bbr_loss_threshold_percent`: loss in a round that ends a probe for bandwidth (2).
    pub bbr_loss_threshold_percent: Option<u32>,
}

const KEYS: [&str; 5] = [
    "initial_window",
    "mtu",
    "bbr_cwnd_gain_percent",
    "bbr_up_pacing_gain_percent",
    "bbr_loss_threshold_percent",
];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_MTU_BYTES: u16 = 1472;

impl Settings {
    /// The knobs of one command line. An unknown key, a bad value or a knob of BBR's with another `cca` is a usage
    /// error; a switch that s2n-quic lacks is unsupported.
    pub fn parse(pairs: &Pairs, cca: Option<&str>) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            if key.starts_with("bbr_") && cca != Some(cca::BBR) {
                return Err(Error::Usage(format!("--set {key}: is a knob of the server's CCA bbr")));
            }
            match key.as_str() {
                "initial_window" => {
                    settings.initial_window_bytes = Some(number(key, value, 2400, u32::MAX)?);
                }
                "mtu" => settings.initial_mtu_bytes = Some(number(key, value, 1200, MAX_MTU_BYTES)?),
                "bbr_cwnd_gain_percent" => {
                    settings.bbr_cwnd_gain_percent = Some(number(key, value, 100, 1000)?);
                }
                "bbr_up_pacing_gain_percent" => {
                    settings.bbr_up_pacing_gain_percent = Some(number(key, value, 100, 1000)?);
                }
                "bbr_loss_threshold_percent" => {
                    settings.bbr_loss_threshold_percent = Some(number(key, value, 1, 100)?);
                }
                "pacing" => {
                    return Err(Error::Unsupported("s2n-quic always paces; it has no switch for it".into()))
                }
                _ => return Err(unknown(key, &KEYS)),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cambrian_endpoint::settings::pair;

    fn parse(assignment: &str, cca: Option<&str>) -> Result<Settings> {
        Settings::parse(&vec![pair(assignment)?], cca)
    }

    #[test]
    fn every_key_is_taken() {
        let value = |key: &str| {
            if key == "initial_window" {
                38_400
            } else if key == "mtu" {
                1400
            } else {
                100
            }
        };
        for key in KEYS {
            let settings = parse(&format!("{key}={}", value(key)), Some(cca::BBR)).unwrap();
            assert_ne!(settings, Settings::default(), "{key}");
        }
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in ["mtu=1500", "mtu=x", "initial_window=1", "cwnd=1", "bbr_cwnd_gain_percent=x"] {
            assert!(matches!(parse(bad, Some(cca::BBR)), Err(Error::Usage(_))), "{bad}");
        }
    }

    #[test]
    fn knobs_of_bbr_are_for_bbr() {
        for cca in [Some(cca::CUBIC), None] {
            assert!(matches!(parse("bbr_cwnd_gain_percent=250", cca), Err(Error::Usage(_))));
        }
    }

    #[test]
    fn pacing_is_unsupported() {
        assert!(matches!(parse("pacing=off", None), Err(Error::Unsupported(_))));
    }
}
