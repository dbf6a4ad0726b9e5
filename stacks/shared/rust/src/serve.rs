//! The server's side of the application protocols: what a request stream asks for, and what answers it.

use std::path::{Component, Path, PathBuf};

use crate::cli::ServerArguments;
use crate::error::{Error, Result};
use crate::h3::{self, Malformed, RequestReader};
use crate::hq::{self, RequestLine};

/// The application error code of hq-interop for a request that is not `GET /N`; the protocol defines none.
const HQ_BAD_REQUEST: u32 = 1;

/// What a server speaks, and serves.
#[derive(Clone, Debug)]
pub enum Service {
    /// hq-interop: generated bodies.
    Hq,
    /// HTTP/3: the files of a folder, or without one generated bodies.
    H3 { www: Option<PathBuf> },
}

/// One request stream, as far as it has come.
#[derive(Debug)]
pub enum Incoming {
    Hq(RequestLine),
    H3(RequestReader),
}

/// The bytes of a response stream: `content`, and after it `zeros` bytes of [`hq::BLOCK`].
#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    pub content: Vec<u8>,
    pub zeros: u64,
}

impl Service {
    /// What the command line asks for.
    pub fn new(arguments: &ServerArguments) -> Result<Self> {
        match (arguments.alpn.as_str(), &arguments.www) {
            ("h3", www) => Ok(Self::H3 { www: www.clone() }),
            (_, None) => Ok(Self::Hq),
            (alpn, Some(_)) => Err(Error::Usage(format!("--www wants --alpn h3, not {alpn}"))),
        }
    }

    /// What the server sends as soon as it can, on a unidirectional stream that stays open.
    pub fn control_stream(&self) -> Option<&'static [u8]> {
        match self {
            Self::Hq => None,
            Self::H3 { .. } => Some(&h3::CONTROL_STREAM),
        }
    }

    /// The application error code with which a bad request's stream is reset.
    pub fn bad_request_code(&self) -> u32 {
        match self {
            Self::Hq => HQ_BAD_REQUEST,
            Self::H3 { .. } => h3::MESSAGE_ERROR,
        }
    }

    /// A new request stream.
    pub fn incoming(&self) -> Incoming {
        match self {
            Self::Hq => Incoming::Hq(RequestLine::default()),
            Self::H3 { .. } => Incoming::H3(RequestReader::default()),
        }
    }

    /// The response to a request, once, as soon as the request is whole; or why there is none.
    pub fn answer(
        &self,
        incoming: &mut Incoming,
        stream_ended: bool,
    ) -> Option<std::result::Result<Response, &'static str>> {
        match incoming {
            Incoming::Hq(line) => line.answer(stream_ended).map(|bytes| match bytes {
                Some(zeros) => Ok(Response { content: Vec::new(), zeros }),
                None => Err("not a request of the form GET /N"),
            }),
            Incoming::H3(reader) => reader.take(stream_ended).map(|request| match request {
                Ok(request) => Ok(self.respond(&request)),
                Err(Malformed) => Err("not an HTTP/3 request"),
            }),
        }
    }

    fn respond(&self, request: &h3::Request) -> Response {
        if request.method != "GET" {
            return empty(405);
        }
        match self {
            Self::H3 { www: Some(folder) } => match file(folder, &request.path) {
                Some((body, content_type)) => {
                    let mut content = h3::response_head(200, content_type, body.len() as u64);
                    content.extend_from_slice(&body);
                    Response { content, zeros: 0 }
                }
                None => empty(404),
            },
            _ => match hq::bytes_of_path(&request.path) {
                Some(zeros) => {
                    Response { content: h3::response_head(200, "application/octet-stream", zeros), zeros }
                }
                None => empty(404),
            },
        }
    }
}

impl Incoming {
    /// More of the stream has arrived.
    pub fn push(&mut self, data: &[u8]) {
        match self {
            Self::Hq(line) => line.push(data),
            Self::H3(reader) => reader.push(data),
        }
    }
}

fn empty(status: u16) -> Response {
    Response { content: h3::response_head(status, "application/octet-stream", 0), zeros: 0 }
}

/// A file of `folder` and its content type; `/` is `index.html`. Nothing outside the folder is served.
fn file(folder: &Path, path: &str) -> Option<(Vec<u8>, &'static str)> {
    let name = match path.strip_prefix('/')? {
        "" => Path::new("index.html"),
        name => Path::new(name),
    };
    if !name.components().all(|component| matches!(component, Component::Normal(_))) {
        return None;
    }
    let content_type = match name.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("jpg") => "image/jpeg",
        _ => "application/octet-stream",
    };
    Some((std::fs::read(folder.join(name)).ok()?, content_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(service: &Service, path: &str) -> Response {
        let mut incoming = service.incoming();
        incoming.push(&h3::request("cambrian.test:4433", path));
        service.answer(&mut incoming, true).unwrap().unwrap()
    }

    #[test]
    fn hq_answers_with_generated_bytes_or_refuses() {
        for (line, expected) in [("GET /17\r\n", Some(17)), ("GET /index.html\r\n", None)] {
            let mut incoming = Service::Hq.incoming();
            incoming.push(line.as_bytes());
            let answer = Service::Hq.answer(&mut incoming, false).unwrap();
            assert_eq!(answer.ok().map(|response| response.zeros), expected);
        }
    }

    #[test]
    fn h3_without_a_folder_answers_with_generated_bytes() {
        let service = Service::H3 { www: None };
        let head = h3::response_head(200, "application/octet-stream", 17);
        assert_eq!(get(&service, "/17"), Response { content: head, zeros: 17 });
        assert_eq!(get(&service, "/index.html"), empty(404));
    }

    #[test]
    fn h3_serves_the_files_of_a_folder_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("cambrian-www-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("img")).unwrap();
        std::fs::write(folder.join("index.html"), "<html>").unwrap();
        std::fs::write(folder.join("img/a.jpg"), "jpeg").unwrap();
        let service = Service::H3 { www: Some(folder.clone()) };
        let found = |content_type: &str, body: &str| {
            let mut content = h3::response_head(200, content_type, body.len() as u64);
            content.extend_from_slice(body.as_bytes());
            Response { content, zeros: 0 }
        };
        assert_eq!(get(&service, "/"), found("text/html; charset=utf-8", "<html>"));
        assert_eq!(get(&service, "/img/a.jpg"), found("image/jpeg", "jpeg"));
        for path in ["/none", "/img/../index.html", "//etc/passwd", "/img", "index.html"] {
            assert_eq!(get(&service, path), empty(404), "{path}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn other_methods_are_not_allowed() {
        let request = h3::Request { method: "POST".into(), path: "/1".into() };
        assert_eq!(Service::H3 { www: None }.respond(&request), empty(405));
    }
}
