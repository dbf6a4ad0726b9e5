"""Whose client fetches from a stack's server, and in which protocol the two meet."""

from __future__ import annotations

from dataclasses import dataclass

from cambrian.stacks import catalogue
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import Client

#: the client that ``receiver = "reference"`` means, by (protocol, ALPN): one receiver for every sender,
#: so that what differs between two flows is the senders
REFERENCES = {
    ("quic", "hq-interop"): "quinn",
    ("quic", "h3"): "quic-go",
    ("tcp", "hq-interop"): "tcp",
    ("tcp", "h2"): "tcp-h2",
}


class NoReceiver(ValueError):
    """Two stacks that cannot talk, or a stack that has no client; the text says why."""


@dataclass(frozen=True)
class Receiver:
    """The stack whose client runs, how to run it, and the ALPN of both sides ("" if none is named)."""

    stack: Stack
    client: Client
    alpn: str


def choose(sender: Stack, receiver: str = "own") -> Receiver:
    """The receiver of ``sender``'s flows.

    ``receiver`` names a stack, or is "own" (what the sender's manifest says) or "reference"
    (:data:`REFERENCES`).

    Raises:
        NoReceiver: there is no such client, or the two have no protocol in common.
    """
    if receiver == "own":
        return _own(sender)
    if receiver == "reference":
        spoken = [(sender.manifest.protocol, alpn) for alpn in sender.manifest.alpns]
        known = [REFERENCES[key] for key in spoken if key in REFERENCES]
        if not known:
            raise NoReceiver(
                f'no reference receiver speaks what "{sender.name}" does '
                f"({sender.manifest.protocol}, {_list(sender)})"
            )
        receiver = known[0]
    return _other(sender, receiver)


def _own(sender: Stack) -> Receiver:
    client = sender.manifest.client
    if client is None:
        raise NoReceiver(f'stack "{sender.name}" has no client: name a receiver (receiver = "reference")')
    if client.stack is None:
        return Receiver(sender, client, _first(sender))
    if not client.command:
        return _other(sender, client.stack)
    lender = lookup(client.stack)
    return Receiver(lender, client, _common(sender, lender) or _first(sender))


def _other(sender: Stack, name: str) -> Receiver:
    other = lookup(name)
    client = other.manifest.client
    if client is None or client.stack is not None:
        raise NoReceiver(f'stack "{name}" has no client of its own, so it cannot be a receiver')
    if sender.manifest.protocol != other.manifest.protocol:
        raise NoReceiver(
            f'"{sender.name}" sends over {sender.manifest.protocol}, "{name}" receives over '
            f"{other.manifest.protocol}"
        )
    if sender.manifest.server.path is not None and not client.path_arguments:
        raise NoReceiver(
            f'"{sender.name}" has one body, at {sender.manifest.server.path}, to be asked for over and over; '
            f'"{name}" does not (client.path_arguments in its manifest)'
        )
    alpn = _common(sender, other)
    if alpn is None:
        raise NoReceiver(
            f'"{sender.name}" serves {_list(sender)} and "{name}" asks for {_list(other)}: '
            "they have no protocol in common"
        )
    return Receiver(other, client, alpn)


def lookup(name: str) -> Stack:
    """The stack of that name.

    Raises:
        NoReceiver: there is none.
    """
    try:
        return catalogue.load()[name]
    except KeyError:
        raise NoReceiver(f'there is no stack "{name}" to be the receiver (see `cambrian stacks`)') from None


def _first(stack: Stack) -> str:
    return next(iter(stack.manifest.alpns), "")


def _common(sender: Stack, receiver: Stack) -> str | None:
    """The sender's first ALPN that the receiver speaks too; "" where neither names any."""
    if not sender.manifest.alpns and not receiver.manifest.alpns:
        return ""
    return next((alpn for alpn in sender.manifest.alpns if alpn in receiver.manifest.alpns), None)


def _list(stack: Stack) -> str:
    return ", ".join(stack.manifest.alpns) or "no named protocol"
