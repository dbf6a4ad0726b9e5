//! The knobs of quinn that `--set KEY=VALUE` reaches.

use crate::error::{Error, Result};

/// The knobs that were set; `None` leaves quinn's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `initial_window`: initial congestion window in bytes (quinn: 12,000 for cubic and reno, 240,000 for bbr).
    pub initial_window_bytes: Option<u64>,
    /// `packet_threshold`: packets of reordering before a packet counts as lost (quinn: 3).
    pub packet_threshold: Option<u32>,
    /// `time_threshold`: the same in time, as a multiple of the RTT (quinn: 1.125).
    pub time_threshold: Option<f32>,
    /// `mtu`: UDP payload in bytes before path-MTU discovery has probed (quinn: 1200).
    pub initial_mtu_bytes: Option<u16>,
    /// `ack_eliciting_threshold`: the peer is asked (by the ACK-frequency extension) to acknowledge once it has
    /// received more than this many ack-eliciting packets (quinn: the extension is not used, every second packet).
    pub ack_eliciting_threshold: Option<u32>,
}

const KEYS: &str = "initial_window, packet_threshold, time_threshold, mtu, ack_eliciting_threshold";

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_MTU_BYTES: u16 = 1472;

impl Settings {
    /// Take one `KEY=VALUE`. An unknown key or a bad value is a usage error; a switch that quinn lacks is
    /// unsupported.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| Error::Usage(format!("--set wants KEY=VALUE, not {assignment:?}")))?;
        match key {
            "initial_window" => self.initial_window_bytes = Some(number(key, value, 2400, u32::MAX.into())?),
            "packet_threshold" => self.packet_threshold = Some(number(key, value, 3, u32::MAX)?),
            "time_threshold" => self.time_threshold = Some(number(key, value, 1.0, 1000.0)?),
            "mtu" => self.initial_mtu_bytes = Some(number(key, value, 1200, MAX_MTU_BYTES)?),
            "ack_eliciting_threshold" => {
                self.ack_eliciting_threshold = Some(number(key, value, 0, u32::MAX)?)
            }
            "pacing" => return Err(Error::Unsupported("quinn always paces; it has no switch for it".into())),
            _ => return Err(Error::Usage(format!("--set: unknown key {key:?}; there are: {KEYS}"))),
        }
        Ok(())
    }
}

/// `value` as a number in `low..=high`.
fn number<T>(key: &str, value: &str, low: T, high: T) -> Result<T>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    value
        .parse()
        .ok()
        .filter(|number| (&low..=&high).contains(&number))
        .ok_or_else(|| Error::Usage(format!("--set {key}={value}: wants a number from {low} to {high}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_taken() {
        let mut settings = Settings::default();
        for assignment in [
            "initial_window=38400",
            "packet_threshold=30",
            "time_threshold=1.5",
            "mtu=1472",
            "ack_eliciting_threshold=9",
        ] {
            settings.set(assignment).unwrap();
        }
        let expected = Settings {
            initial_window_bytes: Some(38_400),
            packet_threshold: Some(30),
            time_threshold: Some(1.5),
            initial_mtu_bytes: Some(1472),
            ack_eliciting_threshold: Some(9),
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in ["", "mtu", "mtu=1500", "mtu=x", "packet_threshold=2", "time_threshold=NaN", "cwnd=1"] {
            assert!(matches!(Settings::default().set(bad), Err(Error::Usage(_))), "{bad}");
        }
    }

    #[test]
    fn pacing_is_unsupported() {
        assert!(matches!(Settings::default().set("pacing=off"), Err(Error::Unsupported(_))));
    }
}
