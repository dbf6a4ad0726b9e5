"""Flows that load a page: whose server, which client, and what the guest must be told of them."""

from __future__ import annotations

import json

from cambrian.pages import browser, site
from cambrian.stacks import catalogue, receivers
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import Pages, Server
from cambrian.stacks.receivers import NoReceiver, Receiver
from cambrian.study.model import Trial
from cambrian.testbed import addresses as at
from cambrian.testbed.contract import ProgramPlan
from cambrian.trial.boot import MEMORY_MB

HOST = "cambrian.test"
NETLOG_SUFFIX = ".netlog.json"
#: base64 of SHA-256 of the public key in ``testbed/certs/cert.pem``, for which alone the browser is told
#: to pass over that nobody has signed it
KEY_HASH = "Mco4U1T2HVMDpkXFHuYBtL288AElzTJ7TCjO1NbEIc8="
#: what each browser adds to a guest's memory
BROWSER_MB = 512
#: a browser is left alone for so long before the trial begins: until it does nothing any more
_SETTLE_S = 5.0
#: BoringSSL seeds itself with RDRAND, which no seed of ours reaches: bit 62 of the processor's
#: capabilities off, and it asks the kernel
_DETERMINISTIC = {"OPENSSL_ia32cap": "~0x4000000000000000"}
#: how long it may take to start, in seconds of the guest's clock
_START_S = 90.0


def uses_browser(trial: Trial) -> bool:
    """Does some flow load its page by the browser?"""
    return any(flow.page is not None and flow.client == "chromium" for flow in trial.flows)


def memory_mb(trial: Trial) -> int:
    """Memory that the trial's guest gets."""
    browsers = sum(flow.page is not None and flow.client == "chromium" for flow in trial.flows)
    return MEMORY_MB + BROWSER_MB * browsers


def served(stack: Stack) -> Pages:
    """How ``stack`` serves pages.

    Raises:
        NoReceiver: it does not.
    """
    if stack.manifest.pages is None:
        able = [name for name, other in catalogue.load().items() if other.manifest.pages]
        raise NoReceiver(f'stack "{stack.name}" serves no pages; these do: {", ".join(able)}')
    return stack.manifest.pages


def server(stack: Stack) -> Server:
    """``stack``'s server, told to serve a folder."""
    plain = stack.manifest.server
    return plain.model_copy(update={"command": plain.command + served(stack).server})


def light_client(stack: Stack) -> Receiver:
    """The program without a screen that loads pages from ``stack``: one for HTTP/3, one for HTTP/2."""
    alpn = served(stack).alpn
    lent = receivers.lookup(receivers.REFERENCES[stack.manifest.protocol, alpn])
    client, pages = lent.manifest.client, lent.manifest.pages
    if client is None or pages is None or not pages.client:
        raise NoReceiver(
            f'the client of stack "{lent.name}" loads no pages: its manifest has no pages.client'
        )
    return Receiver(lent, client.model_copy(update={"command": client.command + pages.client}), alpn)


def folder(home: str, number: int) -> str:
    """Where the files of a flow's page are in the guest."""
    return f"{home}/www/flow{number}"


def mounts(trial: Trial, home: str) -> dict[str, str]:
    """Place in the guest → the host's folder, for each page."""
    return {
        folder(home, number): str(site.folder(flow.page))
        for number, flow in enumerate(trial.flows)
        if flow.page is not None
    }


def browser_spec(
    trial: Trial, number: int, home: str, interpreter: str, base_environment: dict[str, str]
) -> ProgramPlan:
    """What the guest starts as the receiver of a flow that a browser loads.

    It is started before the trial and told by a signal when to begin (``early``).
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
        "netlog": f"{home}/out/flow{number}{NETLOG_SUFFIX}" if flow.netlog else None,
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
    }
