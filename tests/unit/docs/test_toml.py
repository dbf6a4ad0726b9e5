"""Every TOML block of the documentation is taken by the reader it is for."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from cambrian import paths
from cambrian.claims import load as claims
from cambrian.claims import scorecard
from cambrian.cluster import deploy
from cambrian.gate import carry_out as gate
from cambrian.measure import quantities
from cambrian.probes.table import Probe
from cambrian.published import load as published
from cambrian.report import across
from cambrian.report.suite.sections import Section
from cambrian.stacks import catalogue, checks, manifest
from cambrian.study.load import parse_study
from cambrian.study.model import Contestant, Network
from cambrian.study.offered import Stacks
from cambrian.study.toml_file import TomlFile
from cambrian.suites import model as suites
from tests.unit.docs.pages import PAGES, PIECES, ROOT, Block, blocks

BLOCKS = [block for page in PAGES for block in blocks(page) if block.language == "toml"]
#: a table or key that only this kind of file has → the kind
_KINDS = {
    "claim": "claims",
    "contradiction": "contradictions",
    "criterion": "scorecard",
    "comparison": "comparisons",
    "probe": "probes",
    "chart": "charts",
    "build": "manifest",
    "parts": "suite",
    "network": "study",
    "address": "cluster",
    "class": "cluster",
}


def _kind(block: Block) -> str:
    keys = tomllib.loads(block.text)
    if isinstance(keys.get("contestant"), str):
        return "gate"
    return block.kind or next((kind for key, kind in _KINDS.items() if key in keys), "unknown")


def _known_stacks() -> Stacks:
    """The catalogue, and the stacks that the pages themselves bring."""
    own = [tomllib.loads(block.text) for block in BLOCKS if _kind(block) == "manifest"]
    found: dict[str, list[str]] = {}
    for one in own:
        found.setdefault(one.get("name", ""), []).extend(one.get("ccas", ()))
    known = catalogue.ccas()
    known.update({name: ccas for name, ccas in found.items() if name not in known})
    return known


class _Checks:
    """The options of stacks that there are; a page's own stack has none to check."""

    def option_problem(self, contestant: Contestant) -> tuple[str, str, str] | None:
        return checks.option_problem(contestant) if contestant.stack in catalogue.load() else None

    def use_problem(
        self, contestant: Contestant, network: Network, *, page: bool
    ) -> tuple[str, str, str] | None:
        known = contestant.stack in catalogue.load()
        return checks.use_problem(contestant, network, page=page) if known else None

    def receiver_problem(self, contestant: Contestant) -> str | None:
        return checks.receiver_problem(contestant) if contestant.stack in catalogue.load() else None


def _read(kind: str, text: str, folder: Path) -> None:
    match kind:
        case "study":
            parse_study(text, "docs.toml", folder, _known_stacks(), None, _Checks())
        case "manifest":
            path = folder / f"{tomllib.loads(text)['name']}.toml"
            path.write_text(text)
            manifest.read(path)
        case "claims":
            paper = folder / tomllib.loads(text)["claim"][0]["paper"]
            paper.mkdir()
            (paper / "claims.toml").write_text(text)
            claims.load(folder)
        case "contradictions":
            shutil.copytree(paths.data() / "published", folder / "published")
            (folder / "published" / "contradictions.toml").write_text(text)
            claims.load(folder / "published")
        case "scorecard":
            (folder / "scorecard.toml").write_text(text)
            scorecard.load(folder / "scorecard.toml")
        case "comparisons":
            (folder / "comparisons.toml").write_text(text)
            published.comparisons(folder)
        case "suite":
            for part in tomllib.loads(text)["parts"]:
                (folder / f"{part}.toml").touch()
            (folder / "suite.toml").write_text(text)
            _, file = suites.read(folder / "suite.toml")
            file.tables(suites.SECTION, Section)
        case "probes":
            (folder / "probes.toml").write_text(text)
            TomlFile(folder / "probes.toml", "docs/reference/probes.md").tables("probe", Probe)
        case "charts":
            (folder / "across.toml").write_text(text)
            across.read(folder / "across.toml")
        case "gate":
            (folder / "gate.toml").write_text(text)
            for name in tomllib.loads(text).get("studies", ()):
                (folder / name).touch()
            gate.read(folder / "gate.toml")
        case "cluster":
            (folder / "cluster.toml").write_text(text)
            deploy.description(folder / "cluster.toml")
        case _:
            pytest.fail("no reader: put <!-- toml: KIND, with PIECES --> before the fence")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_a_block_is_read(block: Block, tmp_path: Path) -> None:
    assert set(block.pieces) <= set(PIECES)
    _read(_kind(block), block.whole, tmp_path)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_an_option_is_one_of_its_stack(block: Block) -> None:
    """The reader of studies leaves options to the stack's program; here its sources must name each."""
    raw = tomllib.loads(block.text)
    contestants = raw.get("contestant", ())
    for one in (*(contestants if isinstance(contestants, list) else ()), *raw.get("flow", ())):
        for key in one.get("options", {}):
            folder = ROOT / "stacks" / one["stack"]
            sources = [
                path for path in folder.rglob("*") if path.suffix in {".rs", ".go", ".c", ".py", ".toml"}
            ]
            assert any(f'"{key}"' in path.read_text(errors="replace") for path in sources), (
                one["stack"],
                key,
            )


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_a_claims_quantity_is_one(block: Block) -> None:
    for quantity in re.findall(r'^quantity = "([^"]+)"', block.text, re.MULTILINE):
        assert quantity in quantities.ALL
