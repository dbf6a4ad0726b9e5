"""``published/claims.toml`` → a :class:`~cambrian.claims.model.Ledger`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cambrian import paths
from cambrian.claims.model import Claim, Contradiction, Ledger, Reason
from cambrian.study import hints
from cambrian.study.toml_file import TomlFile


def default_path() -> Path:
    """The ledger of this checkout."""
    return paths.repository() / "published" / "claims.toml"


def load(path: Path | None = None) -> Ledger:
    """All claims and contradictions, in the file's order.

    Raises:
        StudyError: of the first fault: its file, line, claim, key and remedy.
    """
    file = TomlFile(path or default_path(), "docs/claims.md")
    file.only(["reason", "claim", "contradiction"])
    claims = _with_reasons(file, file.tables("claim", Claim))
    contradictions = file.tables("contradiction", Contradiction)
    file.unique("claim", "id")
    ids = [claim.id for claim in claims]
    for index, one in enumerate(contradictions):
        for name in one.claims:
            if name not in ids:
                remedy = hints.for_name(name, ids, "claims")
                raise file.error(("contradiction", index, "claims"), f"no claim {name}", remedy)
    return Ledger(claim=claims, contradiction=contradictions)


def _with_reasons(file: TomlFile, claims: Sequence[Claim]) -> list[Claim]:
    """The claims, the texts of the reasons that they name put behind their own."""
    reasons = file.tables("reason", Reason)
    file.unique("reason", "id")
    texts = {reason.id: reason.text for reason in reasons}
    found = []
    for index, claim in enumerate(claims):
        if claim.why_shared is None:
            found.append(claim)
            continue
        if claim.why_shared not in texts:
            remedy = hints.for_name(claim.why_shared, texts, "reasons")
            raise file.error(("claim", index, "why_shared"), f"no reason {claim.why_shared}", remedy)
        why = " ".join(part for part in (claim.why_differ, texts[claim.why_shared]) if part)
        found.append(claim.model_copy(update={"why_differ": why}))
    return found
