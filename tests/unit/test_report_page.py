from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from cambrian.cli import reading
from cambrian.report import cards, series, study_page
from cambrian.report.collect import collect
from cambrian.report.figures.kinds import all_figures
from cambrian.run.study import RunOptions
from cambrian.store.results import Results
from tests.unit import report_results

LOADS = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping"}


class Read(HTMLParser):
    """What a page loads, links to and embeds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[tuple[str, str]] = []
        self.links: list[str] = []
        #: the identity of each script with data → its text
        self.data: dict[str, str] = {}
        self.tags: list[str] = []
        self.panels: list[dict[str, str | None]] = []
        self.words = ""
        self._script: str | None = None
        self._raw: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self.loaded += [(tag, value or "") for name, value in attrs if name in LOADS]
        if tag == "link":
            self.loaded.append((tag, found.get("href") or ""))
        if tag == "a":
            self.links.append(found.get("href") or "")
        if found.get("class") == "panel":
            self.panels.append(found)
        self._raw = tag if tag in ("script", "style") else None
        if tag == "script":
            self._script = found.get("id")

    def handle_endtag(self, tag: str) -> None:
        self._raw = None

    def handle_data(self, data: str) -> None:
        if self._raw == "script" and self._script:
            self.data[self._script] = self.data.get(self._script, "") + data
        if self._raw is None:
            self.words += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_results.report(report_results.KNOBS, tmp_path_factory.mktemp("report"), with_files=True)


@pytest.fixture(scope="module")
def read(made: Path) -> Read:
    return Read(made.read_text())


def test_page_loads_nothing_from_elsewhere(made: Path, read: Read) -> None:
    assert all(not re.match(r"[a-z]+:|//", address) for _, address in read.loaded), read.loaded
    assert not read.loaded
    assert not {"link", "iframe", "object", "embed", "base"} & set(read.tags)
    style = re.search(r"<style>(.*?)</style>", made.read_text(), re.DOTALL)
    assert style and "url(" not in style[1] and "@import" not in style[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made.read_text())
    assert policy and policy[1].startswith("default-src 'none'") and "http" not in policy[1]


def test_every_relative_link_leads_to_a_file(made: Path, read: Read) -> None:
    files = [link for link in read.links if not link.startswith("#")]
    assert files and all((made.parent / link).stat().st_size for link in files)


def test_figures_are_files_when_asked_for(made: Path, read: Read) -> None:
    names = {figure.name for figure in all_figures(collect(Results(report_results.KNOBS)))}
    kinds = {"envelope_", "envelope-pooled_", "envelope-clustered_", "states-"}
    assert names == {f"{kind}4mbps-20ms-2bdp" for kind in kinds}
    for name in names:
        folder = made.parent / "figures"
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{name}.svg").read_text().startswith("<svg")
        assert (folder / f"{name}.csv").read_text().count("\n") > 10
        assert f'data-name="{name}"' in made.read_text()


def test_panels_are_charts_with_words(made: Path, read: Read) -> None:
    # envelopes, of one trial and clustered: two references and two contestants; pooled: contestants;
    # state machines: contestants
    assert len(read.panels) == 2 * 4 + 2 + 2
    for panel in read.panels:
        spec = data(made.parent / "figures" / str(panel["data-figure"]))[int(str(panel["data-number"]))]
        assert "mark" in spec or "layer" in spec
    assert all(panel["role"] == "img" for panel in read.panels)
    assert all(len(str(panel["aria-label"])) > 30 for panel in read.panels)


def test_panels_of_one_figure_share_their_axes(made: Path) -> None:
    specs = data(made.parent / "figures" / "envelope_4mbps-20ms-2bdp.js")
    assert len(specs) == 4
    domains = {json.dumps(one["scale"]["domain"]) for one in found(specs, "scale") if one.get("title")}
    assert len(domains) == 2


def found(value: Any, key: str) -> list[dict[str, Any]]:
    """Every object within a JSON value that has the key, and whose value there is an object with a domain."""
    if isinstance(value, list):
        return [one for each in value for one in found(each, key)]
    if not isinstance(value, dict):
        return []
    mine = [value] if isinstance(value.get(key), dict) and value.get("type") == "quantitative" else []
    return mine + [one for each in value.values() for one in found(each, key)]


def data(path: Path) -> Any:
    """What a file beside the page gives to it."""
    call = re.fullmatch(r"cambrian\((.*)\)\n", path.read_text(), re.DOTALL)
    assert call
    name, value = json.loads(f"[{call[1]}]")
    assert name == path.name
    return value


def test_each_valid_trial_is_there_over_time(made: Path) -> None:
    groups = json.loads(Read(made.read_text()).data["groups"])
    trials = [trial["id"] for group in groups.values() for trial in group["trials"]]
    assert len(trials) == 12
    for group in groups.values():
        assert data(made.parent / "data" / group["file"])["trials"] == len(group["trials"])
    for trial in trials:
        assert [kind["name"] for kind in data(made.parent / "data" / f"{trial}.js")["kinds"]] == [
            kind.name for kind in series.KINDS
        ]


def test_a_page_is_small(made: Path) -> None:
    """What the first screen needs: the page alone."""
    assert made.stat().st_size < 1_000_000


def test_the_licences_of_libraries_are_beside_the_page(made: Path) -> None:
    text = (made.parent / "licences.txt").read_text()
    assert "uplot" in text and "Permission is hereby granted" in text
    assert "Vega" in text and "Redistribution and use" in text


def test_page_says_what_ran(made: Path, read: Read) -> None:
    results = Results(report_results.KNOBS)
    study = results.study()
    assert study["command"] in read.words
    assert study["kernel"]["sha256"] in read.words
    trials = [name for group in study["groups"] for name in group["trials"]]
    for name in trials:
        assert results.trial(name).manifest["packets_sha256"] in read.words
        description = json.loads((made.parent / "trials" / f"{name}.json").read_text())
        assert description == results.trial(name).manifest["trial"]
    assert "buffer 20,000 bytes (2 BDP)" in read.words


@pytest.mark.parametrize(
    "only", ["net/a-*,net/b-*", "4mbps-20ms-2bdp/tcp-cubic+tcp-cubic", "it's", "quinn bbr", None]
)
def test_a_card_repeats_its_own_group_alone(only: str | None) -> None:
    """Several --only add up, so the recorded one would bring back the whole study."""
    recorded = RunOptions("s.toml", only=only).command
    shown = study_page._repeat_groups(recorded, "net/it's,net/b")
    own = ["--only", "net/it's,net/b", "--out", "again"]
    assert shlex.split(shown) == [*shlex.split(RunOptions("s.toml").command), *own]


def test_a_card_of_an_earlier_version_repeats_its_own_group_alone() -> None:
    """Earlier versions wrote a pattern between quotes, whatever it was."""
    assert study_page._repeat_groups("cambrian run s.toml --only 'it's'", "net/a") == (
        "cambrian run s.toml --only net/a --out again"
    )


@pytest.mark.parametrize("command", ["cambrian gate gate.toml", "cambrian history quinn/cubic --seeds 5"])
def test_a_card_of_a_command_without_only_repeats_the_command(command: str) -> None:
    assert study_page._repeat_groups(command, "net/a") == command


def test_the_page_has_the_commands_of_its_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Results(report_results.KNOBS).study()["groups"][0]["network"]
    card = cards.Card("c", network, "q", "slower", "", "", 1, "harm", groups=f"{network}/it's")
    monkeypatch.setattr(cards, "cards", lambda *_: [card])
    folder = report_results.copy(tmp_path, report_results.one_group)
    shown = html.unescape(report_results.report(folder, tmp_path / "report").read_text())
    command = Results(report_results.KNOBS).study()["command"]
    assert f"""<code>{command} --only '{network}/it'"'"'s' --out again</code>""" in shown


def test_csv_holds_more_digits_than_the_page(made: Path) -> None:
    lines = (made.parent / "tables" / "conformance.csv").read_text().splitlines()
    assert len(lines) == 3
    assert any(len(cell.split(".")[-1]) > 6 for cell in lines[1].split(","))


def test_same_results_make_the_same_page(made: Path, tmp_path: Path) -> None:
    again = report_results.report(report_results.KNOBS, tmp_path)
    assert again.read_text() == made.read_text()


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    bad = "</script><img src=x onerror=alert(1)>"

    def rename(data: dict[str, Any]) -> None:
        data["study"]["title"] = bad
        report_results.one_group(data)
        data["groups"][0]["subject"] = data["study"]["contestants"][0]["label"] = bad

    made = report_results.report(report_results.copy(tmp_path, rename), tmp_path / "report", with_files=True)
    read = Read(made.read_text())
    assert read.tags.count("h1") == 1
    assert all(address != "x" for _, address in read.loaded)
    assert bad in read.words


def test_pairwise_page_leads_with_its_heat_map(tmp_path: Path) -> None:
    made = report_results.report(
        report_results.copy(tmp_path, report_results.as_pairwise), tmp_path / "report", with_files=True
    )
    text = made.read_text()
    name = "ratios-4mbps-20ms-2bdp"
    assert (made.parent / "figures" / f"{name}.png").exists()
    assert text.index(f'data-name="{name}"') < text.index('href="tables/pairwise.csv"')
    cells = (made.parent / "figures" / f"{name}.csv").read_text().splitlines()
    assert len(cells) == 1 + 2 + 2 * 2  # two against themselves, two pairs both ways


def test_flows_page(tmp_path: Path) -> None:
    made = report_results.report(
        report_results.copy(tmp_path, report_results.as_flows), tmp_path / "report", with_files=True
    )
    names = {path.stem.split("-")[0] for path in (made.parent / "figures").glob("*.png")}
    assert not names
    assert "Mean throughput: " in Read(made.read_text()).words


def test_a_second_report_leaves_nothing_of_the_first(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made.parent, tmp_path / "report")
    assert list((tmp_path / "report" / "figures").glob("envelope*"))
    report_results.report(report_results.copy(tmp_path, report_results.as_flows), tmp_path / "report")
    assert not list((tmp_path / "report" / "figures").glob("envelope*"))


def test_no_results_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no study\.json"):
        reading.report(tmp_path, tmp_path / "report")


def test_no_trial_yet(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text((report_results.KNOBS / "study.json").read_text())
    with pytest.raises(FileNotFoundError, match="holds no finished trial yet"):
        reading.report(tmp_path, tmp_path / "report")
    assert not (tmp_path / "report").exists()
