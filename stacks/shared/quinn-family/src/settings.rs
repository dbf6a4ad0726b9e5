//! The knobs that `--set KEY=VALUE` reaches, whatever the CCA.

use cambrian_endpoint::settings::{number, unknown, Pairs};
use cambrian_endpoint::{Error, Result};

use crate::proto::{AckFrequencyConfig, TransportConfig, VarInt};
use crate::transport;

/// The transport's knobs that were set; `None` leaves its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransportSettings {
    /// `packet_threshold`: packets of reordering before a packet counts as lost (default 3).
    pub packet_threshold: Option<u32>,
    /// `time_threshold`: the same in time, as a multiple of the RTT (default 1.125).
    pub time_threshold: Option<f32>,
    /// `mtu`: UDP payload in bytes before path-MTU discovery has probed (default 1200).
    pub initial_mtu_bytes: Option<u16>,
    /// `ack_eliciting_threshold`: the peer is asked (by the ACK-frequency extension) to acknowledge once it has
    /// received more than this many ack-eliciting packets (default: the extension is not used, every second packet).
    pub ack_eliciting_threshold: Option<u32>,
}

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_MTU_BYTES: u16 = 1472;

impl TransportSettings {
    pub const KEYS: [&'static str; 4] =
        ["packet_threshold", "time_threshold", "mtu", "ack_eliciting_threshold"];

    /// Take a pair, if it is one of `KEYS`; returns whether it was. A bad value is a usage error.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "packet_threshold" => self.packet_threshold = Some(number(key, value, 3, u32::MAX)?),
            "time_threshold" => self.time_threshold = Some(number(key, value, 1.0, 1000.0)?),
            "mtu" => self.initial_mtu_bytes = Some(number(key, value, 1200, MAX_MTU_BYTES)?),
            "ack_eliciting_threshold" => {
                self.ack_eliciting_threshold = Some(number(key, value, 0, u32::MAX)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The endpoint's transport configuration with these knobs.
    pub fn config(&self) -> TransportConfig {
        let mut config = transport::config();
        if let Some(packets) = self.packet_threshold {
            config.packet_threshold(packets);
        }
        if let Some(rtts) = self.time_threshold {
            config.time_threshold(rtts);
        }
        if let Some(bytes) = self.initial_mtu_bytes {
            config.initial_mtu(bytes);
        }
        if let Some(packets) = self.ack_eliciting_threshold {
            let mut frequency = AckFrequencyConfig::default();
            frequency.ack_eliciting_threshold(VarInt::from_u32(packets));
            config.ack_frequency_config(Some(frequency));
        }
        config
    }
}

/// The knobs of a stack that brings its own CCAs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub transport: TransportSettings,
    /// `initial_window`: initial congestion window in bytes.
    pub initial_window_bytes: Option<u64>,
}

impl Settings {
    /// Take every pair. An unknown key or a bad value is a usage error; a switch that the stack lacks is unsupported.
    pub fn from_pairs(pairs: &Pairs) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            match key.as_str() {
                "initial_window" => {
                    settings.initial_window_bytes = Some(number(key, value, 2400, u32::MAX.into())?);
                }
                "pacing" => {
                    return Err(Error::Unsupported("this stack always paces; it has no switch for it".into()))
                }
                _ if settings.transport.set(key, value)? => {}
                _ => {
                    let keys = [&["initial_window"], &TransportSettings::KEYS[..]].concat();
                    return Err(unknown(key, &keys));
                }
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(assignments: &[&str]) -> Result<Settings> {
        let pairs = assignments.iter().map(|pair| cambrian_endpoint::settings::pair(pair));
        Settings::from_pairs(&pairs.collect::<Result<_>>()?)
    }

    #[test]
    fn every_key_is_taken() {
        let settings = parse(&[
            "initial_window=38400",
            "packet_threshold=30",
            "time_threshold=1.5",
            "mtu=1472",
            "ack_eliciting_threshold=9",
        ]);
        let transport = TransportSettings {
            packet_threshold: Some(30),
            time_threshold: Some(1.5),
            initial_mtu_bytes: Some(1472),
            ack_eliciting_threshold: Some(9),
        };
        assert_eq!(settings.unwrap(), Settings { transport, initial_window_bytes: Some(38_400) });
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in ["", "mtu", "mtu=1500", "mtu=x", "packet_threshold=2", "time_threshold=NaN", "cwnd=1"] {
            assert!(matches!(parse(&[bad]), Err(Error::Usage(_))), "{bad}");
        }
    }

    #[test]
    fn pacing_is_unsupported() {
        assert!(matches!(parse(&["pacing=off"]), Err(Error::Unsupported(_))));
    }
}
