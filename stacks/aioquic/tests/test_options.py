"""The command line, as the contract has it."""

from __future__ import annotations

import options
import pytest

SERVER = ["server", "--listen", "127.0.0.1:4433", "--cca", "cubic", "--cert", "c", "--key", "k"]
CLIENT = ["client", "--connect", "127.0.0.1:4433"]


def test_server() -> None:
    found = options.parse([*SERVER, "--set", "max_udp_payload_bytes=1400", "--transport-log", "l"])
    assert found == options.Server(("127.0.0.1", 4433), "cubic", "hq-interop", "c", "k", "l", 1400)


def test_client_is_endless_unless_told() -> None:
    found = options.parse(CLIENT)
    assert found == options.Client(("127.0.0.1", 4433), "cambrian.test", "hq-interop", 0, 1, 1200)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        ([*SERVER, "--cca", "bbr"], 127, "reno, cubic"),
        ([*SERVER, "--alpn", "h3"], 127, "h3"),
        ([*CLIENT, "--alpn", "h3"], 127, "h3"),
        ([*CLIENT, "--set", "colour=red"], 2, "unknown key"),
        ([*CLIENT, "--set", "colour"], 2, "KEY=VALUE"),
        ([*CLIENT, "--set", "max_udp_payload_bytes=9000"], 2, "1200 to 1472"),
        ([*CLIENT, "--bytes", "-1"], 2, "negative"),
        ([*CLIENT, "--streams", "0"], 2, "1 to"),
        ([*CLIENT, "--path", "/x"], 2, "--path"),
        ([*CLIENT, "--connect", "somewhere:1"], 2, "ADDR:PORT"),
        (["server"], 2, "--listen"),
        ([], 2, "role"),
        (["proxy"], 127, "server, client, describe"),
    ],
)
def test_refusals(arguments: list[str], status: int, says: str) -> None:
    with pytest.raises(options.Refused, match=says) as refused:
        options.parse(arguments)
    assert refused.value.status == status
