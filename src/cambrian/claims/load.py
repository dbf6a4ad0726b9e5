"""Read ``published/PAPER/claims.toml`` and ``contradictions.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cambrian import paths
from cambrian.claims.model import Claim, Contradiction, Ledger, Reason
from cambrian.study import hints
from cambrian.study.toml_file import TomlFile
from cambrian.suites import find, names

_DOCS = "docs/reference/claims.md"


def default_folder() -> Path:
    """The folder of claims, with one folder for each paper."""
    return paths.data() / "published"


def load(folder: Path | None = None) -> Ledger:
    """All claims, in order of their papers' folders, and the contradictions.

    Raises:
        StudyError: a claim or a contradiction has a fault; with file, line, claim, key and remedy.
    """
    folder = folder or default_folder()
    claims: list[Claim] = []
    for path in sorted(folder.glob("*/claims.toml")):
        claims += _claims(path, {claim.id for claim in claims})
    return Ledger(claim=claims, contradiction=_contradictions(folder / "contradictions.toml", claims))


def _claims(path: Path, taken: set[str]) -> list[Claim]:
    """One paper's claims; none may have an id that is ``taken``."""
    file = TomlFile(path, _DOCS)
    file.check_keys(["reason", "claim"])
    claims = _with_reasons(file, file.tables("claim", Claim))
    file.unique("claim", "id")
    tests = [
        (("claim", index, "test", number), test)
        for index, claim in enumerate(claims)
        for number, test in enumerate(claim.tests)
    ]
    file.refuse(find.wrong_parts(((*place, "part"), test.part) for place, test in tests))
    file.refuse(names.wrong(tests))
    for index, claim in enumerate(claims):
        if claim.paper != path.parent.name:
            remedy = f'give paper = "{path.parent.name}", or move the claim to its paper\'s folder'
            raise file.error(("claim", index, "paper"), f"{claim.paper} is not the folder's paper", remedy)
        if claim.id in taken:
            remedy = "give each claim its own id"
            raise file.error(("claim", index, "id"), "another paper's claim has this id", remedy)
    return claims


def _contradictions(path: Path, claims: Sequence[Claim]) -> Sequence[Contradiction]:
    if not path.exists():
        return ()
    file = TomlFile(path, _DOCS)
    file.check_keys(["contradiction"])
    found = file.tables("contradiction", Contradiction)
    file.refuse(
        find.wrong_parts((("contradiction", index, "part"), one.part) for index, one in enumerate(found))
    )
    file.refuse(names.wrong((("contradiction", index), one.effect) for index, one in enumerate(found)))
    ids = [claim.id for claim in claims]
    for index, one in enumerate(found):
        for name in one.claims:
            if name not in ids:
                remedy = hints.for_name(name, ids, "claims")
                raise file.error(("contradiction", index, "claims"), f"no claim {name}", remedy)
    return found


def _with_reasons(file: TomlFile, claims: Sequence[Claim]) -> list[Claim]:
    """The claims, each with the text of its shared reason appended to its own."""
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
