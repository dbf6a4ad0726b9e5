"""Runs a stored trial again with whole packets and keys, and proves that it is the same trial."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cambrian.export.errors import ExportError, NotTheSame
from cambrian.run import one, pool, prepare
from cambrian.stacks import catalogue
from cambrian.store import writing
from cambrian.store.results import Results, TrialResult
from cambrian.study.model import Trial
from cambrian.trial import carry_out, plan

#: parts of a trial's environment that must be the same build: they decide what is inside of the packets
_SAME_BUILD = ("kernel", "stack ", "browser")


@contextmanager
def repeated(stored: TrialResult, beside: Path) -> Iterator[TrialResult]:
    """The stored trial once more, with a raw capture, as long as the body runs.

    Its folder is a temporary one in ``beside``.

    Raises:
        ExportError: the trial cannot be repeated here.
        NotTheSame: it has other packets.
    """
    trial = Trial.model_validate(stored.manifest["trial"])
    if trial.clock != "virtual":
        raise ExportError(
            f'trial {stored.id} ran with clock = "{trial.clock}", and only virtual time repeats a trial; '
            "remedy: export --qlog, which needs no repetition"
        )
    if not stored.packets.height:
        raise ExportError(
            f"trial {stored.id} has no packets: {'; '.join(stored.verdict['reasons'])}; "
            "remedy: choose a trial whose verdict.json is valid"
        )
    made = prepare.ensure(set(plan.stack_names(trial)))
    # the browser's too, which is no stack
    _require_same_build(stored, carry_out.hashes(trial, made))
    folder = Path(tempfile.mkdtemp(dir=beside, prefix=".repeated-"))
    try:
        # programs of the guest run as other users
        folder.chmod(0o755)
        results = Results(folder.absolute())
        asked = trial.model_copy(update={"raw_capture": True})
        outcome = one.run(asked, made, results, core=pool.cores()[0])
        result = results.trial(outcome.trial_id)
        _require_same_packets(stored, result, trial)
        yield result
    finally:
        writing.remove(folder)


def differing(stored: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """The parts of a trial's environment that have another hash or version here."""
    return sorted(name for name in here if stored.get(name) != here[name])


def _require_same_build(stored: TrialResult, here: Mapping[str, str]) -> None:
    parts = [part for part in differing(stored.manifest["environment"], here) if part.startswith(_SAME_BUILD)]
    if parts:
        raise ExportError(
            f"trial {stored.id} ran with another build of {', '.join(parts)}, so the content of its packets "
            f"may differ here; remedy: run its study again (into another folder), or export with the "
            f"installation that ran it (Cambrian {stored.manifest['cambrian']}); --qlog needs no repetition"
        )


def _require_same_packets(stored: TrialResult, result: TrialResult, trial: Trial) -> None:
    before, now = stored.manifest["packets_sha256"], result.manifest["packets_sha256"]
    if before == now:
        return
    known = catalogue.load()
    reasons = [
        known[flow.contestant.stack].manifest.nondeterministic
        for flow in trial.flows
        if known[flow.contestant.stack].manifest.nondeterministic
    ]
    changed = differing(stored.manifest["environment"], result.manifest["environment"])
    if changed:
        reasons.append(f"changed since then: {', '.join(changed)}")
    if not result.verdict["valid"]:
        reasons.append("; ".join(result.verdict["reasons"]))
    why = f" ({'; '.join(reasons)})" if reasons else ""
    raise NotTheSame(
        f"trial {stored.id} does not repeat here: its packets have the hash {before[:12]}, the repetition's "
        f"{now[:12]}{why}; none of the repetition is kept; remedy: run its study again, and export from that"
    )
