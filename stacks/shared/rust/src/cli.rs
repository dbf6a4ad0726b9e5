//! The command line of the endpoint contract.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use lexopt::prelude::{Long, Value};

use crate::error::{Error, Result};
use crate::settings::{self, Pairs};
use crate::Stack;

/// What to do.
#[derive(Debug)]
pub enum Command {
    Server(ServerArguments),
    Client(ClientArguments),
    Describe,
}

/// `server`: send what is asked for.
#[derive(Clone, Debug)]
pub struct ServerArguments {
    pub listen: SocketAddr,
    /// One of the stack's CCAs.
    pub cca: String,
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// One of the stack's application protocols.
    pub alpn: String,
    /// A folder whose files are served over HTTP/3.
    pub www: Option<PathBuf>,
    pub transport_log: Option<PathBuf>,
    /// `--set`, for the stack's own parser.
    pub settings: Pairs,
}

/// `client`: ask and receive.
#[derive(Clone, Debug)]
pub struct ClientArguments {
    pub connect: SocketAddr,
    pub server_name: String,
    /// One of the stack's application protocols.
    pub alpn: String,
    /// Bytes to ask for in all, over all streams; 0 asks for an endless body.
    pub bytes: u64,
    pub streams: u64,
    /// A path to ask for on every stream, in place of `/BYTES`.
    pub path: Option<String>,
    /// `--set`, for the stack's own parser.
    pub settings: Pairs,
}

/// Parse the arguments after the program's name.
pub fn parse(stack: &Stack, arguments: impl IntoIterator<Item = OsString>) -> Result<Command> {
    let mut line = Line { stack, parser: lexopt::Parser::from_args(arguments) };
    match line.parser.next().map_err(|error| usage(stack, error))? {
        Some(Value(word)) if word == "server" => line.server(),
        Some(Value(word)) if word == "client" => line.client(),
        Some(Value(word)) if word == "describe" => match line.parser.next() {
            Ok(None) => Ok(Command::Describe),
            Ok(Some(extra)) => Err(usage(stack, extra.unexpected())),
            Err(error) => Err(usage(stack, error)),
        },
        Some(Value(word)) => Err(Error::Unsupported(format!(
            "no role {}; there are: server, client, describe",
            word.to_string_lossy()
        ))),
        Some(other) => Err(usage(stack, other.unexpected())),
        None => Err(Error::Usage(usage_text(stack))),
    }
}

/// A command line, half read.
struct Line<'a> {
    stack: &'a Stack,
    parser: lexopt::Parser,
}

impl Line<'_> {
    fn server(mut self) -> Result<Command> {
        let (mut listen, mut cca, mut certificate, mut key) = (None, None, None, None);
        let (mut transport_log, mut www) = (None, None);
        let mut alpn = self.stack.alpns[0].to_owned();
        let mut settings = Pairs::new();
        while let Some(option) = self.option()? {
            match option.as_str() {
                "listen" => listen = Some(self.parsed("--listen")?),
                "cca" => cca = Some(self.one_of("CCA", self.stack.ccas)?),
                "cert" => certificate = Some(self.file()?),
                "key" => key = Some(self.file()?),
                "www" => www = Some(self.file()?),
                "transport-log" => transport_log = Some(self.file()?),
                "alpn" => alpn = self.one_of("ALPN", self.stack.alpns)?,
                "set" => settings.push(settings::pair(&self.text()?)?),
                _ => return Err(self.usage(format!("invalid option '--{option}'"))),
            }
        }
        Ok(Command::Server(ServerArguments {
            listen: self.required(listen, "--listen")?,
            cca: self.required(cca, "--cca")?,
            certificate: self.required(certificate, "--cert")?,
            key: self.required(key, "--key")?,
            alpn,
            www,
            transport_log,
            settings,
        }))
    }

    fn client(mut self) -> Result<Command> {
        let (mut connect, mut path) = (None, None);
        let mut server_name = "cambrian.test".to_owned();
        let mut alpn = self.stack.alpns[0].to_owned();
        let (mut bytes, mut streams) = (0, 1);
        let mut settings = Pairs::new();
        while let Some(option) = self.option()? {
            match option.as_str() {
                "connect" => connect = Some(self.parsed("--connect")?),
                "server-name" => server_name = self.text()?,
                "bytes" => bytes = self.parsed("--bytes")?,
                "streams" => streams = self.parsed("--streams")?,
                "path" => path = Some(self.text()?),
                "alpn" => alpn = self.one_of("ALPN", self.stack.alpns)?,
                "set" => settings.push(settings::pair(&self.text()?)?),
                _ => return Err(self.usage(format!("invalid option '--{option}'"))),
            }
        }
        if streams == 0 {
            return Err(Error::Usage("--streams wants at least 1".into()));
        }
        if path.is_some() && alpn == "hq-interop" {
            let text = "--path does not go with hq-interop, which asks for a number of bytes";
            return Err(Error::Usage(text.into()));
        }
        if path.as_ref().is_some_and(|path: &String| !path.starts_with('/')) {
            return Err(Error::Usage("--path wants a path that begins with /".into()));
        }
        let connect = self.required(connect, "--connect")?;
        Ok(Command::Client(ClientArguments { connect, server_name, alpn, bytes, streams, path, settings }))
    }

    /// The next option's name, without its dashes.
    fn option(&mut self) -> Result<Option<String>> {
        match self.parser.next() {
            Ok(None) => Ok(None),
            Ok(Some(Long(name))) => Ok(Some(name.to_owned())),
            Ok(Some(other)) => Err(usage(self.stack, other.unexpected())),
            Err(error) => Err(usage(self.stack, error)),
        }
    }

    fn text(&mut self) -> Result<String> {
        let value = self.parser.value().map_err(|error| usage(self.stack, error))?;
        value.into_string().map_err(|value| Error::Usage(format!("not UTF-8: {}", value.to_string_lossy())))
    }

    fn file(&mut self) -> Result<PathBuf> {
        Ok(self.parser.value().map_err(|error| usage(self.stack, error))?.into())
    }

    fn parsed<T: FromStr>(&mut self, option: &str) -> Result<T> {
        let value = self.text()?;
        value.parse().map_err(|_| Error::Usage(format!("{option}: cannot read {value:?}")))
    }

    /// A name that the stack knows; any other is unsupported, and the text lists `known`.
    fn one_of(&mut self, what: &str, known: &[&str]) -> Result<String> {
        let name = self.text()?;
        if known.contains(&name.as_str()) {
            return Ok(name);
        }
        let (stack, known) = (self.stack.name, known.join(", "));
        Err(Error::Unsupported(format!("{stack} has no {what} {name:?}; it has: {known}")))
    }

    fn required<T>(&self, value: Option<T>, option: &str) -> Result<T> {
        value.ok_or_else(|| self.usage(format!("{option} is missing")))
    }

    fn usage(&self, what: impl std::fmt::Display) -> Error {
        usage(self.stack, what)
    }
}

fn usage(stack: &Stack, what: impl std::fmt::Display) -> Error {
    Error::Usage(format!("{what}\n{}", usage_text(stack)))
}

fn usage_text(stack: &Stack) -> String {
    let program = stack.program;
    let indent = " ".repeat("usage:  server".len() + program.len());
    let (ccas, alpns) = (stack.ccas.join("|"), stack.alpns.join("|"));
    format!(
        "usage: {program} server --listen ADDR:PORT --cca {ccas} --cert FILE --key FILE\n\
         {indent} [--alpn {alpns}] [--www FOLDER] [--transport-log FILE] [--set KEY=VALUE]...\n       \
         {program} client --connect ADDR:PORT [--server-name NAME] [--alpn {alpns}]\n\
         {indent} [--bytes N] [--streams N] [--path PATH] [--set KEY=VALUE]...\n       \
         {program} describe"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: Stack = Stack {
        program: "cambrian-test",
        name: "test",
        version: "1.0",
        ccas: &["cubic", "bbr"],
        alpns: &["hq-interop", "h3"],
    };

    fn parse_line(line: &str) -> Result<Command> {
        parse(&STACK, line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn server_line() {
        let line = "server --listen 10.0.0.2:4433 --cca bbr --cert c --key k --alpn h3 --www pages \
                    --transport-log t.csv --set pacing=true --set packet_threshold=30";
        let Ok(Command::Server(server)) = parse_line(line) else { panic!("not a server") };
        assert_eq!(server.listen, "10.0.0.2:4433".parse().unwrap());
        assert_eq!((server.cca.as_str(), server.alpn.as_str()), ("bbr", "h3"));
        assert_eq!((server.www, server.transport_log), (Some("pages".into()), Some("t.csv".into())));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(server.settings, [pair("pacing", "true"), pair("packet_threshold", "30")]);
    }

    #[test]
    fn client_line_and_its_defaults() {
        let Ok(Command::Client(client)) = parse_line("client --connect 10.0.0.2:4433") else { panic!() };
        assert_eq!((client.bytes, client.streams, client.path), (0, 1, None));
        assert_eq!((client.server_name.as_str(), client.alpn.as_str()), ("cambrian.test", "hq-interop"));
    }

    #[test]
    fn what_the_stack_cannot_do_is_unsupported_and_what_it_can_is_listed() {
        for (line, listed) in [
            ("client --connect 10.0.0.2:4433 --alpn h2", "hq-interop, h3"),
            ("server --listen 10.0.0.2:4433 --cca vegas --cert c --key k", "cubic, bbr"),
            ("proxy", "server, client, describe"),
        ] {
            match parse_line(line) {
                Err(Error::Unsupported(text)) => assert!(text.contains(listed), "{text}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn bad_lines_are_usage_errors() {
        for line in [
            "",
            "client",
            "client --connect nowhere",
            "client --connect 10.0.0.2:4433 --streams 0",
            "client --connect 10.0.0.2:4433 --path x",
            "client --connect 10.0.0.2:4433 --frobnicate",
            "client --connect 10.0.0.2:4433 --set cwnd",
            "client --connect 10.0.0.2:4433 --cca bbr",
            "client -x",
            "server --listen 10.0.0.2:4433 --cca cubic",
            "describe everything",
        ] {
            assert!(matches!(parse_line(line), Err(Error::Usage(_))), "{line}");
        }
    }
}
