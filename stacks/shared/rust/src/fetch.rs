//! The client's side of a transfer, whatever carries it: what to ask for, and what has arrived.

use std::time::{Duration, Instant};

use crate::cli::ClientArguments;
use crate::error::{Error, Result};
use crate::{contract, hq};

const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// What one stream asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The path, beginning with `/`.
    pub path: String,
    /// Body bytes that it asks for, if it says.
    pub bytes: Option<u64>,
}

impl Request {
    /// The hq-interop request line.
    pub fn line(&self) -> Vec<u8> {
        hq::request(&self.path)
    }
}

/// One request a stream, in order: `--bytes` split evenly over `--streams`, or `--path` on each.
fn requests(arguments: &ClientArguments) -> impl DoubleEndedIterator<Item = Request> + '_ {
    let total = if arguments.bytes == 0 { hq::ENDLESS_BYTES } else { arguments.bytes };
    hq::split(total, arguments.streams).map(|bytes| match &arguments.path {
        Some(path) => Request { path: path.clone(), bytes: hq::bytes_of_path(path) },
        None => Request { path: hq::path_for(bytes), bytes: Some(bytes) },
    })
}

/// Keeps the books of a client: requests yet to be sent, streams that are open, bytes that have arrived.
#[derive(Debug)]
pub struct Fetch {
    /// Requests not yet sent, the last one first.
    waiting: Vec<Request>,
    /// Streams whose body has not ended.
    open_streams: usize,
    /// Body bytes that have been asked for, as far as the requests say.
    asked_bytes: u64,
    bytes: u64,
    next_progress: Option<Instant>,
    told_bytes: u64,
    finished: bool,
    error: Option<String>,
}

impl Fetch {
    pub fn new(arguments: &ClientArguments) -> Self {
        let waiting: Vec<_> = requests(arguments).rev().collect();
        Self {
            asked_bytes: waiting.iter().filter_map(|request| request.bytes).sum(),
            waiting,
            open_streams: 0,
            bytes: 0,
            next_progress: None,
            told_bytes: 0,
            finished: false,
            error: None,
        }
    }

    /// Are there requests that wait for a stream?
    pub fn wants_stream(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The request for a stream that has just been opened.
    pub fn next_request(&mut self) -> Option<Request> {
        let request = self.waiting.pop()?;
        self.open_streams += 1;
        Some(request)
    }

    /// Body bytes have arrived on some stream.
    pub fn received(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// The body of one stream has ended.
    pub fn stream_ended(&mut self) {
        self.open_streams = self.open_streams.saturating_sub(1);
        self.finished |= self.open_streams == 0 && self.waiting.is_empty();
    }

    /// The transfer cannot go on; the first reason counts.
    pub fn fail(&mut self, reason: String) {
        self.error.get_or_insert(reason);
        self.finished = true;
    }

    /// Nothing is left to wait for.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Tell how far it is, once a second and only where something has come. Call it once a wake-up.
    pub fn tell_progress(&mut self, now: Instant) {
        let due = *self.next_progress.get_or_insert(now + PROGRESS_INTERVAL);
        if now >= due {
            self.next_progress = Some(now + PROGRESS_INTERVAL);
            if self.bytes > self.told_bytes {
                contract::progress(self.bytes);
                self.told_bytes = self.bytes;
            }
        }
    }

    /// The `done` line and the client's outcome, given how its loop ended.
    pub fn done(self, outcome: Result<()>) -> Result<()> {
        let complete = self.complete();
        let outcome = outcome.and(self.error.map_or(Ok(()), |reason| Err(Error::Failed(reason))));
        let error = outcome.as_ref().err().map(ToString::to_string);
        contract::done(self.bytes, complete, error.as_deref());
        outcome
    }

    fn complete(&self) -> bool {
        self.finished && self.error.is_none() && self.bytes >= self.asked_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(bytes: u64, streams: u64, path: Option<&str>) -> ClientArguments {
        ClientArguments {
            connect: "127.0.0.1:4433".parse().unwrap(),
            server_name: "cambrian.test".into(),
            alpn: "hq-interop".into(),
            bytes,
            streams,
            path: path.map(ToOwned::to_owned),
            settings: Vec::new(),
        }
    }

    fn lines(arguments: &ClientArguments) -> Vec<String> {
        let mut fetch = Fetch::new(arguments);
        let lines = std::iter::from_fn(|| fetch.next_request());
        lines.map(|request| String::from_utf8(request.line()).unwrap()).collect()
    }

    #[test]
    fn requests_split_the_bytes() {
        assert_eq!(lines(&arguments(5, 2, None)), ["GET /3\r\n", "GET /2\r\n"]);
    }

    #[test]
    fn no_bytes_means_an_endless_body() {
        assert_eq!(lines(&arguments(0, 1, None)), ["GET /1000000000000\r\n"]);
    }

    #[test]
    fn a_path_is_asked_for_on_every_stream() {
        assert_eq!(lines(&arguments(0, 2, Some("/17"))), ["GET /17\r\n", "GET /17\r\n"]);
    }

    #[test]
    fn it_is_finished_when_the_last_stream_ends_and_complete_with_every_byte() {
        for (missing, complete) in [(0, true), (1, false)] {
            let mut fetch = Fetch::new(&arguments(10, 2, None));
            while fetch.next_request().is_some() {}
            fetch.received(5);
            fetch.stream_ended();
            assert!(!fetch.finished());
            fetch.received(5 - missing);
            fetch.stream_ended();
            assert_eq!((fetch.finished(), fetch.complete()), (true, complete));
        }
    }

    #[test]
    fn the_first_failure_is_the_outcome() {
        let mut fetch = Fetch::new(&arguments(10, 1, None));
        fetch.fail("first".into());
        fetch.fail("second".into());
        assert!(fetch.finished() && !fetch.complete());
        assert_eq!(fetch.done(Ok(())).unwrap_err().to_string(), "first");
    }
}
