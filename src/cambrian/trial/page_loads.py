"""Flows that load a page: their server, their client, and their part of the guest's plan."""

from __future__ import annotations

import json

from cambrian.pages import browser, site
from cambrian.stacks import catalogue, receivers
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import Pages, Server
from cambrian.stacks.receivers import NoReceiver, Receiver
from cambrian.study.model import Trial
from cambrian.study.reference import REFERENCE_STACK
from cambrian.testbed import addresses as at
from cambrian.testbed import users
from cambrian.testbed.contract import ProgramPlan
from cambrian.trial import remains
from cambrian.trial.boot import MEMORY_MB

HOST = "cambrian.test"
NETLOG_SUFFIX = f".{remains.NETLOG}"
#: base64 of SHA-256 of the public key in ``testbed/certs/cert.pem``; the browser accepts only this
#: key without a signature of an authority
KEY_HASH = "5RfPyLTcUIjZUPTgxirXNau1esXBJhn4KwPQNIv8bGE="
#: additional memory of a guest for each browser
BROWSER_MB = 512
#: memory of each flow of a stack with programs of its own, after so many, and then also of each flow of
#: kernel TCP. Ten of Google QUICHE need more than MEMORY_MB, and still more beside 20 of kernel TCP: with too
#: little the guest reads their code from the disk again and again
FLOW_MB, FLOWS_WITHOUT, TCP_MB = 256, 4, 64
#: time between the browser's start and the trial's: until the browser is idle
_SETTLE_S = 5.0
#: BoringSSL seeds itself with RDRAND, which the trial's seed does not control; with bit 62 of the CPU's
#: capabilities off it asks the kernel
_DETERMINISTIC = {"OPENSSL_ia32cap": "~0x4000000000000000"}
#: longest start of a browser, in seconds of the guest's clock
_START_S = 90.0


def uses_browser(trial: Trial) -> bool:
    """Does a flow load its page with the browser?"""
    return any(flow.page is not None and flow.client == "chromium" for flow in trial.flows)


def memory_mb(trial: Trial) -> int:
    """Memory of the trial's guest in MB; its pages are the host's only once they are used."""
    browsers = sum(flow.page is not None and flow.client == "chromium" for flow in trial.flows)
    programs = sum(flow.contestant.stack != REFERENCE_STACK for flow in trial.flows)
    more = programs - FLOWS_WITHOUT
    flows_mb = FLOW_MB * more + TCP_MB * (len(trial.flows) - programs) if more > 0 else 0
    return MEMORY_MB + BROWSER_MB * browsers + flows_mb


def served(stack: Stack) -> Pages:
    """How ``stack`` serves pages.

    Raises:
        NoReceiver: it serves no pages.
    """
    if stack.manifest.pages is None:
        able = [name for name, other in catalogue.load().items() if other.manifest.pages]
        raise NoReceiver(f'stack "{stack.name}" serves no pages; these do: {", ".join(able)}')
    return stack.manifest.pages


def server(stack: Stack) -> Server:
    """``stack``'s server with the arguments to serve a folder."""
    plain = stack.manifest.server
    return plain.model_copy(update={"command": plain.command + served(stack).server})


def light_client(stack: Stack) -> Receiver:
    """The light client that loads pages from ``stack``: one for HTTP/3, one for HTTP/2."""
    alpn = served(stack).alpn
    lent = receivers.lookup(receivers.REFERENCES[stack.manifest.protocol, alpn])
    client, pages = lent.manifest.client, lent.manifest.pages
    if client is None or pages is None or not pages.client:
        raise NoReceiver(
            f'the client of stack "{lent.name}" loads no pages: its manifest has no pages.client'
        )
    return Receiver(lent, client.model_copy(update={"command": client.command + pages.client}), alpn)


def folder(home: str, number: int) -> str:
    """The folder of a flow's page in the guest."""
    return f"{home}/www/flow{number}"


def mounts(trial: Trial, home: str) -> dict[str, str]:
    """Folder in the guest → folder of the host, for each page."""
    return {
        folder(home, number): str(site.folder(flow.page))
        for number, flow in enumerate(trial.flows)
        if flow.page is not None
    }


def browser_spec(
    trial: Trial, number: int, home: str, interpreter: str, base_environment: dict[str, str]
) -> ProgramPlan:
    """The program that the guest starts as the receiver of a flow with a browser.

    It starts before the trial; a signal tells it when to begin (``early``).
    """
    flow = trial.flows[number]
    assert flow.page is not None
    work = f"{home}/work/flow{number}.receiver"
    environment = base_environment | {"HOME": work, "TMPDIR": work} | _DETERMINISTIC
    source = f"{home}/source"
    load = {
        "source": source,
        "browser": str(browser.find().path),
        "environment": environment,
        "profile": f"{work}/profile",
        "host": HOST,
        "port": at.PORT,
        "address": at.sender_address(number),
        "protocol": served(receivers.lookup(flow.contestant.stack)).alpn,
        "key_hash": KEY_HASH,
        "path": site.DOCUMENT_PATH,
        "netlog": f"{users.logs_folder(f'flow{number}.receiver')}/{remains.NETLOG}" if flow.netlog else None,
        "timeout_s": trial.duration_s,
        "settle_s": _SETTLE_S,
    }
    return {
        "argv": [interpreter, "-I", "-S", f"{source}/cambrian/testbed/chromium/drive.py", "load.json"],
        "environment": environment,
        "files": {"load.json": json.dumps(load, indent=1)},
        "work": work,
        "ready": "json",
        "early": {"ready_timeout_s": _START_S},
        "logs": flow.netlog,
    }
