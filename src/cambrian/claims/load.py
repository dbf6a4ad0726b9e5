"""``published/claims.toml`` → a :class:`~cambrian.claims.model.Ledger`."""

from __future__ import annotations

from pathlib import Path

from cambrian import paths
from cambrian.claims.model import Claim, Contradiction, Ledger
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
    file.only(["claim", "contradiction"])
    claims = file.tables("claim", Claim)
    contradictions = file.tables("contradiction", Contradiction)
    file.unique("claim", "id")
    ids = [claim.id for claim in claims]
    for index, one in enumerate(contradictions):
        for name in one.claims:
            if name not in ids:
                remedy = hints.for_name(name, ids, "claims")
                raise file.error(("contradiction", index, "claims"), f"no claim {name}", remedy)
    return Ledger(claim=claims, contradiction=contradictions)
