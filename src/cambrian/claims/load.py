"""``published/claims.toml`` → a :class:`~cambrian.claims.model.Ledger`."""

from __future__ import annotations

from pathlib import Path

from cambrian import paths
from cambrian.claims.model import Claim, Contradiction, Ledger
from cambrian.claims.reading import TomlFile
from cambrian.study import hints


def default_path() -> Path:
    """The ledger of this checkout."""
    return paths.repository() / "published" / "claims.toml"


def load(path: Path | None = None) -> Ledger:
    """All claims and contradictions, in the file's order.

    Raises:
        StudyError: of the first fault: its file, line, claim, key and remedy.
    """
    file = TomlFile(path or default_path())
    file.only(["claim", "contradiction"])
    claims = file.tables("claim", Claim)
    contradictions = file.tables("contradiction", Contradiction)
    ids = [claim.id for claim in claims]
    for index, name in enumerate(ids):
        if name in ids[:index]:
            raise file.error(("claim", index, "id"), f"{name} is there twice", "give each claim its own id")
    for index, one in enumerate(contradictions):
        for name in one.claims:
            if name not in ids:
                remedy = hints.for_name(name, ids, "claims")
                raise file.error(("contradiction", index, "claims"), f"{one.id}: no claim {name}", remedy)
    return Ledger(claim=claims, contradiction=contradictions)
