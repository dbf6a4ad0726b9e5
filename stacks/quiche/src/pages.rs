//! HTTP/3 at the server, by quiche's own module: files of a folder, or `GET /N` for N bytes.
//!
//! Streams are written in the order of their RFC 9218 priorities, as in quiche's own server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cambrian_endpoint::hq::{bytes_of_path, BLOCK};
use quiche::h3::{self, Event, Header, NameValue, Priority};
use quiche::Connection;

use crate::link::Session;
use crate::transfers::{room, Tally};

/// The application on one connection.
pub struct Pages {
    pub tally: Tally,
    www: Option<PathBuf>,
    h3: Option<h3::Connection>,
    responses: HashMap<u64, Response>,
}

struct Response {
    headers: Option<Vec<Header>>,
    priority: Priority,
    body: Body,
}

enum Body {
    /// What is left of a generated body.
    Generated(u64),
    /// A file, and how much of it has been written.
    File(Vec<u8>, usize),
}

impl Body {
    fn len(&self) -> u64 {
        match self {
            Self::Generated(left) => *left,
            Self::File(bytes, written) => (bytes.len() - written) as u64,
        }
    }

    /// The next bytes, and whether they are the last.
    fn next(&self) -> (&[u8], bool) {
        match self {
            Self::Generated(left) => {
                let length = usize::try_from(*left).map_or(BLOCK.len(), |left| left.min(BLOCK.len()));
                (&BLOCK[..length], length as u64 == *left)
            }
            Self::File(bytes, written) => (&bytes[*written..], true),
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Generated(left) => *left -= count as u64,
            Self::File(_, written) => *written += count,
        }
    }
}

impl Response {
    fn new(request: &[Header], www: Option<&Path>) -> Self {
        let value = |name: &[u8]| request.iter().find(|header| header.name() == name).map(NameValue::value);
        let path = value(b":path").and_then(|path| std::str::from_utf8(path).ok()).unwrap_or_default();
        let (status, body) = match value(b":method") {
            Some(b"GET") => match find(path, www) {
                Some(body) => ("200", body),
                None => ("404", Body::Generated(0)),
            },
            _ => ("405", Body::Generated(0)),
        };
        let headers = vec![
            Header::new(b":status", status.as_bytes()),
            Header::new(b"content-length", body.len().to_string().as_bytes()),
            Header::new(b"content-type", content_type(path).as_bytes()),
        ];
        let priority =
            value(b"priority").and_then(|value| Priority::try_from(value).ok()).unwrap_or_default();
        Self { headers: Some(headers), priority, body }
    }

    /// Write at most `room` bytes of the body; returns whether anything was written, and whether the response has ended.
    fn write(
        &mut self,
        id: u64,
        h3: &mut h3::Connection,
        connection: &mut Connection,
        mut room: u64,
    ) -> h3::Result<(bool, bool)> {
        let mut wrote = false;
        if let Some(headers) = &self.headers {
            let ended = self.body.len() == 0;
            h3.send_response_with_priority(connection, id, headers, &self.priority, ended)?;
            self.headers = None;
            if ended {
                return Ok((true, true));
            }
            wrote = true;
        }
        while room > 0 {
            let (bytes, last) = self.body.next();
            let length = usize::try_from(room).map_or(bytes.len(), |most| most.min(bytes.len()));
            let (bytes, last) = (&bytes[..length], last && length == bytes.len());
            match h3.send_body(connection, id, bytes, last) {
                Ok(count) => {
                    wrote |= count > 0;
                    self.body.advance(count);
                    room -= count as u64;
                    if self.body.len() == 0 {
                        return Ok((true, true));
                    }
                }
                Err(h3::Error::Done) => return Ok((wrote, false)),
                Err(error) => return Err(error),
            }
        }
        Ok((wrote, false))
    }
}

/// The body that `path` names.
fn find(path: &str, www: Option<&Path>) -> Option<Body> {
    let Some(folder) = www else { return bytes_of_path(path).map(Body::Generated) };
    let file = if path == "/" { "index.html" } else { path.strip_prefix('/')? };
    if file.split('/').any(|part| part == ".." || part.is_empty()) {
        return None;
    }
    std::fs::read(folder.join(file)).ok().map(|bytes| Body::File(bytes, 0))
}

fn content_type(path: &str) -> &'static str {
    if path == "/" || path.ends_with(".html") {
        "text/html; charset=utf-8"
    } else if path.ends_with(".jpg") {
        "image/jpeg"
    } else {
        "application/octet-stream"
    }
}

impl Pages {
    /// Serves `www`, or generated bodies without it.
    pub fn new(www: Option<PathBuf>) -> Self {
        Self { tally: Tally::default(), www, h3: None, responses: HashMap::new() }
    }

    fn on_event(&mut self, connection: &mut Connection, id: u64, event: Event) {
        match event {
            Event::Headers { list, .. } => {
                self.tally.requests += 1;
                self.responses.insert(id, Response::new(&list, self.www.as_deref()));
                self.write_stream(connection, id);
            }
            Event::Data => {
                // Bodies of requests are not wanted, but must be taken off the stream.
                let mut buffer = [0; 4096];
                while let Some(Ok(_)) = self.h3.as_mut().map(|h3| h3.recv_body(connection, id, &mut buffer)) {
                }
            }
            Event::PriorityUpdate => {
                let update = self.h3.as_mut().and_then(|h3| h3.take_last_priority_update(id).ok());
                let priority = update.and_then(|update| Priority::try_from(update.as_slice()).ok());
                if let (Some(response), Some(priority)) = (self.responses.get_mut(&id), priority) {
                    response.priority = priority;
                }
            }
            Event::Reset(_) => {
                self.responses.remove(&id);
            }
            Event::Finished | Event::GoAway => {}
        }
    }

    /// Returns whether anything was written.
    fn write_stream(&mut self, connection: &mut Connection, id: u64) -> bool {
        let (Some(h3), Some(response)) = (self.h3.as_mut(), self.responses.get_mut(&id)) else {
            return false;
        };
        let before = response.body.len();
        let room = room(connection, self.tally.bytes);
        let outcome = response.write(id, h3, connection, room);
        self.tally.bytes += before - response.body.len();
        match outcome {
            Ok((wrote, false)) => wrote,
            Ok((_, true)) => {
                self.responses.remove(&id);
                self.tally.answered.push(id);
                true
            }
            Err(h3::Error::StreamBlocked | h3::Error::Done) => false,
            Err(error) => {
                // The client wants no more of it.
                eprintln!("stream {id}: {error}");
                self.responses.remove(&id);
                false
            }
        }
    }
}

impl Session for Pages {
    fn read(&mut self, connection: &mut Connection) {
        if self.h3.is_none() && (connection.is_established() || connection.is_in_early_data()) {
            let created =
                h3::Config::new().and_then(|config| h3::Connection::with_transport(connection, &config));
            match created {
                Ok(h3) => self.h3 = Some(h3),
                Err(error) => eprintln!("{}: no HTTP/3: {error}", connection.trace_id()),
            }
        }
        while let Some(polled) = self.h3.as_mut().map(|h3| h3.poll(connection)) {
            match polled {
                Ok((id, event)) => self.on_event(connection, id, event),
                Err(h3::Error::Done) => break,
                Err(error) => {
                    eprintln!("{}: HTTP/3: {error}", connection.trace_id());
                    break;
                }
            }
        }
    }

    fn write(&mut self, connection: &mut Connection) -> bool {
        let mut wrote = false;
        for id in connection.writable() {
            wrote |= self.write_stream(connection, id);
        }
        wrote
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, path: &str, www: Option<&Path>) -> (Vec<Vec<u8>>, u64) {
        let request = [Header::new(b":method", method.as_bytes()), Header::new(b":path", path.as_bytes())];
        let response = Response::new(&request, www);
        let values = response.headers.unwrap().iter().map(|header| header.value().to_vec()).collect();
        (values, response.body.len())
    }

    #[test]
    fn generated_bodies() {
        let (headers, length) = ask("GET", "/100000", None);
        assert_eq!(
            (headers[0].as_slice(), headers[1].as_slice(), length),
            (&b"200"[..], &b"100000"[..], 100_000)
        );
        assert_eq!(ask("GET", "/x", None).0[0], b"404");
        assert_eq!(ask("POST", "/1", None).0[0], b"405");
    }

    #[test]
    fn files_and_what_is_none() {
        let www = std::env::temp_dir().join(format!("cambrian-pages-{}", std::process::id()));
        std::fs::create_dir_all(www.join("a")).unwrap();
        std::fs::write(www.join("index.html"), "hello").unwrap();
        std::fs::write(www.join("a/b.jpg"), "jpeg!!").unwrap();
        let values = |path| ask("GET", path, Some(&www));
        assert_eq!(values("/").0, [&b"200"[..], b"5", b"text/html; charset=utf-8"]);
        assert_eq!(values("/a/b.jpg").0, [&b"200"[..], b"6", b"image/jpeg"]);
        for missing in ["/c", "/../index.html", "//index.html", "", "/a"] {
            assert_eq!(values(missing).0[0], b"404", "{missing}");
        }
        std::fs::remove_dir_all(www).unwrap();
    }

    #[test]
    fn a_body_is_handed_out_once() {
        let mut body = Body::Generated(BLOCK.len() as u64 + 5);
        assert_eq!((body.next().0.len(), body.next().1), (BLOCK.len(), false));
        body.advance(BLOCK.len());
        assert_eq!((body.next().0.len(), body.next().1), (5, true));
    }
}
