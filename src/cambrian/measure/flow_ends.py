"""When a flow of a trial ended: its programs and its stack's log may run on."""

from __future__ import annotations

from cambrian.metrics.columns import NS_PER_S
from cambrian.store.results import TrialResult
from cambrian.trace.endpoint_events import EndpointEvents


def done_ns(result: TrialResult, number: int) -> int | None:
    """When its receiver had everything, in ns since the trial's zero; None if not by the trial's end."""
    guest = result.manifest["guest"]
    receiver = EndpointEvents.of(result.manifest, f"flow{number}.receiver")
    return receiver.complete_ns(int(guest["zero_ns"]), int(guest["end_ns"]))


def complete_ns(result: TrialResult, number: int, size_bytes: int) -> int | None:
    """The same; also None if the server sent another size than the flow's (0 accepts any size).

    Foreign servers answer with bodies of their own size. Such a flow ends, but has no time for its size.
    """
    done = EndpointEvents.of(result.manifest, f"flow{number}.receiver").done
    if size_bytes and done is not None and done.bytes != size_bytes:
        return None
    return done_ns(result, number)


def end_ns(result: TrialResult, number: int) -> int:
    """When it was complete or ended early, else the trial's end; in ns since the trial's zero."""
    if (found_ns := done_ns(result, number)) is not None:
        return found_ns
    whole_ns = int(result.manifest["guest"]["end_ns"])
    ended_s = result.flow_end(number).get("ended_s")
    return whole_ns if ended_s is None else min(whole_ns, round(ended_s * NS_PER_S))
