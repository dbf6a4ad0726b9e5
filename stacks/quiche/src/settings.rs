//! The knobs of quiche that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{number, switch, unknown, Pairs};
use cambrian_endpoint::Result;

const KEYS: [&str; 7] =
    ["initial_window_packets", "mtu", "pmtud", "hystart", "pacing", "ahead", "max_ack_delay_ms"];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_MTU_BYTES: usize = 1472;

/// The knobs that were set; `None` leaves quiche's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Initial congestion window in packets of `mtu` (quiche: 10).
    pub initial_window_packets: Option<usize>,
    /// UDP payload in bytes (quiche: 1200); what path-MTU discovery ends at, if that is on.
    pub mtu_bytes: Option<usize>,
    /// Path-MTU discovery (quiche: off).
    pub pmtud: Option<bool>,
    /// HyStart++ of cubic and reno (quiche: on).
    pub hystart: Option<bool>,
    /// Pacing, by those controllers that pace (quiche: on).
    pub pacing: Option<bool>,
    /// Whether packets are made before the time at which they are to be sent, as far as the window allows. quiche's
    /// documentation asks for that (on), but what has been made counts as in flight.
    pub ahead: Option<bool>,
    /// How long this side may hold an acknowledgement back (quiche: 25 ms).
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
                "mtu" => settings.mtu_bytes = Some(number(key, value, 1200, MAX_MTU_BYTES)?),
                "pmtud" => settings.pmtud = Some(switch(key, value)?),
                "hystart" => settings.hystart = Some(switch(key, value)?),
                "pacing" => settings.pacing = Some(switch(key, value)?),
                "ahead" => settings.ahead = Some(switch(key, value)?),
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
            "mtu=1472",
            "pmtud=off",
            "hystart=off",
            "pacing=on",
            "ahead=off",
            "max_ack_delay_ms=5",
        ]);
        let expected = Settings {
            initial_window_packets: Some(32),
            mtu_bytes: Some(1472),
            pmtud: Some(false),
            hystart: Some(false),
            pacing: Some(true),
            ahead: Some(false),
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
