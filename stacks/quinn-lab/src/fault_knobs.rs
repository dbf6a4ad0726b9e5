//! The knobs that plant faults which are no parameter.

use std::time::Duration;

use cambrian_quinn_family::endpoint::settings::{boolean, number};
use cambrian_quinn_family::endpoint::Result;
use cambrian_quinn_family::transfers::Handover;

use crate::controllers::{CutPer, Faults, GrowthInRecovery, GrowthUnit, RecoveryStart, SsthreshAfterLoss};
use crate::knobs::{seconds, word};

/// The names that `set` takes.
pub const KEYS: [&str; 14] = [
    "cut_per",
    "recovery_start",
    "ignore_event_every",
    "event_min_packets",
    "ssthresh_after_loss",
    "growth_in_recovery",
    "ack_count",
    "growth_unit",
    "app_limited_growth",
    "ecn_reaction",
    "silence_after_packets",
    "silence_ms",
    "piece_bytes",
    "send_buffer_bytes",
];

/// A sender that says nothing for a while after a burst of losses, whatever its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silence {
    /// Packets lost in one round trip that make it fall silent; infinite: none do.
    pub after_packets: f64,
    pub lasts: Duration,
}

/// Where the send buffer is bounded, the application writes so many bytes at a time.
const WRITE_BYTES: usize = 1000;

/// Where these knobs stand.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultKnobs {
    /// Of CUBIC and Reno.
    pub controller: Faults,
    pub silence: Silence,
    /// The application hands its bytes over in pieces of so many, each of which leaves in a packet of its own.
    pub piece_bytes: Option<usize>,
    /// Bytes that the connection holds unacknowledged at the most.
    pub send_buffer_bytes: Option<u64>,
}

impl FaultKnobs {
    pub const NONE: Self = Self {
        controller: Faults::NONE,
        silence: Silence { after_packets: f64::INFINITY, lasts: Duration::from_secs(1) },
        piece_bytes: None,
        send_buffer_bytes: None,
    };

    /// How the application hands its bytes over.
    pub fn handover(&self) -> Handover {
        match (self.piece_bytes, self.send_buffer_bytes) {
            (Some(bytes), _) => Handover::OneADatagram(bytes),
            (None, Some(_)) => Handover::Chunks(WRITE_BYTES),
            (None, None) => Handover::Whole,
        }
    }

    /// Turn a knob, if it is one of `KEYS`; returns whether it was. A bad value is a usage error.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        let controller = &mut self.controller;
        match key {
            "cut_per" => {
                controller.cut_per =
                    word(key, value, &[("event", CutPer::Event), ("packet", CutPer::Packet)])?;
            }
            "recovery_start" => {
                controller.recovery_start =
                    word(key, value, &[("found", RecoveryStart::Found), ("sent", RecoveryStart::Sent)])?;
            }
            "ignore_event_every" => {
                controller.ignore_event_every = or_none(value, 0, || number(key, value, 2, 1000))?;
            }
            "event_min_packets" => controller.event_min_packets = number(key, value, 1.0, 1e6)?,
            "ssthresh_after_loss" => {
                controller.ssthresh_after_loss = word(
                    key,
                    value,
                    &[
                        ("reduced", SsthreshAfterLoss::Reduced),
                        ("window", SsthreshAfterLoss::Window),
                        ("infinite", SsthreshAfterLoss::Infinite),
                    ],
                )?;
            }
            "growth_in_recovery" => {
                controller.growth_in_recovery = word(
                    key,
                    value,
                    &[
                        ("none", GrowthInRecovery::Off),
                        ("normal", GrowthInRecovery::On),
                        ("inflates", GrowthInRecovery::Inflates),
                    ],
                )?;
            }
            "ack_count" => controller.ack_count = number(key, value, 0.1, 10.0)?,
            "growth_unit" => {
                controller.growth_unit = word(
                    key,
                    value,
                    &[
                        ("bytes", GrowthUnit::Bytes),
                        ("packets", GrowthUnit::Packets),
                        ("acks", GrowthUnit::Acks),
                    ],
                )?;
            }
            "app_limited_growth" => controller.app_limited_growth = boolean(key, value)?,
            "ecn_reaction" => controller.ecn_reaction = boolean(key, value)?,
            "silence_after_packets" => {
                self.silence.after_packets = or_none(value, f64::INFINITY, || number(key, value, 1.0, 1e6))?;
            }
            "silence_ms" => self.silence.lasts = seconds(key, value, 1e-3)?,
            "piece_bytes" => {
                self.piece_bytes = or_none(value, None, || number(key, value, 1, 1400).map(Some))?;
            }
            "send_buffer_bytes" => {
                self.send_buffer_bytes =
                    or_none(value, None, || number(key, value, 3000, 1 << 30).map(Some))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What `none` stands for, or the value.
fn or_none<T>(value: &str, none: T, given: impl FnOnce() -> Result<T>) -> Result<T> {
    if value == "none" {
        Ok(none)
    } else {
        given()
    }
}
