"""The guest kernel's TCP trace points, for the senders' sockets only."""

from __future__ import annotations

from pathlib import Path

from cambrian.testbed import addresses as at
from cambrian.testbed import system

TRACEFS = Path("/sys/kernel/tracing")
PIPE = TRACEFS / "per_cpu/cpu0/trace_pipe_raw"
#: trace point → its filter; a sender's socket is the one whose own port is the server's
EVENTS = {
    "tcp_probe": f"sport == {at.PORT}",
    "tcp_cong_state_set": f"sport == {at.PORT}",
    "tcp_retransmit_skb": f"sport == {at.PORT}",
}
#: drained every second by the capture: 8 MiB is ample for a gigabit
BUFFER_KIB = 8192


def available() -> bool:
    """Does this kernel have the trace points?"""
    if not PIPE.exists():
        try:
            system.mount("tracefs", str(TRACEFS), "tracefs")
        except OSError:
            return False
    return all((TRACEFS / "events/tcp" / event).exists() for event in EVENTS)


def start(folder: Path) -> None:
    """Switch the trace points on; their formats go to ``folder`` for the reader."""
    system.write(str(TRACEFS / "buffer_size_kb"), str(BUFFER_KIB))
    system.write(str(TRACEFS / "trace_clock"), "mono")
    for event, condition in EVENTS.items():
        home = TRACEFS / "events/tcp" / event
        (folder / f"{event}.format").write_text((home / "format").read_text())
        system.write(str(home / "filter"), condition)
        system.write(str(home / "enable"), "1")


def stop() -> None:
    """Switch them off again; what was recorded stays readable."""
    for event in EVENTS:
        system.write(str(TRACEFS / "events/tcp" / event / "enable"), "0")
