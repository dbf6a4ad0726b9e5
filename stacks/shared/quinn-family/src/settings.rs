//! The knobs that `--set KEY=VALUE` reaches, whatever the CCA.

use cambrian_endpoint::settings::{number, unknown, Pairs};
use cambrian_endpoint::Result;

use crate::proto::{AckFrequencyConfig, TransportConfig, VarInt};
use crate::transport;

/// The transport's knobs that were set; `None` leaves its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransportSettings {
    /// Packets of reordering before a packet counts as lost (default 3).
    pub packet_threshold: Option<u32>,
    /// The same in time, as a multiple of the RTT (default 1.125).
    pub time_threshold: Option<f32>,
    /// UDP payload in bytes before path-MTU discovery has probed (default 1200).
    pub initial_udp_payload_bytes: Option<u16>,
    /// The peer is asked, by the ACK-frequency extension, to acknowledge every so many ack-eliciting packets
    /// (default: the extension is not used; every second packet).
    pub ack_every_packets: Option<u32>,
}

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_UDP_PAYLOAD_BYTES: u16 = 1472;

/// The UDP payload that quinn begins with.
const DEFAULT_UDP_PAYLOAD_BYTES: u16 = 1200;

impl TransportSettings {
    pub const KEYS: [&'static str; 4] =
        ["packet_threshold", "time_threshold", "initial_udp_payload_bytes", "ack_every_packets"];

    /// Take a pair, if it is one of `KEYS`; returns whether it was. A bad value is a usage error.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "packet_threshold" => self.packet_threshold = Some(number(key, value, 3, u32::MAX)?),
            "time_threshold" => self.time_threshold = Some(number(key, value, 1.0, 1000.0)?),
            "initial_udp_payload_bytes" => {
                let least = DEFAULT_UDP_PAYLOAD_BYTES;
                self.initial_udp_payload_bytes = Some(number(key, value, least, MAX_UDP_PAYLOAD_BYTES)?);
            }
            "ack_every_packets" => self.ack_every_packets = Some(number(key, value, 1, 1000)?),
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
        if let Some(bytes) = self.initial_udp_payload_bytes {
            config.initial_mtu(bytes);
        }
        if let Some(packets) = self.ack_every_packets {
            let mut frequency = AckFrequencyConfig::default();
            // The extension counts the packets received *beyond* which an ACK is due.
            frequency.ack_eliciting_threshold(VarInt::from_u32(packets - 1));
            config.ack_frequency_config(Some(frequency));
        }
        config
    }
}

/// The knobs of a stack that brings its own CCAs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub transport: TransportSettings,
    /// Initial congestion window, in packets of the initial UDP payload.
    pub initial_window_packets: Option<u64>,
}

impl Settings {
    /// Take every pair. An unknown key or a bad value is a usage error.
    pub fn from_pairs(pairs: &Pairs) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            match key.as_str() {
                "initial_window_packets" => {
                    settings.initial_window_packets = Some(number(key, value, 2, 100_000)?);
                }
                _ if settings.transport.set(key, value)? => {}
                _ => {
                    let keys = [&["initial_window_packets"], &TransportSettings::KEYS[..]].concat();
                    return Err(unknown(key, &keys));
                }
            }
        }
        Ok(settings)
    }

    /// The initial congestion window in bytes; `None` leaves the controller's own.
    pub fn initial_window_bytes(&self) -> Option<u64> {
        let payload = self.transport.initial_udp_payload_bytes.unwrap_or(DEFAULT_UDP_PAYLOAD_BYTES);
        self.initial_window_packets.map(|packets| packets * u64::from(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cambrian_endpoint::Error;

    fn parse(assignments: &[&str]) -> Result<Settings> {
        let pairs = assignments.iter().map(|pair| cambrian_endpoint::settings::pair(pair));
        Settings::from_pairs(&pairs.collect::<Result<_>>()?)
    }

    #[test]
    fn every_key_is_taken() {
        let settings = parse(&[
            "initial_window_packets=32",
            "packet_threshold=30",
            "time_threshold=1.5",
            "initial_udp_payload_bytes=1472",
            "ack_every_packets=10",
        ]);
        let transport = TransportSettings {
            packet_threshold: Some(30),
            time_threshold: Some(1.5),
            initial_udp_payload_bytes: Some(1472),
            ack_every_packets: Some(10),
        };
        assert_eq!(settings.unwrap(), Settings { transport, initial_window_packets: Some(32) });
    }

    #[test]
    fn the_initial_window_is_in_packets_of_the_initial_payload() {
        let bytes = |assignments: &[&str]| parse(assignments).unwrap().initial_window_bytes();
        assert_eq!(bytes(&[]), None);
        assert_eq!(bytes(&["initial_window_packets=32"]), Some(32 * 1200));
        let both = ["initial_window_packets=10", "initial_udp_payload_bytes=1400"];
        assert_eq!(bytes(&both), Some(14_000));
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in [
            "",
            "packet_threshold",
            "initial_udp_payload_bytes=1500",
            "initial_udp_payload_bytes=x",
            "packet_threshold=2",
            "time_threshold=NaN",
            "pacing=false",
        ] {
            assert!(matches!(parse(&[bad]), Err(Error::Usage(_))), "{bad}");
        }
    }
}
