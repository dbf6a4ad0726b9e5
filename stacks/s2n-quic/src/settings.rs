//! The knobs of s2n-quic that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{number, unknown, Pairs};
use cambrian_endpoint::{Error, Result};

use crate::cca;

/// The knobs that were set; `None` leaves s2n-quic's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Initial congestion window, in packets of the initial UDP payload (s2n-quic: 10).
    pub initial_window_packets: Option<u32>,
    /// UDP payload in bytes before path-MTU discovery has probed (s2n-quic: 1200).
    pub initial_udp_payload_bytes: Option<u16>,
    /// Window in ProbeBW as a percentage of the estimated BDP (200).
    pub bbr_cwnd_gain_percent: Option<u32>,
    /// Pacing rate in ProbeBW's UP phase as a percentage of the bandwidth (125).
    pub bbr_up_pacing_gain_percent: Option<u32>,
    /// Loss in a round that ends a probe for bandwidth (2).
    pub bbr_loss_threshold_percent: Option<u32>,
}

const KEYS: [&str; 5] = [
    "initial_window_packets",
    "initial_udp_payload_bytes",
    "bbr_cwnd_gain_percent",
    "bbr_up_pacing_gain_percent",
    "bbr_loss_threshold_percent",
];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_UDP_PAYLOAD_BYTES: u16 = 1472;

/// The UDP payload that s2n-quic begins with.
const DEFAULT_UDP_PAYLOAD_BYTES: u16 = 1200;

impl Settings {
    /// The knobs of one command line. An unknown key, a bad value or a knob of BBR's with another `cca` is a usage
    /// error.
    pub fn parse(pairs: &Pairs, cca: Option<&str>) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            if key.starts_with("bbr_") && cca != Some(cca::BBR) {
                return Err(Error::Usage(format!("--set {key}: is a knob of the server's CCA bbr")));
            }
            match key.as_str() {
                "initial_window_packets" => {
                    settings.initial_window_packets = Some(number(key, value, 2, 100_000)?);
                }
                "initial_udp_payload_bytes" => {
                    let least = DEFAULT_UDP_PAYLOAD_BYTES;
                    settings.initial_udp_payload_bytes =
                        Some(number(key, value, least, MAX_UDP_PAYLOAD_BYTES)?);
                }
                "bbr_cwnd_gain_percent" => {
                    settings.bbr_cwnd_gain_percent = Some(number(key, value, 100, 1000)?);
                }
                "bbr_up_pacing_gain_percent" => {
                    settings.bbr_up_pacing_gain_percent = Some(number(key, value, 100, 1000)?);
                }
                "bbr_loss_threshold_percent" => {
                    settings.bbr_loss_threshold_percent = Some(number(key, value, 1, 100)?);
                }
                _ => return Err(unknown(key, &KEYS)),
            }
        }
        Ok(settings)
    }

    /// The initial congestion window in bytes; `None` leaves s2n-quic's own.
    pub fn initial_window_bytes(&self) -> Option<u32> {
        let payload = self.initial_udp_payload_bytes.unwrap_or(DEFAULT_UDP_PAYLOAD_BYTES);
        self.initial_window_packets.map(|packets| packets * u32::from(payload))
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
            if key == "initial_udp_payload_bytes" {
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
        for bad in [
            "initial_udp_payload_bytes=1500",
            "initial_window_packets=1",
            "initial_window_packets=x",
            "pacing=false",
            "bbr_cwnd_gain_percent=x",
        ] {
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
    fn the_initial_window_is_in_packets_of_the_initial_payload() {
        let pairs =
            [pair("initial_window_packets=10").unwrap(), pair("initial_udp_payload_bytes=1400").unwrap()];
        assert_eq!(Settings::parse(&pairs.to_vec(), None).unwrap().initial_window_bytes(), Some(14_000));
        assert_eq!(parse("initial_window_packets=32", None).unwrap().initial_window_bytes(), Some(38_400));
        assert_eq!(Settings::default().initial_window_bytes(), None);
    }
}
