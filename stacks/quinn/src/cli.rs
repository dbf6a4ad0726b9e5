//! The command line of the endpoint contract.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use lexopt::prelude::{Long, Short, Value};

use crate::cca::Cca;
use crate::error::{Error, Result};
use crate::settings::Settings;

/// What to do.
#[derive(Debug)]
pub enum Command {
    Server(ServerArguments),
    Client(ClientArguments),
    Describe,
}

/// `server`: send what is asked for.
#[derive(Debug)]
pub struct ServerArguments {
    pub listen: SocketAddr,
    pub cca: Cca,
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub transport_log: Option<PathBuf>,
    pub settings: Settings,
}

/// `client`: ask and receive.
#[derive(Debug)]
pub struct ClientArguments {
    pub connect: SocketAddr,
    pub server_name: String,
    /// Bytes to ask for in all, over all streams; 0 asks for an endless body.
    pub bytes: u64,
    pub streams: u64,
    /// A path to ask for on every stream, in place of `/BYTES`.
    pub path: Option<String>,
    pub settings: Settings,
}

pub const USAGE: &str = "\
usage: cambrian-quinn server --listen ADDR:PORT --cca cubic|reno|bbr --cert FILE --key FILE
                             [--alpn hq-interop] [--transport-log FILE] [--set KEY=VALUE]...
       cambrian-quinn client --connect ADDR:PORT [--server-name NAME] [--alpn hq-interop]
                             [--bytes N] [--streams N] [--path PATH] [--set KEY=VALUE]...
       cambrian-quinn describe";

/// The ALPN that the endpoint speaks.
pub const ALPN: &str = "hq-interop";

/// Parse the arguments after the program's name.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command> {
    let mut parser = lexopt::Parser::from_args(arguments);
    match parser.next().map_err(usage)? {
        Some(Value(word)) if word == "server" => server(parser),
        Some(Value(word)) if word == "client" => client(parser),
        Some(Value(word)) if word == "describe" => match parser.next().map_err(usage)? {
            None => Ok(Command::Describe),
            Some(extra) => Err(usage(extra.unexpected())),
        },
        Some(Value(word)) => Err(Error::Unsupported(format!(
            "no role {}; there are: server, client, describe",
            word.to_string_lossy()
        ))),
        Some(other) => Err(usage(other.unexpected())),
        None => Err(Error::Usage(USAGE.into())),
    }
}

fn server(mut parser: lexopt::Parser) -> Result<Command> {
    let (mut listen, mut cca, mut certificate, mut key) = (None, None, None, None);
    let mut transport_log = None;
    let mut settings = Settings::default();
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Long("listen") => listen = Some(parsed(&mut parser, "--listen")?),
            Long("cca") => cca = Some(Cca::from_name(&text(&mut parser)?)?),
            Long("cert") => certificate = Some(file(&mut parser)?),
            Long("key") => key = Some(file(&mut parser)?),
            Long("transport-log") => transport_log = Some(file(&mut parser)?),
            Long("alpn") => supported_alpn(&text(&mut parser)?)?,
            Long("set") => settings.set(&text(&mut parser)?)?,
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Server(ServerArguments {
        listen: required(listen, "--listen")?,
        cca: required(cca, "--cca")?,
        certificate: required(certificate, "--cert")?,
        key: required(key, "--key")?,
        transport_log,
        settings,
    }))
}

fn client(mut parser: lexopt::Parser) -> Result<Command> {
    let (mut connect, mut path) = (None, None);
    let mut server_name = "cambrian.test".to_owned();
    let (mut bytes, mut streams) = (0, 1);
    let mut settings = Settings::default();
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Long("connect") => connect = Some(parsed(&mut parser, "--connect")?),
            Long("server-name") => server_name = text(&mut parser)?,
            Long("bytes") => bytes = parsed(&mut parser, "--bytes")?,
            Long("streams") => streams = parsed(&mut parser, "--streams")?,
            Long("path") => path = Some(text(&mut parser)?),
            Long("alpn") => supported_alpn(&text(&mut parser)?)?,
            Long("set") => settings.set(&text(&mut parser)?)?,
            other => return Err(unknown(other)),
        }
    }
    if streams == 0 {
        return Err(Error::Usage("--streams wants at least 1".into()));
    }
    if path.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err(Error::Usage("--path wants a path that begins with /".into()));
    }
    let connect = required(connect, "--connect")?;
    Ok(Command::Client(ClientArguments { connect, server_name, bytes, streams, path, settings }))
}

fn supported_alpn(alpn: &str) -> Result<()> {
    if alpn == ALPN {
        return Ok(());
    }
    Err(Error::Unsupported(format!("no ALPN {alpn:?} here; this endpoint speaks: {ALPN}")))
}

fn text(parser: &mut lexopt::Parser) -> Result<String> {
    let value = parser.value().map_err(usage)?;
    value.into_string().map_err(|value| Error::Usage(format!("not UTF-8: {}", value.to_string_lossy())))
}

fn file(parser: &mut lexopt::Parser) -> Result<PathBuf> {
    Ok(parser.value().map_err(usage)?.into())
}

fn parsed<T: FromStr>(parser: &mut lexopt::Parser, option: &str) -> Result<T> {
    let value = text(parser)?;
    value.parse().map_err(|_| Error::Usage(format!("{option}: cannot read {value:?}")))
}

fn required<T>(value: Option<T>, option: &str) -> Result<T> {
    value.ok_or_else(|| Error::Usage(format!("{option} is missing\n{USAGE}")))
}

fn unknown(argument: lexopt::Arg<'_>) -> Error {
    match argument {
        Long(_) | Short(_) | Value(_) => usage(argument.unexpected()),
    }
}

fn usage(error: lexopt::Error) -> Error {
    Error::Usage(format!("{error}\n{USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Command> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn server_line() {
        let line = "server --listen 10.0.0.2:4433 --cca bbr --cert c --key k --alpn hq-interop \
                    --transport-log t.csv --set mtu=1472 --set packet_threshold=30";
        let Ok(Command::Server(server)) = parse_line(line) else { panic!("not a server") };
        assert_eq!(server.listen, "10.0.0.2:4433".parse().unwrap());
        assert_eq!(server.cca, Cca::Bbr);
        assert_eq!(server.transport_log, Some("t.csv".into()));
        assert_eq!(server.settings.initial_mtu_bytes, Some(1472));
        assert_eq!(server.settings.packet_threshold, Some(30));
    }

    #[test]
    fn client_line_and_its_defaults() {
        let Ok(Command::Client(client)) = parse_line("client --connect 10.0.0.2:4433") else { panic!() };
        assert_eq!((client.bytes, client.streams, client.path), (0, 1, None));
        assert_eq!(client.server_name, "cambrian.test");
    }

    #[test]
    fn what_the_stack_cannot_do_is_unsupported() {
        for line in [
            "client --connect 10.0.0.2:4433 --alpn h3",
            "server --listen 10.0.0.2:4433 --cca vegas --cert c --key k",
            "proxy",
        ] {
            assert!(matches!(parse_line(line), Err(Error::Unsupported(_))), "{line}");
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
            "client --connect 10.0.0.2:4433 --set cwnd=1",
            "server --listen 10.0.0.2:4433 --cca cubic",
            "describe everything",
        ] {
            assert!(matches!(parse_line(line), Err(Error::Usage(_))), "{line}");
        }
    }
}
