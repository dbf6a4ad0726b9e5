//! HTTP/3 (RFC 9114) as far as a page or a bulk body wants it: requests in, responses out, QPACK's static table only
//! (RFC 9204). It sees the bytes of streams and owns none, so that any QUIC library may carry it.

mod frame;
mod qpack;

use frame::{put_varint, Frame, FrameReader};
pub use qpack::Malformed;

/// What either side sends first, on a unidirectional stream that stays open: the type of a control stream and the
/// SETTINGS frame that allows no dynamic table (QPACK_MAX_TABLE_CAPACITY and QPACK_BLOCKED_STREAMS are 0).
pub const CONTROL_STREAM: [u8; 7] = [0x00, frame::SETTINGS as u8, 4, 0x01, 0, 0x07, 0];

/// H3_MESSAGE_ERROR: the application error code for a message that cannot be understood.
pub const MESSAGE_ERROR: u32 = 0x010e;

/// The bytes of a request stream: GET `path` from `authority`.
pub fn request(authority: &str, path: &str) -> Vec<u8> {
    headers(&qpack::encode_request(authority, path))
}

/// The bytes of a response up to its body of `body_bytes`, which is to follow and to end the stream.
pub fn response_head(status: u16, content_type: &str, body_bytes: u64) -> Vec<u8> {
    let mut head = headers(&qpack::encode_response(status, content_type, body_bytes));
    if body_bytes > 0 {
        put_varint(&mut head, frame::DATA);
        put_varint(&mut head, body_bytes);
    }
    head
}

fn headers(section: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(section.len() + 4);
    put_varint(&mut bytes, frame::HEADERS);
    put_varint(&mut bytes, section.len() as u64);
    bytes.extend_from_slice(section);
    bytes
}

/// A request's method and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
}

/// Reads a request out of its stream.
#[derive(Debug, Default)]
pub struct RequestReader {
    frames: FrameReader,
    request: Option<Result<Request, Malformed>>,
    answered: bool,
}

impl RequestReader {
    /// More of the stream has arrived. A request's body is passed over.
    pub fn push(&mut self, data: &[u8]) {
        let Self { frames, request, .. } = self;
        frames.push(data, |frame| match frame {
            Frame::Headers(section) => {
                request.get_or_insert_with(|| {
                    let fields = qpack::decode(section)?;
                    Ok(Request {
                        method: fields.method.ok_or(Malformed)?,
                        path: fields.path.ok_or(Malformed)?,
                    })
                });
            }
            Frame::Data(_) => {}
            Frame::TooLong => {
                request.get_or_insert(Err(Malformed));
            }
        });
    }

    /// The request, once, as soon as it is whole; a stream that ends before is malformed.
    pub fn take(&mut self, stream_ended: bool) -> Option<Result<Request, Malformed>> {
        if self.answered {
            return None;
        }
        let request = self.request.take().or_else(|| stream_ended.then_some(Err(Malformed)))?;
        self.answered = true;
        Some(request)
    }
}

/// Reads a response out of its stream.
#[derive(Debug, Default)]
pub struct ResponseReader {
    frames: FrameReader,
    status: Option<Result<u16, Malformed>>,
}

impl ResponseReader {
    /// More of the stream has arrived; returns the body bytes among it.
    pub fn push(&mut self, data: &[u8]) -> u64 {
        let mut body_bytes = 0;
        let Self { frames, status } = self;
        frames.push(data, |frame| match frame {
            Frame::Headers(section) => {
                status.get_or_insert_with(|| qpack::decode(section)?.status.ok_or(Malformed));
            }
            Frame::Data(bytes) => body_bytes += bytes,
            Frame::TooLong => {
                status.get_or_insert(Err(Malformed));
            }
        });
        body_bytes
    }

    /// The response's status, once it has come.
    pub fn status(&self) -> Option<Result<u16, Malformed>> {
        self.status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back_however_it_is_cut() {
        let bytes = request("cambrian.test:4433", "/img/1.jpg");
        for size in 1..=bytes.len() {
            let mut reader = RequestReader::default();
            bytes.chunks(size).for_each(|piece| reader.push(piece));
            let expected = Request { method: "GET".into(), path: "/img/1.jpg".into() };
            assert_eq!((reader.take(false), reader.take(true)), (Some(Ok(expected)), None), "{size}");
        }
    }

    #[test]
    fn a_stream_that_ends_early_is_malformed() {
        let mut reader = RequestReader::default();
        reader.push(&request("cambrian.test", "/")[..5]);
        assert_eq!((reader.take(false), reader.take(true)), (None, Some(Err(Malformed))));
    }

    #[test]
    fn a_response_reads_back_with_its_body_counted() {
        let mut bytes = response_head(404, "text/html; charset=utf-8", 3);
        bytes.extend_from_slice(b"abc");
        for size in 1..=bytes.len() {
            let mut reader = ResponseReader::default();
            let body_bytes: u64 = bytes.chunks(size).map(|piece| reader.push(piece)).sum();
            assert_eq!((body_bytes, reader.status()), (3, Some(Ok(404))), "{size}");
        }
    }
}
