"""What the server answers, and to whom: real requests to a real port."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tornado import netutil
from tornado.httpserver import HTTPServer

from cambrian.serve import guard, pages, places, server
from cambrian.serve.guard import LOOPBACK
from cambrian.serve.progress import MADE_FROM, Progress
from cambrian.serve.remaking import Remaking
from cambrian.store.results import Results
from tests.unit import report_results

PAGE = """<!doctype html><html><head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
</head><body>a report</body></html>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results whose report is one page, and links that lead out of it."""
    folder = report_results.copy(tmp_path_factory.mktemp("served"))
    (folder / "report" / "figures").mkdir(parents=True)
    (folder / "report" / "index.html").write_text(PAGE)
    (folder / "report" / "figures" / "a.csv").write_text("a\n1\n")
    (folder / "report" / "out").symlink_to(folder / "study.json")
    (folder / "report" / "all").symlink_to("/etc")
    return folder


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    sockets = netutil.bind_sockets(0, LOOPBACK)
    served = server.Served(places.find([folder]), sockets[0].getsockname()[1])
    loop = asyncio.new_event_loop()

    async def begin() -> None:
        HTTPServer(server.application(served)).add_sockets(sockets)

    loop.run_until_complete(begin())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield served.port
    for querying in served.querying.values():
        querying.end()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    served.threads.shutdown()


def ask(
    port: int,
    path: str,
    *,
    method: str = "GET",
    host: str = "",
    origin: str = "",
    query: str | None = None,
    known: str = "",
) -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=120)
    headers = {"Host": host or f"{LOOPBACK}:{port}"} | ({"Origin": origin} if origin else {})
    headers |= {"If-None-Match": known} if known else {}
    if query is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, None if query is None else urlencode({"query": query}), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


@pytest.mark.parametrize("path", ["/", "/knobs/report/index.html", "/-/bar.js", "/missing"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1"])
def test_another_name_of_this_machine_is_refused(port: int, path: str, host: str) -> None:
    assert ask(port, path, host=host.format(port=port))[0] == 403


def test_the_port_of_http_is_left_out() -> None:
    names = ("127.0.0.1", "localhost")
    assert all(guard.is_host(name, 80) and guard.is_host(f"{name}:80", 80) for name in names)
    assert not any(guard.is_host(name, 8080) for name in (*names, "localhost:80"))
    assert guard.is_origin("http://localhost", "localhost")


def test_a_folder_may_have_a_name_of_any_bytes(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).rename(tmp_path / "caf\udce9")
    assert "caf\ufffd" in pages.index(places.find([folder]), [])


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}"])
def test_its_own_names_are_answered(port: int, host: str) -> None:
    assert ask(port, "/knobs/report/index.html", host=host.format(port=port))[0] == 200


@pytest.mark.parametrize("path", ["/knobs/sql", "/knobs/sql.csv", "/knobs/remake"])
@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://localhost:{port}"])
def test_a_post_from_another_site_is_refused(port: int, path: str, origin: str) -> None:
    status, _, _ = ask(port, path, method="POST", origin=origin.format(port=port), query="SELECT 1")
    assert status == 403


@pytest.mark.parametrize(
    "path",
    [
        "../study.json",
        "%2e%2e/study.json",
        "/etc/passwd",
        "out",
        "all/passwd",
        "figures/../../study.json",
        "%00",
        "figures/a.csv%00",
    ],
)
def test_no_file_outside_the_report(port: int, path: str) -> None:
    assert ask(port, f"/knobs/report/{path}")[0] in {403, 404}


def test_the_report_has_a_bar_and_its_file_has_none(port: int, folder: Path) -> None:
    status, headers, text = ask(port, "/knobs/report/index.html")
    assert status == 200
    assert 'id="cambrian-bar"' in text and "Content-Security-Policy" not in text
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert (folder / "report" / "index.html").read_text() == PAGE
    assert ask(port, "/knobs/report/figures/a.csv")[2] == "a\n1\n"


def test_a_file_that_a_new_report_wrote_again_is_sent_again(port: int, folder: Path) -> None:
    file, path = folder / "report" / "figures" / "b.csv", "/knobs/report/figures/b.csv"
    file.write_text("a\n1\n")
    old = ask(port, path)[1]["Etag"]
    assert ask(port, path, known=old)[0] == 304
    file.write_text("a\n2\n")
    os.utime(file, ns=(0, 1))
    status, headers, text = ask(port, path, known=old)
    assert (status, text) == (200, "a\n2\n")
    assert ask(port, path, known=headers["Etag"])[0] == 304


@pytest.mark.parametrize("path", ["/knobs/report/index.html", "/knobs/report/figures/a.csv", "/knobs/sql"])
def test_a_head_is_that_of_the_page(port: int, path: str) -> None:
    status, headers, text = ask(port, path, method="HEAD")
    assert (status, text) == (200, "")
    assert headers["Content-Type"] == ask(port, path)[1]["Content-Type"]


def test_every_answer_has_a_policy(port: int) -> None:
    for path in ("/", "/missing", "/knobs/sql", "/knobs/progress.json", "/knobs/report/figures/a.csv"):
        policy = ask(port, path)[1]["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "http" not in policy and "*" not in policy


def test_progress_and_a_query(port: int) -> None:
    progress = json.loads(ask(port, "/knobs/progress.json")[2])
    assert (progress["asked"], progress["finished"]) == (12, 12)
    own = f"http://{LOOPBACK}:{port}"
    status, _, text = ask(port, "/knobs/sql", method="POST", origin=own, query="SELECT count(*) FROM packets")
    assert status == 200
    assert json.loads(text)["rows"] == [["20037"]]
    status, headers, text = ask(port, "/knobs/sql.csv", method="POST", origin=own, query="SELECT 0.1 AS a")
    assert (status, text) == (200, "a\r\n0.1\r\n")
    assert "attachment" in headers["Content-Disposition"]
    status, _, text = ask(port, "/knobs/sql", method="POST", origin=own, query="SELEC")
    assert status == 400
    assert "syntax error" in json.loads(text)["error"] and "Traceback" not in text


def test_a_link_in_the_place_of_the_report_leads_nowhere(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    (folder / "report").symlink_to("/etc")
    place = places.find([folder])[0]
    assert not guard.is_inside(place.report / "passwd", place.report)


def make_page(comparison: places.Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a comparison as the server does; the page itself is empty."""
    monkeypatch.setattr(places.Comparison, "making", ("--version",))
    comparison.report.mkdir(parents=True, exist_ok=True)
    comparison.page.write_text("")
    remaking = Remaking()

    async def make() -> None:
        task = remaking.start(comparison)
        assert task is not None
        await task

    asyncio.run(make())
    assert remaking.error(comparison) == ""


def test_two_results_of_one_study_have_a_comparison_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    one, two = (report_results.copy(tmp_path / name) for name in ("old", "new"))
    other = report_results.KNOBS.parent / "pages"
    found = places.find([one, two, other])
    (comparison,) = places.comparisons(found)
    assert comparison.address == "/compare/knobs+knobs-2/report/index.html"
    assert comparison.title == "old/knobs → new/knobs"
    assert comparison.report.is_relative_to(tmp_path / "cache")
    assert comparison.making == ("compare", str(one), str(two), "--page", str(comparison.report))

    def seen() -> tuple[int, int, bool]:
        state = Progress(comparison).state()
        return state.finished, state.new, state.stale

    assert seen() == (24, 0, True)
    trial = next((two / "trials").iterdir())
    late = trial.rename(tmp_path / trial.name)
    make_page(comparison, monkeypatch)
    assert seen() == (23, 0, False)
    # such as `cambrian merge` brings it: older than the page
    late.rename(trial)
    assert seen() == (24, 1, True)
    make_page(comparison, monkeypatch)
    assert seen() == (24, 0, False)
    os.utime(trial / "verdict.json", (time.time() + 60,) * 2)
    assert seen() == (24, 1, True)
    make_page(comparison, monkeypatch)
    # as a run with nothing to do leaves it
    Results(two).write_study(Results(two).study())
    assert seen() == (24, 0, False)
    Results(two).write_study(Results(two).study() | {"command": "cambrian run other"})
    assert seen() == (24, 0, True)
    for unknown in ("", "[1]"):
        (comparison.folder / MADE_FROM).write_text(unknown)
        assert seen() == (24, 0, True)
    make_page(comparison, monkeypatch)
    shutil.rmtree(trial)
    assert seen() == (23, 0, True)

    text = pages.index(found, places.comparisons(found))
    assert "Compare old/knobs with new/knobs" in text and text.count('href="/compare/') == 1


def test_an_error_is_about_the_page_that_could_not_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = places.find([report_results.copy(tmp_path)])[0]
    monkeypatch.setattr(places.Place, "making", ("no-such-command",))
    remaking = Remaking()

    async def make() -> None:
        task = remaking.start(place)
        assert task is not None
        await task

    asyncio.run(make())
    assert "no-such-command" in remaking.error(place)
    # such as `cambrian report` on a terminal
    place.report.mkdir()
    place.page.write_text(PAGE)
    assert remaking.error(place) == ""


def test_a_title_is_that_of_study_json_now(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    place = places.find([folder])[0]
    study = Results(folder).study()
    assert place.title == study["study"]["title"]
    Results(folder).write_study(study | {"study": study["study"] | {"title": "another title"}})
    assert place.title == "another title"
    shutil.rmtree(folder)
    assert place.title == "knobs"


def test_a_folder_of_the_name_compare_has_another_key(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path).rename(tmp_path / "compare")
    assert places.find([folder])[0].key == "compare-2"


def test_results_that_were_moved_say_so(port: int, folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    try:
        for path in ("/knobs/report/index.html", "/knobs/sql", "/knobs/progress.json"):
            status, _, text = ask(port, path)
            assert status == 410
            assert "moved or removed" in text
        status, _, text = ask(
            port, "/knobs/sql", method="POST", origin=f"http://{LOOPBACK}:{port}", query="SELECT 1"
        )
        assert status == 410
    finally:
        elsewhere.rename(folder)
    assert ask(port, "/knobs/report/index.html")[0] == 200
