"""The groups of a study with trials that ran: one contestant on one network each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cambrian.store.results import Results, TrialResult


@dataclass
class Group:
    """One contestant on one network, with at least one valid trial."""

    network: str
    contestant: str
    trials: list[TrialResult]

    @property
    def hashes(self) -> dict[int, str]:
        """Seed → hash of the packet trace."""
        return {trial.manifest["trial"]["seed"]: trial.manifest["packets_sha256"] for trial in self.trials}


def groups_of(results: Results) -> Iterator[Group]:
    """Every group with a valid trial."""
    for group in results.study()["groups"]:
        ran = [results.checked(name) for name in group["trials"] if results.has(name)]
        valid = [trial for trial in ran if trial.verdict["valid"]]
        if valid:
            yield Group(group["network"], group["subject"], valid)


def without_trial(results: Results) -> tuple[str, ...]:
    """The groups that the study asks for and that have no valid trial, in words."""
    judged = {(group.contestant, group.network) for group in groups_of(results)}
    asked = dict.fromkeys((group["subject"], group["network"]) for group in results.study()["groups"])
    return tuple(in_words(*one) for one in asked if one not in judged)


def in_words(contestant: str, network: str) -> str:
    """A group's name for people."""
    return f"{contestant} on {network}"


def differ(one: Group, other: Group, *, log: bool = False) -> bool:
    """Do any two trials of the same seed differ in a packet? With ``log``: or in a row of the log?"""
    if any(other.hashes.get(seed, found) != found for seed, found in one.hashes.items()):
        return True
    theirs = {trial.manifest["trial"]["seed"]: trial for trial in other.trials} if log else {}
    pairs = ((trial, theirs.get(trial.manifest["trial"]["seed"])) for trial in one.trials)
    return any(its and not mine.transport.equals(its.transport) for mine, its in pairs)
