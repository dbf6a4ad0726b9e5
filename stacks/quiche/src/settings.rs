//! The knobs of quiche that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{boolean, number, unknown, Pairs};
use cambrian_endpoint::Result;

const KEYS: [&str; 6] =
    ["initial_window_packets", "max_udp_payload_bytes", "path_mtu_discovery", "hystart", "pacing", "ahead"];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_UDP_PAYLOAD_BYTES: usize = 1472;

/// The knobs that were set; `None` leaves quiche's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Initial congestion window in packets of `max_udp_payload_bytes` (quiche: 10).
    pub initial_window_packets: Option<usize>,
    /// UDP payload in bytes (quiche: 1200); what path-MTU discovery ends at, if that is on.
    pub max_udp_payload_bytes: Option<usize>,
    /// Path-MTU discovery (quiche: off).
    pub path_mtu_discovery: Option<bool>,
    /// HyStart++ of cubic and reno (quiche: on).
    pub hystart: Option<bool>,
    /// Pacing, by those controllers that pace (quiche: on).
    pub pacing: Option<bool>,
    /// Whether packets are made before the time at which they are to be sent, as far as the window allows. quiche's
    /// documentation asks for that (on), but what has been made counts as in flight.
    pub ahead: Option<bool>,
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
                    settings.max_udp_payload_bytes = Some(number(key, value, 1200, MAX_UDP_PAYLOAD_BYTES)?)
                }
                "path_mtu_discovery" => settings.path_mtu_discovery = Some(boolean(key, value)?),
                "hystart" => settings.hystart = Some(boolean(key, value)?),
                "pacing" => settings.pacing = Some(boolean(key, value)?),
                "ahead" => settings.ahead = Some(boolean(key, value)?),
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
            "max_udp_payload_bytes=1472",
            "path_mtu_discovery=false",
            "hystart=false",
            "pacing=true",
            "ahead=false",
        ]);
        let expected = Settings {
            initial_window_packets: Some(32),
            max_udp_payload_bytes: Some(1472),
            path_mtu_discovery: Some(false),
            hystart: Some(false),
            pacing: Some(true),
            ahead: Some(false),
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
