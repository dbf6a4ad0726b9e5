"""Who receives: one's own client, a lent one, the reference, and pairs that cannot talk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cambrian.stacks import catalogue, receivers
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.receivers import NoReceiver


def _write(folder: Path, name: str, head: str, tail: str) -> None:
    body = f'name = "{name}"\n{head}\n[ccas.cubic]\n[build]\nkind = "none"\nbinary = "/bin/sh"\n'
    (folder / f"{name}.toml").write_text(f'{body}[server]\ncommand = ["{{bin}}"]\n{tail}')


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stack]]:
    """A small world of stacks beside the catalogue's."""
    client = '[client]\ncommand = ["{bin}", "client"]\n'
    _write(tmp_path, "both", 'alpns = ["h3", "hq-interop"]', client)
    _write(tmp_path, "h3only", 'alpns = ["h3"]', client)
    _write(tmp_path, "hq", 'alpns = ["hq-interop"]', client)
    _write(tmp_path, "mute", 'alpns = ["hq-interop"]', "")
    _write(tmp_path, "borrows", 'alpns = ["hq-interop"]', '[client]\nstack = "both"\n')
    _write(tmp_path, "odd", 'protocol = "tcp"\nalpns = ["odd"]', client)
    monkeypatch.setenv("CAMBRIAN_STACKS", str(tmp_path))
    catalogue.load.cache_clear()
    yield dict(catalogue.load())
    catalogue.load.cache_clear()


def _names(found: receivers.Receiver) -> tuple[str, str]:
    return found.stack.name, found.alpn


def test_own_client_speaks_the_stack_s_first_alpn(known: dict[str, Stack]) -> None:
    assert _names(receivers.choose(known["both"])) == ("both", "h3")


def test_a_lent_client_and_the_sender_meet_in_what_both_speak(known: dict[str, Stack]) -> None:
    assert _names(receivers.choose(known["borrows"])) == ("both", "hq-interop")
    assert _names(receivers.choose(known["both"], "hq")) == ("hq", "hq-interop")


def test_the_reference_is_one_client_for_all(known: dict[str, Stack]) -> None:
    assert _names(receivers.choose(known["hq"], "reference")) == ("quinn", "hq-interop")
    assert receivers.choose(known["tcp"], "reference").stack.name == "tcp"


@pytest.mark.parametrize(
    ("sender", "receiver", "said"),
    [
        ("mute", "own", 'stack "mute" has no client'),
        ("hq", "mute", '"mute" has no client of its own'),
        ("hq", "borrows", '"borrows" has no client of its own'),
        ("hq", "nobody", 'there is no stack "nobody"'),
        ("hq", "odd", "sends over quic"),
        ("hq", "tcp", "receives over tcp"),
        ("odd", "reference", "no reference receiver"),
        ("google-quiche", "both", "to be asked for over and over"),
        ("hq", "h3only", "they have no protocol in common"),
    ],
)
def test_pairs_that_cannot_talk_say_why(
    known: dict[str, Stack], sender: str, receiver: str, said: str
) -> None:
    with pytest.raises(NoReceiver, match=said):
        receivers.choose(known[sender], receiver)
