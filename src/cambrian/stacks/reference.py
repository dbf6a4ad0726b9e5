"""docs/reference/stack-options.md, made from the stacks' manifests."""

from __future__ import annotations

from itertools import groupby

from cambrian import paths
from cambrian.stacks import catalogue
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import Option

_HEAD = """# Options of stacks

What a contestant's `options` can set (`options = { initial_window_packets = 32 }`). An option goes to the
sender's program as `--set NAME=VALUE`. An unknown one, or a value out of range, is an error of the study. The
same name means the same in every stack, and its ending is the unit. A boolean is `true` or `false`. The
default is the stack's own.

`make reference` generates this page from the `[options]` of the [manifests](endpoint-contract.md#manifests).
A stack of yours whose manifest has no `[options]` takes any.
"""
#: stack → the page that explains its options; "see below" in the meanings of its manifest is there
_EXPLAINED = {"quinn-lab": 'Where the table says "see below", see [the lab stack](lab-stack.md#options).'}
_TABLE = """
| option | values | default | meaning; source |
|---|---|---|---|
"""


def page() -> str:
    """The page as Markdown: a section for each set of options, of one stack or of several that share it."""
    shipped = [stack for stack in catalogue.load().values() if stack.file.is_relative_to(paths.data())]
    stacks = [stack for stack in shipped if stack.manifest.options]
    stacks.sort(key=lambda stack: (_keys(stack), stack.name))
    sections = [list(sharing) for _, sharing in groupby(stacks, key=_keys)]
    without = [stack.name for stack in shipped if stack.manifest.options == {}]
    parts = [_HEAD]
    for sharing in sorted(sections, key=lambda section: section[0].name):
        parts.append(f"\n## {', '.join(stack.name for stack in sharing)}\n")
        parts += [f"\n{_EXPLAINED[stack.name]}\n" for stack in sharing if stack.name in _EXPLAINED]
        parts.append(_TABLE)
        options = sharing[0].manifest.options or {}
        parts += [_row(name, option) for name, option in options.items()]
    parts.append(f"\n## No options\n\n{', '.join(without)}.\n")
    return "".join(parts)


def _keys(stack: Stack) -> str:
    return repr(stack.manifest.options)


def _row(name: str, option: Option) -> str:
    default = "" if option.default is None else option.default
    if isinstance(default, bool):
        default = str(default).lower()
    elif not isinstance(default, str):
        default = f"{default:,}"
    only = f" CCAs: {', '.join(f'`{pattern}`' for pattern in option.ccas)}." if option.ccas else ""
    source = f" {option.source}." if option.source else ""
    return f"| `{name}` | {option.values} | {default} | {option.meaning}.{source}{only} |\n"
