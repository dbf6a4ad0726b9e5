//! The knobs of tquic that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{boolean, number, unknown, Pairs};
use cambrian_endpoint::Result;

const KEYS: [&str; 4] = ["initial_window_packets", "max_udp_payload_bytes", "path_mtu_discovery", "pacing"];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_UDP_PAYLOAD_BYTES: usize = 1472;

/// The knobs that were set; `None` leaves tquic's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Initial congestion window in packets (tquic: 10).
    pub initial_window_packets: Option<u64>,
    /// UDP payload in bytes that path-MTU discovery may reach (tquic: 1472 over IPv4).
    pub max_udp_payload_bytes: Option<usize>,
    /// Path-MTU discovery (tquic: on; without it the payload stays at 1200 bytes).
    pub path_mtu_discovery: Option<bool>,
    /// Pacing (tquic: on).
    pub pacing: Option<bool>,
}

impl Settings {
    /// Read the pairs; an unknown key or a bad value is a usage error.
    pub fn parse(pairs: &Pairs) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            match key.as_str() {
                "initial_window_packets" => {
                    settings.initial_window_packets = Some(number(key, value, 2, 100_000)?)
                }
                "max_udp_payload_bytes" => {
                    settings.max_udp_payload_bytes = Some(number(key, value, 1201, MAX_UDP_PAYLOAD_BYTES)?)
                }
                "path_mtu_discovery" => settings.path_mtu_discovery = Some(boolean(key, value)?),
                "pacing" => settings.pacing = Some(boolean(key, value)?),
                _ => return Err(unknown(key, &KEYS)),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cambrian_endpoint::Error;

    fn parse(assignments: &[&str]) -> Result<Settings> {
        let pairs: Result<Pairs> =
            assignments.iter().map(|assignment| cambrian_endpoint::settings::pair(assignment)).collect();
        Settings::parse(&pairs?)
    }

    #[test]
    fn every_key_is_taken() {
        let settings = parse(&[
            "initial_window_packets=32",
            "max_udp_payload_bytes=1400",
            "path_mtu_discovery=false",
            "pacing=true",
        ]);
        let expected = Settings {
            initial_window_packets: Some(32),
            max_udp_payload_bytes: Some(1400),
            path_mtu_discovery: Some(false),
            pacing: Some(true),
        };
        assert_eq!(settings.unwrap(), expected);
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in [
            "max_udp_payload_bytes",
            "max_udp_payload_bytes=1500",
            "pacing=yes",
            "initial_window_packets=0",
            "cwnd=1",
        ] {
            assert!(matches!(parse(&[bad]), Err(Error::Usage(_))), "{bad}");
        }
    }
}
