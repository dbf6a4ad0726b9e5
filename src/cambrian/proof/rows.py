"""The test results of one implementation (a stack's CCA), and whether it passes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

#: share of the bottleneck that one flow without competition must fill
ENOUGH = 0.9
#: a failure
NOTHING_WITH_LOSS = "carried nothing with random loss"


@dataclass(frozen=True)
class Row:
    """The test results of one implementation.

    ``capacity_share``: utilisation after slow start on a clean path, 0 to 1. ``loss_mbps``: throughput with
    random loss. ``hashes``: of the packet traces of the same trial run twice. ``confirmed``: the CCA as read
    back from the stack; None if the stack cannot report it. ``kernel_loss_mbps``: throughput of kernel TCP
    with the same algorithm and loss. ``trace``: the kind of trace that the manifest promises;
    ``trace_rows``: rows that were read from it. ``logs``: the folder of a failed trial's logs, if it is kept.
    ``problems``: failures, also why there is only one hash. ``causes``: test → the manifest's explanation.
    ``nondeterministic``: why the hashes may differ, or empty.
    """

    stack: str
    version: str
    cca: str
    capacity_share: float | None = None
    loss_mbps: float | None = None
    kernel_loss_mbps: float | None = None
    hashes: tuple[str, ...] = ()
    confirmed: str | None = None
    trace: str = "none"
    trace_rows: int | None = None
    logs: str = ""
    problems: tuple[str, ...] = ()
    causes: tuple[tuple[str, str], ...] = ()
    nondeterministic: str = ""

    @property
    def repeats(self) -> bool:
        """Did the same seed give the same bytes?"""
        return len(self.hashes) > 1 and len(set(self.hashes)) == 1

    @property
    def misses(self) -> list[str]:
        """Failures that the manifest does not explain."""
        explained = dict(self.causes)
        found = list(self.problems)
        if self.capacity_share is not None and self.capacity_share < ENOUGH and "capacity" not in explained:
            found.append(
                f"fills {self.capacity_share:.0%} of a clean link, less than {ENOUGH:.0%} "
                "(if it should, give the reason in its manifest as causes.capacity)"
            )
        if self.loss_mbps is not None and self.loss_mbps <= 0 and "loss" not in explained:
            found.append(NOTHING_WITH_LOSS)
        if len(set(self.hashes)) > 1 and not self.nondeterministic:
            found.append("the same seed gave two packet traces")
        if self.confirmed not in (None, self.cca) and "confirmed" not in explained:
            found.append(f"runs {self.confirmed} (name the CCA in its manifest as the program reads it back)")
        return found

    @property
    def warnings(self) -> list[str]:
        """What is probably wrong, without being a failure."""
        if self.trace != "none" and self.trace_rows == 0:
            return [f"no row could be read from its {self.trace}: parameters and states cannot be judged"]
        return []

    @property
    def ok(self) -> bool:
        """Are all failures explained?"""
        return not self.misses

    def record(self) -> dict[str, object]:
        """The row for JSON."""
        return asdict(self) | {
            "ok": self.ok,
            "misses": self.misses,
            "warnings": self.warnings,
            "causes": dict(self.causes),
        }


def summary(rows: Iterable[Row]) -> str:
    """One line: how many passed."""
    found = list(rows)
    passed = [row for row in found if row.ok]
    explained = sum(bool(row.causes or (row.nondeterministic and not row.repeats)) for row in passed)
    stacks = len({row.stack for row in found})
    text = f"{len(passed)} of {len(found)} implementations of {stacks} stack{'' if stacks == 1 else 's'} pass"
    return text + (f"; {explained} of them with a documented cause" if explained else "")
