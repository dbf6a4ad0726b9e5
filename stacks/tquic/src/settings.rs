//! The knobs of tquic that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{number, switch, unknown, Pairs};
use cambrian_endpoint::Result;

const KEYS: [&str; 6] =
    ["initial_window_packets", "mtu", "pmtud", "pacing", "ack_eliciting_threshold", "max_ack_delay_ms"];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_MTU_BYTES: usize = 1472;

/// The knobs that were set; `None` leaves tquic's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Initial congestion window in packets (tquic: 10).
    pub initial_window_packets: Option<u64>,
    /// UDP payload in bytes that path-MTU discovery may reach (tquic: 1472 over IPv4).
    pub mtu_bytes: Option<usize>,
    /// Path-MTU discovery (tquic: on; without it the payload stays at 1200 bytes).
    pub pmtud: Option<bool>,
    /// Pacing (tquic: on).
    pub pacing: Option<bool>,
    /// This side acknowledges each so many packets (tquic: 2).
    pub ack_eliciting_threshold: Option<u64>,
    /// How long this side may hold an acknowledgement back (tquic: 25 ms).
    pub max_ack_delay_ms: Option<u64>,
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
                "mtu" => settings.mtu_bytes = Some(number(key, value, 1201, MAX_MTU_BYTES)?),
                "pmtud" => settings.pmtud = Some(switch(key, value)?),
                "pacing" => settings.pacing = Some(switch(key, value)?),
                "ack_eliciting_threshold" => {
                    settings.ack_eliciting_threshold = Some(number(key, value, 1, 1000)?)
                }
                "max_ack_delay_ms" => settings.max_ack_delay_ms = Some(number(key, value, 0, 16_383)?),
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
            "mtu=1400",
            "pmtud=off",
            "pacing=on",
            "ack_eliciting_threshold=10",
            "max_ack_delay_ms=5",
        ]);
        let expected = Settings {
            initial_window_packets: Some(32),
            mtu_bytes: Some(1400),
            pmtud: Some(false),
            pacing: Some(true),
            ack_eliciting_threshold: Some(10),
            max_ack_delay_ms: Some(5),
        };
        assert_eq!(settings.unwrap(), expected);
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in ["mtu", "mtu=1500", "pacing=yes", "initial_window_packets=0", "cwnd=1"] {
            assert!(matches!(parse(&[bad]), Err(Error::Usage(_))), "{bad}");
        }
    }
}
