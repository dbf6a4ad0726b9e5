//! hq-interop: HTTP/0.9 over QUIC. A request is one line, a response is a bare body.

/// Body bytes that an endless request asks for: more than any trial can carry.
pub const ENDLESS_BYTES: u64 = 1_000_000_000_000;

/// Longest request line that a server reads.
pub const MAX_REQUEST_BYTES: usize = 4096;

/// The request line for `path`.
pub fn request(path: &str) -> Vec<u8> {
    format!("GET {path}\r\n").into_bytes()
}

/// The path that asks for `bytes` bytes.
pub fn path_for(bytes: u64) -> String {
    format!("/{bytes}")
}

/// The body bytes that a request line (with or without its CR LF) asks for; `None` if it is not `GET /N`.
pub fn requested_bytes(line: &[u8]) -> Option<u64> {
    std::str::from_utf8(line).ok()?.trim_end().strip_prefix("GET /")?.parse().ok()
}

/// `total` bytes split evenly over `streams`; the first ones carry the remainder.
pub fn split(total: u64, streams: u64) -> impl Iterator<Item = u64> {
    (0..streams).map(move |stream| total / streams + u64::from(stream < total % streams))
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
}
