//! The transport log of the endpoint contract: one CSV row per controller event, written in blocks.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Anchor;
use crate::error::{Error, Result};

const HEADER: &str = "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n";
const BLOCK_BYTES: usize = 64 * 1024;
const LONGEST_ROW_BYTES: usize = 256;

/// What happened to a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Event {
    Start,
    Ack,
    /// A congestion event.
    Loss,
    /// A retransmission timeout.
    Rto,
    /// A probe timeout.
    Pto,
    /// Nothing in particular: it was polled.
    #[default]
    Sample,
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Ack => "ack",
            Self::Loss => "loss",
            Self::Rto => "rto",
            Self::Pto => "pto",
            Self::Sample => "sample",
        }
    }
}

/// A controller as it stands after an event; `None` where the stack does not say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    pub event: Event,
    pub cwnd_bytes: Option<u64>,
    pub ssthresh_bytes: Option<u64>,
    pub in_flight_bytes: Option<u64>,
    pub srtt: Option<Duration>,
    pub pacing_bps: Option<u64>,
    /// The stack's own word for what the controller does, in lower case.
    pub state: Option<&'a str>,
}

/// A log that the controllers of all connections share.
pub type SharedLog = Arc<Mutex<TransportLog>>;

pub struct TransportLog {
    anchor: Anchor,
    block: String,
    writer: Box<dyn Write + Send>,
    failed: bool,
}

impl TransportLog {
    /// Create (or empty) the file at `path`; `anchor` tells the time of its rows.
    pub fn create(path: &Path, anchor: Anchor) -> Result<SharedLog> {
        let file = std::fs::File::create(path)
            .map_err(|error| Error::failed(&format!("--transport-log {}", path.display()), error))?;
        Ok(Self::to_writer(Box::new(file), anchor))
    }

    /// Log to any writer; rows reach it in blocks.
    pub fn to_writer(writer: Box<dyn Write + Send>, anchor: Anchor) -> SharedLog {
        let mut block = String::with_capacity(BLOCK_BYTES);
        block.push_str(HEADER);
        Arc::new(Mutex::new(Self { anchor, block, writer, failed: false }))
    }

    /// Append one row, of the moment `at`.
    pub fn record(&mut self, at: Instant, row: &Row<'_>) {
        self.record_ns(self.anchor.realtime_ns(at), row);
    }

    /// Append one row, of `time_ns` on CLOCK_REALTIME.
    pub fn record_ns(&mut self, time_ns: u64, row: &Row<'_>) {
        if self.block.len() + LONGEST_ROW_BYTES > BLOCK_BYTES {
            self.flush();
        }
        write_row(&mut self.block, time_ns, row);
    }

    /// Hand over what is buffered. A failure (a full disk) is told once and does not stop the transfer.
    pub fn flush(&mut self) {
        if let Err(error) = self.writer.write_all(self.block.as_bytes()).and_then(|()| self.writer.flush()) {
            if !std::mem::replace(&mut self.failed, true) {
                eprintln!("the transport log is incomplete: {error}");
            }
        }
        self.block.clear();
    }
}

/// Lock a shared log; a panic elsewhere does not make its rows worse.
pub fn lock(log: &SharedLog) -> MutexGuard<'_, TransportLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_row(out: &mut String, time_ns: u64, row: &Row<'_>) {
    let number = |out: &mut String, value: Option<u64>| {
        if let Some(value) = value {
            let _ = write!(out, "{value}");
        }
        out.push(',');
    };
    let _ = write!(out, "{time_ns},{},", row.event.name());
    number(out, row.cwnd_bytes);
    number(out, row.ssthresh_bytes);
    number(out, row.in_flight_bytes);
    number(out, row.srtt.map(|srtt| srtt.as_micros() as u64));
    number(out, row.pacing_bps);
    out.push_str(row.state.unwrap_or_default());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    struct Blocks(mpsc::Sender<Vec<u8>>);

    impl Write for Blocks {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            self.0.send(data.to_vec()).unwrap();
            Ok(data.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn row() -> Row<'static> {
        Row {
            event: Event::Ack,
            cwnd_bytes: Some(12_000),
            ssthresh_bytes: Some(6_000),
            in_flight_bytes: Some(1_200),
            srtt: Some(Duration::from_nanos(50_123_456)),
            pacing_bps: None,
            state: Some("slow_start"),
        }
    }

    #[test]
    fn a_row_has_the_columns_of_the_header() {
        let mut out = String::new();
        write_row(&mut out, 1_800_000_000_000_000_001, &row());
        assert_eq!(out, "1800000000000000001,ack,12000,6000,1200,50123,,slow_start\n");
        assert_eq!(out.matches(',').count(), HEADER.matches(',').count());
    }

    #[test]
    fn what_the_stack_does_not_say_is_empty() {
        let silent = Row { event: Event::Loss, ..Row::default() };
        let mut out = String::new();
        write_row(&mut out, 7, &silent);
        assert_eq!(out, "7,loss,,,,,,\n");
    }

    #[test]
    fn rows_are_written_in_blocks_of_at_most_64_kib_and_none_is_lost() {
        let (sender, blocks) = mpsc::channel();
        let log = TransportLog::to_writer(Box::new(Blocks(sender)), Anchor::now());
        for _ in 0..5_000 {
            lock(&log).record(Instant::now(), &row());
        }
        lock(&log).flush();
        let blocks: Vec<_> = blocks.try_iter().collect();
        assert!(blocks.len() > 1 && blocks.iter().all(|block| block.len() <= BLOCK_BYTES));
        let lines = blocks.concat().iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(lines, 1 + 5_000);
    }
}
