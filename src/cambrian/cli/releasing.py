"""Commands about a stack's releases: what each measures, and which one changed a behaviour."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cambrian.cli.shared import JobsOption, TrustOption, err, fail, out

if TYPE_CHECKING:
    from cambrian.releases.trials import Bench

commands = typer.Typer()

NetworkOption = Annotated[
    str, typer.Option(help="Only these networks of the study: a name, or a pattern such as 'probe-*'.")
]
SeedsOption = Annotated[
    int | None, typer.Option(min=1, help="Seeds of each network. Default: as many as the study has.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="Results directory, which keeps all trials.")
]


@commands.command()
def history(
    contestant: Annotated[
        str,
        typer.Argument(metavar="STACK[/CCA]", help="A stack with releases; without a CCA, all of its CCAs."),
    ],
    study: Annotated[
        str | None,
        typer.Argument(help="A study of contestants alone. Default: a clean link, and one with 1 % loss."),
    ] = None,
    releases: Annotated[
        str,
        typer.Option(help="Which releases: a pattern such as '0.11.*', or limits such as '>=0.57,<0.64'."),
    ] = "*",
    quantities: Annotated[
        list[str] | None,
        typer.Option("--quantity", help="A quantity of the table and chart; may be repeated."),
    ] = None,
    network: NetworkOption = "*",
    seeds: SeedsOption = None,
    folder: OutOption = None,
    jobs: JobsOption = 0,
    trust: TrustOption = False,
) -> None:
    """Measure a stack's releases: table and chart of their figures, and what changed from each to the next.

    A release that does not build with our endpoint is listed with the compiler's first error. All trials are
    kept (default: results/history/STACK-CCA), so the same command goes on where it stopped.
    """
    from cambrian.gate.quantities import MARGINS
    from cambrian.releases import history as histories
    from cambrian.releases import output, ready
    from cambrian.study import hints

    shown = quantities or list(histories.SHOWN)
    for name in shown:
        if name not in MARGINS:
            fail(
                f"--quantity {name}: no such quantity; {hints.for_name(name, MARGINS, 'the quantities are')}"
            )
    stack = ready.stack_of(contestant.partition("/")[0])
    more = ["--releases", releases] if releases != "*" else []
    more += [word for name in quantities or () for word in ("--quantity", name)]
    benches = _benches("history", contestant, study, more, network, seeds, folder, jobs, trust)
    wanted = ready.chosen(stack, releases)
    for bench in benches:
        found = histories.run(bench, stack, wanted, shown, err)
        output.show_history(found, out)
        for path in output.write_history(found, bench.folder):
            print(path)


@commands.command()
def bisect(
    contestant: Annotated[str, typer.Argument(metavar="STACK/CCA", help="A stack with releases.")],
    good: Annotated[str, typer.Option(help="A release with the behaviour that you want.")],
    bad: Annotated[str, typer.Option(help="A release without it; newer or older.")],
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY|PROBE",
            help="A study of contestants alone, or a probe. Default: a clean link, and one with 1 % loss.",
        ),
    ] = None,
    quantity: Annotated[
        str | None,
        typer.Option(help="What to follow: a quantity, parameter or probe. Default: what differs most."),
    ] = None,
    network: NetworkOption = "*",
    seeds: SeedsOption = None,
    folder: OutOption = None,
    jobs: JobsOption = 0,
    trust: TrustOption = False,
) -> None:
    """Find the release in which a behaviour changed, by a binary search between a good and a bad release.

    A behaviour is one figure on one network, which must differ clearly between good and bad by the rule of
    `cambrian gate`. Each release between is like good, like bad, or neither. One that does not build, or has
    invalid trials, is skipped; the answer may then be a range. Trials are kept in results/bisect/STACK-CCA.
    """
    from cambrian.gate.quantities import MARGINS
    from cambrian.releases import bisect as bisections
    from cambrian.releases import history as histories
    from cambrian.releases import output, ready
    from cambrian.stacks import registry
    from cambrian.study import hints

    if "/" not in contestant:
        fail(f"{contestant}: name a contestant as STACK/CCA, such as quic-go/reno")
    figures = histories.known_figures()
    if quantity is not None and quantity not in figures:
        listing = hints.for_name(quantity, figures, "the quantities are")
        fail(f"--quantity {quantity}: no such quantity; {listing}")
    stack = ready.stack_of(contestant.partition("/")[0])
    if study is not None and (of_probe := bisections.probe_networks().get(study)):
        quantity = quantity or study
        network = of_probe if network == "*" else network
        study = bisections.PROBED
    more = ["--good", good, "--bad", bad, *(["--quantity", quantity] if quantity else [])]
    (bench,) = _benches("bisect", contestant, study, more, network, seeds, folder, jobs, trust)
    ends = bisections.ends_of(stack, good, bad)
    # what no judgement by kernel TCP belongs to needs none of its trials
    bench = replace(bench, reference=quantity not in MARGINS or quantity == "conformance")
    result = bisections.run(bench, ends, quantity, err)
    for line in output.bisected(result, bench, registry.package(stack)):
        out.print(line, markup=False, highlight=False)
    # nothing runs anew; the folder then knows the pair, which the user is told to compare
    bench.measure(list(dict.fromkeys([ends.good, ends.bad, *result.pair])), err)


def _benches(
    command: str,
    contestant: str,
    study: str | None,
    more: Sequence[str],
    network: str,
    seeds: int | None,
    folder: Path | None,
    jobs: int,
    trust: bool,
) -> list[Bench]:
    """One bench for each CCA that is asked for; ``more``: the command's own options, as typed."""
    from cambrian.releases import ready, trials
    from cambrian.run.study import RunOptions
    from cambrian.study.naming import slug

    name, _, cca = contestant.partition("/")
    stack = ready.stack_of(name)
    if cca:
        ready.check_cca(stack, cca)
    if not trust:
        ready.trusted(stack, Path.cwd())
    words = [*([study] if study else []), *more]
    words += ["--network", network] if network != "*" else []
    words += ["--seeds", str(seeds)] if seeds else []
    wanted = [cca] if cca else list(stack.manifest.ccas)
    found = []
    for one in wanted:
        started_by = shlex.join(["cambrian", command, f"{name}/{one}", *words])
        options = RunOptions(
            study or trials.STUDY, jobs=jobs, trust=trust, seeds=seeds, started_by=started_by
        )
        place = folder or Path("results") / command / slug(f"{name}-{one}")
        if folder and len(wanted) > 1:
            place = folder / one
        bench = trials.Bench(name, one, options, place, network)
        bench.check()
        found.append(bench)
    return found
