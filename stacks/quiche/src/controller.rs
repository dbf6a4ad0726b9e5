//! What quiche says of a connection's controller.
//!
//! quiche has no getter for the CCA, the slow-start threshold, the bytes in flight or the controller's state, but each
//! packet that it sends makes it write a trace line with its recovery's `Debug` output.

use cambrian_endpoint::probe::{self, after, number_after};
use quiche::{Connection, PathStats};

/// Make samples possible; once a process.
pub fn install() {
    probe::install("quiche::recovery");
}

/// The path in use: quiche's list begins with the oldest.
pub fn active_path(connection: &Connection) -> Option<PathStats> {
    connection.path_stats().find(|path| path.active)
}

/// Take a sample at the next packet that is sent.
pub fn arm() {
    probe::arm(" timer=");
}

/// The sample, if a packet has been sent since `arm`; `cwnd_bytes` is the window at this moment.
pub fn take(cwnd_bytes: u64) -> Option<Sample> {
    probe::take(|line| Some(parse(line, cwnd_bytes)))
}

/// A controller as quiche's trace line has it; `None` where the line does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    pub cca: Option<&'static str>,
    pub ssthresh_bytes: Option<u64>,
    pub in_flight_bytes: Option<u64>,
    pub pacing_bps: Option<u64>,
    pub state: Option<&'static str>,
    /// When the last congestion event happened, by quiche's clock (seconds and nanoseconds).
    pub recovery_start: Option<(u64, u64)>,
}

impl Sample {
    /// What is known of cubic and reno when a loss has just cut the window: that the threshold is the window, and that
    /// slow start of either kind has ended.
    pub fn of_cut(cwnd_bytes: u64) -> Self {
        Self { ssthresh_bytes: Some(cwnd_bytes), state: Some("congestion_avoidance"), ..Self::default() }
    }
}

fn parse(line: &str, cwnd_bytes: u64) -> Sample {
    let number = |key: &str| number_after(line, key);
    // usize::MAX stands for a threshold that has not been set.
    let ssthresh_bytes = number(" ssthresh=").filter(|&bytes| bytes != u64::MAX);
    let recovery_start = after(line, "congestion_recovery_start_time=Some(")
        .and_then(|text| Some((number_after(text, "tv_sec: ")?, number_after(text, "tv_nsec: ")?)));
    let (cca, state) = controller(line, cwnd_bytes < ssthresh_bytes.unwrap_or(u64::MAX));
    Sample {
        cca,
        ssthresh_bytes,
        in_flight_bytes: number("bytes_in_flight="),
        pacing_bps: after(line, "pacer=Pacer { enabled: true,")
            .and_then(|text| number_after(text, " rate: "))
            .map(|rate| rate * 8),
        state,
        recovery_start,
    }
}

/// Which controller wrote the line, and its state by the rules of quiche's own `state_str`.
fn controller(line: &str, below_ssthresh: bool) -> (Option<&'static str>, Option<&'static str>) {
    let loss_based = || {
        if line.contains("css_start_time=Some") {
            "conservative_slow_start"
        } else if below_ssthresh {
            "slow_start"
        } else {
            "congestion_avoidance"
        }
    };
    if let Some(text) = after(line, "sender: BBRv2 { mode: ") {
        (Some("bbr2_gcongestion"), bbr_state(text))
    } else if let Some(text) = after(line, "bbr2={ state=") {
        (Some("bbr2"), bbr_state(text))
    } else if let Some(text) = after(line, "bbr={ state=") {
        (Some("bbr"), bbr_state(text))
    } else if line.contains("cubic={") {
        (Some("cubic"), Some(loss_based()))
    } else if line.contains(" ssthresh=") {
        // Only reno adds nothing of its own.
        (Some("reno"), Some(loss_based()))
    } else {
        (None, None)
    }
}

/// The state that `text` begins with, in the words of BBR's papers.
fn bbr_state(text: &str) -> Option<&'static str> {
    let length = text.find(|character: char| !character.is_alphanumeric()).unwrap_or(text.len());
    match &text[..length] {
        "Startup" => Some("startup"),
        "Drain" => Some("drain"),
        "ProbeBW" => Some("probe_bw"),
        "ProbeBWDOWN" => Some("probe_bw_down"),
        "ProbeBWCRUISE" => Some("probe_bw_cruise"),
        "ProbeBWREFILL" => Some("probe_bw_refill"),
        "ProbeBWUP" => Some("probe_bw_up"),
        "ProbeRTT" => Some("probe_rtt"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGACY: &str = "01ab timer=49ms latest_rtt=50ms srtt=Some(50ms) min_rtt=50ms rttvar=1ms cwnd=24000 \
        ssthresh=18446744073709551615 bytes_in_flight=23999 app_limited=false congestion_recovery_start_time=None \
        Rate { delivered: 1 } hystart=window_end=Some(1) css_start_time=None css_round_count=0 ";

    #[test]
    fn a_loss_based_line() {
        let line = format!("{LEGACY}cubic={{ k=0 w_max=0 }} ");
        let sample = parse(&line, 24_000);
        assert_eq!((sample.cca, sample.state), (Some("cubic"), Some("slow_start")));
        assert_eq!((sample.ssthresh_bytes, sample.in_flight_bytes), (None, Some(23_999)));
        assert_eq!((sample.pacing_bps, sample.recovery_start), (None, None));

        let line = line.replace("18446744073709551615", "16800").replace(
            "recovery_start_time=None",
            "recovery_start_time=Some(Instant { tv_sec: 12, tv_nsec: 345 })",
        );
        let sample = parse(&line, 16_800);
        assert_eq!((sample.ssthresh_bytes, sample.state), (Some(16_800), Some("congestion_avoidance")));
        assert_eq!(sample.recovery_start, Some((12, 345)));
    }

    #[test]
    fn reno_is_the_one_that_adds_nothing() {
        let line =
            LEGACY.replace("css_start_time=None", "css_start_time=Some(Instant { tv_sec: 1, tv_nsec: 2 })");
        let sample = parse(&line, 24_000);
        assert_eq!((sample.cca, sample.state), (Some("reno"), Some("conservative_slow_start")));
        assert_eq!(sample.recovery_start, None);
    }

    #[test]
    fn older_bbrs_with_their_pacer() {
        let pacer = "pacer=Pacer { enabled: true, capacity: 12000, used: 0, rate: 2500000, last_update: 1 } ";
        let line = format!("{LEGACY}{pacer}bbr2={{ state=ProbeBWCRUISE in_recovery=false ");
        let sample = parse(&line, 24_000);
        assert_eq!((sample.cca, sample.state), (Some("bbr2"), Some("probe_bw_cruise")));
        assert_eq!(sample.pacing_bps, Some(20_000_000));
        assert_eq!(parse(&line.replace("enabled: true", "enabled: false"), 24_000).pacing_bps, None);
        assert_eq!(parse(&format!("{LEGACY}bbr={{ state=ProbeRTT btlbw=1 "), 1).state, Some("probe_rtt"));
    }

    #[test]
    fn gcongestion() {
        let line =
            "01ab timer=None rtt_stats=RttStats { } bytes_in_flight=12000 Pacer { enabled: true, sender: \
                    BBRv2 { mode: Startup(Startup { model";
        let sample = parse(line, 24_000);
        assert_eq!((sample.cca, sample.state), (Some("bbr2_gcongestion"), Some("startup")));
        assert_eq!((sample.ssthresh_bytes, sample.in_flight_bytes), (None, Some(12_000)));
    }

    #[test]
    fn other_text_says_nothing() {
        assert_eq!(parse("01ab packet newly acked 7", 1), Sample::default());
    }
}
