//! hq-interop: HTTP/0.9 over QUIC. A request is one line, a response is a bare body.

/// Body bytes that an endless request asks for: more than any trial can carry.
pub const ENDLESS_BYTES: u64 = 1_000_000_000_000;

/// Longest request line that a server reads.
pub const MAX_REQUEST_BYTES: usize = 4096;

/// What a server's bodies are made of. Views of this block are neither made nor copied.
pub static BLOCK: [u8; 64 * 1024] = [0; 64 * 1024];

/// The request line for `path`.
pub fn request(path: &str) -> Vec<u8> {
    format!("GET {path}\r\n").into_bytes()
}

/// The path that asks for `bytes` bytes.
pub fn path_for(bytes: u64) -> String {
    format!("/{bytes}")
}

/// The body bytes that a path asks for; `None` if it is not `/N`.
pub fn bytes_of_path(path: &str) -> Option<u64> {
    path.strip_prefix('/')?.parse().ok()
}

/// The body bytes that a request line (with or without its CR LF) asks for; `None` if it is not `GET /N`.
pub fn requested_bytes(line: &[u8]) -> Option<u64> {
    bytes_of_path(std::str::from_utf8(line).ok()?.trim_end().strip_prefix("GET ")?)
}

/// `total` bytes split evenly over `streams`; the first ones carry the remainder.
pub fn split(total: u64, streams: u64) -> impl DoubleEndedIterator<Item = u64> {
    (0..streams).map(move |stream| total / streams + u64::from(stream < total % streams))
}

/// What has arrived of one stream's request.
#[derive(Debug, Default)]
pub struct RequestLine {
    line: Vec<u8>,
    answered: bool,
}

impl RequestLine {
    /// More of the stream has arrived. What lies beyond the longest request is dropped.
    pub fn push(&mut self, data: &[u8]) {
        if !self.answered && self.line.len() <= MAX_REQUEST_BYTES {
            self.line.extend_from_slice(data);
        }
    }

    /// Once, as soon as the line has ended (or the stream, by `stream_ended`): the body bytes to answer with, or
    /// `Some(None)` for a request that is not `GET /N`.
    pub fn answer(&mut self, stream_ended: bool) -> Option<Option<u64>> {
        let ended = stream_ended || self.line.contains(&b'\n') || self.line.len() > MAX_REQUEST_BYTES;
        if !ended || self.answered {
            return None;
        }
        self.answered = true;
        Some(requested_bytes(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back() {
        assert_eq!(requested_bytes(&request(&path_for(ENDLESS_BYTES))), Some(ENDLESS_BYTES));
        assert_eq!(requested_bytes(b"GET /17"), Some(17));
    }

    #[test]
    fn other_requests_are_refused() {
        for line in [&b"GET /index.html\r\n"[..], b"POST /1\r\n", b"GET /-1\r\n", b"", b"\xff"] {
            assert_eq!(requested_bytes(line), None);
        }
    }

    #[test]
    fn a_split_keeps_every_byte() {
        assert_eq!(split(10, 3).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(split(ENDLESS_BYTES, 7).sum::<u64>(), ENDLESS_BYTES);
    }

    #[test]
    fn a_request_in_pieces_is_answered_once() {
        let mut request = RequestLine::default();
        request.push(b"GET /1");
        assert_eq!(request.answer(false), None);
        request.push(b"7\r\n");
        assert_eq!(request.answer(false), Some(Some(17)));
        assert_eq!(request.answer(true), None);
    }

    #[test]
    fn a_request_ends_with_its_stream_or_when_it_is_too_long() {
        let mut ended = RequestLine::default();
        ended.push(b"GET /17");
        assert_eq!(ended.answer(true), Some(Some(17)));
        let mut long = RequestLine::default();
        long.push(&[b'x'; MAX_REQUEST_BYTES + 1]);
        assert_eq!(long.answer(false), Some(None));
    }
}
