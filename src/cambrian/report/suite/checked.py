"""What a suite's page needs, checked before anything runs: its sections, and what they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from cambrian.claims import load as ledger
from cambrian.claims import scorecard
from cambrian.effects.model import OBSERVATIONS, EffectSpec
from cambrian.published import compare, load
from cambrian.published.model import Comparison
from cambrian.report import tables
from cambrian.report.suite.sections import PLACEHOLDERS, Section, TableOf, placed
from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.study.positions import Path as Place
from cambrian.study.toml_file import TomlFile
from cambrian.suites import find, model, names
from cambrian.suites.find import SuiteFolder
from cambrian.suites.model import SECTION, Suite, folder_of

#: a fault: its place, the problem, and the remedy
_Fault = tuple[Place, str, str]
#: what looks like a placeholder
_WORD = re.compile(r"\$[A-Z][A-Z_]+")


def _claims() -> list[str]:
    """The identities of all claims; reading them takes a second."""
    return [claim.id for claim in ledger.load().claims]


def check(found: SuiteFolder, claims: Callable[[], list[str]] = _claims) -> None:
    """Check the sections of a suite's page, for its own contestants. ``claims``: the claims that it may name.

    What depends on the trials, such as the columns of a report's table, is checked when the page is made.

    Raises:
        StudyError: a section is wrong, or names what is not there; so does a comparison, a claim or a
            scorecard that it shows.
    """
    suite, file = model.read(found.folder / model.FILE)
    contestants = [(stack, cca) for stack, cca in (name.split("/") for name in suite.contestants)]
    file.refuse(_placeholders(suite, file))
    sections = placed(file, contestants)
    file.refuse(_parts(sections))
    file.refuse(names.wrong(_effects(sections)))
    file.refuse(_tables(sections))
    comparisons = load.comparisons(load.folder(suite.paper)) if suite.paper else {}
    file.refuse(_named(suite, sections, comparisons, claims))
    shown = [comparisons[section.comparison] for _, section in sections if section.comparison is not None]
    _check_comparisons(load.folder(suite.paper or ""), shown)
    for place, section in sections:
        if section.scorecard is not None:
            _check_scorecard(found, file, (*place, "scorecard"), section.scorecard)


def check_all(suites: Iterable[SuiteFolder]) -> None:
    """Check all suites.

    Raises:
        StudyError: as :func:`check`, with the faults of all of them.
    """
    faults: list[StudyError] = []
    claims = cache(_claims)
    for found in suites:
        try:
            check(found, claims)
        except StudyError as error:
            # a comparison or a claim may be shown by several suites
            faults += (one for one in (error, *error.others) if str(one) not in map(str, faults))
    if faults:
        faults[0].others = tuple(faults[1:])
        raise faults[0]


def _placeholders(suite: Suite, file: TomlFile) -> Iterator[_Fault]:
    """Sections that would be shown for no contestant, or with a word that nothing replaces."""
    for index, given in enumerate(file.listed(SECTION)):
        # a text may tell of a shell's $HOME
        inside = {key: value for key, value in given.items() if key != "text"}
        words = set(_WORD.findall(str(inside)))
        if unknown := sorted(words - {*PLACEHOLDERS}):
            yield (SECTION, index), f"{unknown[0]} is no placeholder", f"give {hints.choices(PLACEHOLDERS)}"
        elif not suite.contestants and (words := {word for word in PLACEHOLDERS if word in str(given)}):
            problem = f"{min(words)} stands for a contestant, and this suite has none"
            yield (SECTION, index), problem, 'write the name, or add contestants = ["STACK/CCA"] above'


def _parts(sections: Sequence[tuple[Place, Section]]) -> Iterator[_Fault]:
    shown = [(place, one.part) for place, one in _shown(sections)]
    yield from find.wrong_parts(((*place, "part"), part) for place, part in shown)


def _shown(sections: Sequence[tuple[Place, Section]]) -> Iterator[tuple[Place, EffectSpec | TableOf]]:
    """What the sections show of a part's frame, each with the place of its table."""
    for place, section in sections:
        for key in ("heat", "lines", "crossover", "table"):
            if (one := getattr(section, key)) is not None:
                yield (*place, key), one


def _effects(sections: Sequence[tuple[Place, Section]]) -> Iterator[tuple[Place, EffectSpec]]:
    return ((place, one) for place, one in _shown(sections) if isinstance(one, EffectSpec))


def _tables(sections: Sequence[tuple[Place, Section]]) -> Iterator[_Fault]:
    known = [OBSERVATIONS, *tables.kinds()]
    for place, one in _shown(sections):
        if one.table not in known:
            remedy = hints.for_name(one.table, known, "tables are")
            yield (*place, "table"), f"no report has a table {one.table}", remedy
        elif isinstance(one, TableOf) and one.table == OBSERVATIONS:
            yield from names.wrong_in((*place, "where"), one.where, one.part)


def _named(
    suite: Suite,
    sections: Sequence[tuple[Place, Section]],
    comparisons: dict[str, Comparison],
    claims: Callable[[], list[str]],
) -> Iterator[_Fault]:
    """The comparisons and claims of the paper that the sections name."""
    ids = claims() if any(one.claims for _, one in sections) else []
    for place, section in sections:
        for key in ("comparison", "claims"):
            if getattr(section, key) and suite.paper is None:
                yield (*place, key), f"this suite has no paper, so no {key}", "give paper, or remove this"
        if section.comparison is not None and suite.paper and section.comparison not in comparisons:
            remedy = hints.for_name(section.comparison, comparisons, f"those of {suite.paper} are")
            yield (*place, "comparison"), f"no comparison {section.comparison}", remedy
        for number, name in enumerate(section.claims if isinstance(section.claims, tuple) else ()):
            if name not in ids:
                yield (*place, "claims", number), f"no claim {name}", hints.for_name(name, ids, "claims are")


def _check_comparisons(paper: Path, shown: Sequence[Comparison]) -> None:
    """Check comparisons beside their files, and what they ask of a part."""
    named: dict[Place, Comparison] = {(one.name,): one for one in shown}
    for place, problem, remedy in find.wrong_parts((at, one.measured.part) for at, one in named.items()):
        raise load.fault(named[place], paper, "measured.part", problem, remedy)
    for one in named.values():
        for place, problem, remedy in _wrong_names(one):
            raise load.fault(one, paper, place, problem, remedy)
        compare.compare(one, paper, None)


def _wrong_names(comparison: Comparison) -> Iterator[_Fault]:
    part = comparison.measured.part
    yield from names.wrong([(("measured",), comparison.measured)])
    for side, where in comparison.sides.items():
        yield from names.wrong_in(("sides", side), where, part)
    for theirs, words in comparison.values.items():
        for word, value in words.items():
            for _, problem, remedy in names.wrong_in((), {comparison.match[theirs]: value}, part):
                yield ("values", theirs, word), problem, remedy


def _check_scorecard(found: SuiteFolder, file: TomlFile, place: Place, name: str) -> None:
    """Check a file of criteria, each for all contestants of the suite."""
    path = found.folder / name
    if not path.is_file():
        known = [one.name for one in found.folder.glob("*.toml") if one.stem not in found.suite.parts]
        remedy = hints.for_name(name, {*known} - {model.FILE}, "files without a study here are")
        raise file.error(place, f"there is no {name} in this folder", remedy)
    for contestant in found.suite.contestants:
        filled = scorecard.placeholders(*contestant.split("/"))
        scorecard.check(path, f"{found.suite.name}/{folder_of(contestant)}", filled)
    if not found.suite.contestants:
        scorecard.check(path, found.suite.name, {})
