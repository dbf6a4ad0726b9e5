"""The corpus's score, for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from cambrian.judging.findings import sentence
from cambrian.markdown import table_lines
from cambrian.proof.corpus import FaultCell, Score
from cambrian.proof.floor import START_RTTS


def terminal(score: Score) -> Table:
    """The table with a row for each fault and a column for each network."""
    networks = _networks(score)
    table = Table("preset", "parameter", "set to", *networks)
    for head, cells in _rows(score):
        table.add_row(*head, *(_styled(cells.get(network)) for network in networks))
    return table


def markdown(score: Score) -> str:
    """The same table in Markdown."""
    networks = _networks(score)
    rows = ([*head, *(_text(cells.get(network)) for network in networks)] for head, cells in _rows(score))
    return "\n".join(table_lines(["preset", "parameter", "set to", *networks], rows)) + "\n"


def summary(score: Score) -> list[str]:
    """The acceptance figures, and each accusation of a clean controller."""
    exercised = score.exercised
    clean = {cell.contestant for cell in score.clean}
    idle = len(score.faults) - len(exercised)
    lines = [
        f"{score.named} of {len(exercised)} faults on a network are named with the true value in the "
        f"interval ({_percent(score.named, len(exercised))}); {idle} are not exercised there",
        f"{len(clean - score.accused)} of {len(clean)} clean controllers are accused on no network "
        f"({_percent(len(clean - score.accused), len(clean))}): {score.quiet} of {len(score.clean)} cases; "
        f"{sum(cell.checked for cell in score.clean)} parameters checked",
    ]
    if score.moved:
        lines.append(_moved(score.moved))
    lines += absent(score.absent)
    for cell in score.clean:
        lines += [f"  {cell.contestant} on {cell.network}: {sentence(one)}" for one in cell.accused]
    return lines


def absent(groups: Sequence[str]) -> list[str]:
    """A line on the groups without a valid trial, if there are any."""
    return [f"fails: groups without a valid trial: {', '.join(groups)}"] if groups else []


def _moved(moved: Mapping[tuple[str, str], tuple[str, ...]]) -> str:
    outside = [how for how in moved.values() if how]
    by_envelope = sum("envelope" in how for how in outside)
    inside = sorted({preset for (preset, _), how in moved.items() if not how})
    text = (
        f"{len(outside)} of {len(moved)} faulty controllers on a network leave the noise floor of the clean "
        f"one ({_percent(len(outside), len(moved))}): {by_envelope} by their envelope, "
        f"{len(outside) - by_envelope} by their first {START_RTTS} round trips alone"
    )
    return f"{text}; inside it on some network: {', '.join(inside)}" if inside else text


def _networks(score: Score) -> list[str]:
    return list(dict.fromkeys(cell.network for cell in score.faults))


def _rows(score: Score) -> Iterator[tuple[tuple[str, str, str], dict[str, FaultCell]]]:
    for fault in dict.fromkeys(cell.fault for cell in score.faults):
        cells = {cell.network: cell for cell in score.faults if cell.fault == fault}
        yield (fault.preset, fault.parameter, fault.truth_text), cells


def _text(cell: FaultCell | None) -> str:
    if cell is None:
        return "–"
    if cell.state == "named":
        return cell.text.removesuffix(" (off)").removesuffix(" (other choice)")
    return "not exercised" if cell.state == "not exercised" else f"missed: {cell.text}"


def _styled(cell: FaultCell | None) -> Text:
    return Text(_text(cell), style="red" if cell is not None and cell.state == "missed" else "")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
