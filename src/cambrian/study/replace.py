"""Put other contestants in the place of a study's own."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.study.errors import StudyError
from cambrian.study.model import Contestant, Study
from cambrian.study.reference import REFERENCE_STACK, ReferenceOf, reference_contestant
from cambrian.study.rules import SEE_INTEROP, StackChecks, unfit


def with_contestants(
    study: Study, names: Sequence[str], reference_of: ReferenceOf, checks: StackChecks
) -> Study:
    """The study of these contestants (``stack/cca``, which exist) instead of its own.

    If kernel TCP is one of the study's contestants, it stays, with the CCAs that the new contestants are
    compared with.

    Raises:
        StudyError: the study's flows are no list of contestants, or a contestant cannot do what it asks.
    """
    if not study.contestants or study.design == "pairwise":
        problem = f'a study of the design "{study.design}" does not take it'
        remedy = (
            "choose a study of contestants alone or against the reference, such as fingerprint or quickstart"
        )
        raise StudyError(file=study.name, key="--contestant", problem=problem, remedy=remedy)
    parted = [name.split("/") for name in names]
    new = [Contestant(stack=stack, cca=cca) for stack, cca in parted]
    for name, one in zip(names, new, strict=True):
        pages = study.page_load is not None
        wrong = unfit(one, study.networks, checks, page=pages)
        if wrong is None and not pages and (none := checks.receiver_problem(one)):
            wrong = "receiver", none, SEE_INTEROP
        if wrong is not None:
            raise StudyError(file="--contestant", key=name, problem=wrong[1], remedy=wrong[2])
    kept = []
    if any(one.stack == REFERENCE_STACK for one in study.contestants):
        references = dict.fromkeys(reference_of(stack, cca) for stack, cca in parted)
        kept = [reference_contestant(cca) for cca in references if cca is not None]
    everyone = list({one.name: one for one in (*kept, *new)}.values())
    profiles = {
        name: profile.model_copy(update={"contestants": None}) for name, profile in study.profiles.items()
    }
    return study.model_copy(update={"contestants": tuple(everyone), "profiles": profiles})
