"""The documentation's pages: their fenced blocks, their commands, and what completes a fragment."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
#: everything that people write; the folders of results/ are made by commands and will be made again
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in DOCS.rglob("*.md")
        if (RESULTS not in page.parents or page.parent == RESULTS) and not page.is_symlink()
    ),
]

#: before a fence, unseen by a reader: what the block is, and what it is completed with
_MARK = r"(?:^<!-- toml: (?P<kind>[a-z]+)(?:, with (?P<pieces>[a-z, ]+))? -->\n\n?)?"
_FENCE = re.compile(_MARK + r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`]+)`")

#: what a marked fragment can be completed with
PIECES = {
    "heading": 'name = "docs"\ntitle = "A fragment of the documentation"\ndesign = "solo"\n',
    "network": "[[network]]\nrate_mbps = 20\nrtt_ms = 50\nbuffer_bdp = 1\n",
    "contestant": '[[contestant]]\nstack = "quinn"\ncca = "cubic"\n',
    "identity": 'name = "mystack"\n[ccas.cubic]\nreference = "cubic"\n',
    "server": '[server]\ncommand = ["{bin}"]\n[client]\nstack = "quic-go"\n',
    "build": '[build]\nkind = "cargo"\nbinary = "mystack"\n',
    "reason": '[[reason]]\nid = "thesis-stacks"\ntext = "Other stacks."\n',
}
#: those of them that stand before the fragment
_FIRST = ("heading", "identity")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    kind: str = ""
    pieces: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """PAGE:LINE."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def whole(self) -> str:
        """The text with what completes it: a heading before, tables behind."""
        first = "".join(PIECES[name] for name in self.pieces if name in _FIRST)
        last = "".join(PIECES[name] for name in self.pieces if name not in _FIRST)
        return "\n".join(part for part in (first, self.text, last) if part)


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        pieces = tuple(filter(None, re.split(r", ?", match["pieces"] or "")))
        line = text.count("\n", 0, match.start("text")) + 1
        found.append(Block(page, line, match["language"], match["text"], match["kind"] or "", pieces))
    return found


def commands(page: Path) -> list[tuple[str, str, bool]]:
    """(place, command, whole): every `cambrian …` of a page; ``whole`` unless it stands in a sentence."""
    text = page.read_text(encoding="utf-8")
    where = page.relative_to(ROOT)
    found = []
    for block in blocks(page):
        if block.language in {"", "sh", "console"}:
            lines = block.text.replace("\\\n", " ").splitlines()
            found += [(block.place, command, True) for line in lines if (command := _command(line))]
    rest = _FENCE.sub("", text)
    for match in _INLINE.finditer(rest):
        if command := _command(" ".join(match[1].split())):
            found.append((f"{where}", command, False))
    return found


def _command(line: str) -> str | None:
    """The line without its prompt and path, if it is a command of ours."""
    bare = re.sub(r"^\$ ", "", line.strip())
    bare = re.sub(r"^(time )?(\.venv/bin/)?(?=cambrian\b)", "", bare)
    return bare if re.match(r"cambrian( [a-z]|$)", bare) else None


def words(command: str) -> list[str]:
    """Its arguments: comments, redirections and what is optional left out."""
    split = shlex.split(command.replace("…", ""), comments=True)[1:]
    for index, word in enumerate(split):
        if word in {">", "|", "2>", "&&"}:
            split = split[:index]
            break
    return [word for word in split if not word.startswith("[")]
