"""Is a stack whole: are its files there, and do its commands tell its programs what its manifest states?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cambrian.stacks import built, named_files
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import Role, fault
from cambrian.stacks.template import fill


def check(stack: Stack) -> None:
    """Check a stack as far as that is possible without running it.

    Raises:
        ManifestError: a file that it names is missing or closed, two of its CCAs start the same programs in
            the same way, or nothing tells its server where to write the log that the manifest states.
    """
    program = stack.folder / stack.manifest.build.binary
    if stack.manifest.build.kind == "none" and program.is_dir():
        remedy = f"give the program in it, such as {program / stack.name}"
        raise fault(stack.file, ("build", "binary"), f"{program} is a folder", remedy)
    named_files.check(stack)
    built.readable(stack)
    manifest = stack.manifest
    pages = (*manifest.pages.server, *manifest.pages.client) if manifest.pages else ()
    texts = [*_texts(stack, stack.sides()), *pages]
    told: dict[tuple[str, ...], str] = {}
    for name, cca in manifest.ccas.items():
        other = told.setdefault(tuple(fill(text, {"cca": name} | cca.values) for text in texts), name)
        if other != name:
            problem = f"its programs start in the same way as for {other}, so they run the same controller"
            remedy = "add {cca}, or a word of values, to server.command, or remove one of the two"
            raise fault(stack.file, ("ccas", name), problem, remedy)
    server = _texts(stack, [manifest.server])
    if manifest.transport_trace == "log" and not any("{transport_log}" in text for text in server):
        problem = '"log": nothing tells the server to write the file {transport_log}'
        remedy = 'add {transport_log} to server.command, or set transport_trace = "none"'
        raise fault(stack.file, ("transport_trace",), problem, remedy)


def _texts(stack: Stack, sides: Sequence[Role]) -> Iterator[str]:
    """Every text of these sides that has words in braces: commands, environments, files."""
    for side in sides:
        yield from (*side.command, *side.environment.values())
        yield from (named_files.template(stack, file.template) for file in side.files)
