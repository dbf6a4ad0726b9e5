//! The knobs that plant faults which are no parameter.

use std::time::Duration;

use cambrian_quinn_family::endpoint::settings::{boolean, number};
use cambrian_quinn_family::endpoint::Result;
use cambrian_quinn_family::transfers::Handover;

use crate::controllers::{
    CutPer, Faults, GrowthInRecovery, GrowthUnit, RecoveryStart, SsthreshAfterLoss, TimeoutWindow,
};
use crate::knobs::{seconds, word};

/// The names that `set` takes.
pub const KEYS: [&str; 20] = [
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
    "timeout_window",
    "srtt_gain",
    "lost_in_flight",
    "logged_window",
    "refuse_datagrams_every",
    "refused_datagrams",
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

/// What the log counts the window in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowUnit {
    Bytes,
    Packets,
}

/// Where the send buffer is bounded, the application writes so many bytes at a time.
const WRITE_BYTES: usize = 1000;

/// Where these knobs stand.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultKnobs {
    /// Of CUBIC and Reno.
    pub controller: Faults,
    pub silence: Silence,
    /// Share of a sample that is added to 7/8 of the smoothed RTT; `None`: quinn's smoothed RTT.
    pub srtt_gain: Option<f64>,
    /// Lost packets stay in the count of bytes in flight.
    pub lost_in_flight: bool,
    pub logged_window: WindowUnit,
    /// Of so many datagrams the socket refuses the last few, and nobody notices; 0: of none.
    pub refuse_datagrams_every: u64,
    pub refused_datagrams: u64,
    /// The application hands its bytes over in pieces of so many, each of which leaves in a packet of its own.
    pub piece_bytes: Option<usize>,
    /// Bytes that the connection holds unacknowledged at the most.
    pub send_buffer_bytes: Option<u64>,
}

impl FaultKnobs {
    pub const NONE: Self = Self {
        controller: Faults::NONE,
        silence: Silence { after_packets: f64::INFINITY, lasts: Duration::from_secs(1) },
        srtt_gain: None,
        lost_in_flight: false,
        logged_window: WindowUnit::Bytes,
        refuse_datagrams_every: 0,
        refused_datagrams: 1,
        piece_bytes: None,
        send_buffer_bytes: None,
    };

    /// Does the socket refuse the n-th datagram (from 1)?
    pub fn refuses_datagram(&self, n: u64) -> bool {
        let every = self.refuse_datagrams_every;
        every > 0 && (n - 1) % every + self.refused_datagrams >= every
    }

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
            "timeout_window" => {
                controller.timeout_window = word(
                    key,
                    value,
                    &[
                        ("kept", TimeoutWindow::Kept),
                        ("reset", TimeoutWindow::Reset),
                        ("restored", TimeoutWindow::Restored),
                    ],
                )?;
            }
            "srtt_gain" => {
                self.srtt_gain = or_none(value, None, || number(key, value, 0.001, 1.0).map(Some))?;
            }
            "lost_in_flight" => self.lost_in_flight = boolean(key, value)?,
            "logged_window" => {
                self.logged_window =
                    word(key, value, &[("bytes", WindowUnit::Bytes), ("packets", WindowUnit::Packets)])?;
            }
            "refuse_datagrams_every" => {
                self.refuse_datagrams_every = or_none(value, 0, || number(key, value, 2, 1_000_000))?;
            }
            "refused_datagrams" => self.refused_datagrams = number(key, value, 1, 1000)?,
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
