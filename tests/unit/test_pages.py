"""Pages: their files, what clients say of them, their load times and gates."""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cambrian import paths
from cambrian.metrics import pageload
from cambrian.metrics.gates.page import NOT_IN_TIME, page_gates
from cambrian.pages import jpeg, site
from cambrian.study.model import SMALLEST_OBJECT_BYTES, Contestant, Flow, Network, Page, PageObjects, Trial
from cambrian.study.pages import catalogue
from cambrian.testbed.chromium import switches, timings
from cambrian.trace import objects
from cambrian.trace.endpoint_events import Programs
from cambrian.trace.packets import TraceError
from cambrian.trial import page_loads as engine
from cambrian.trial import validate
from cambrian.trial.environment import CERTIFICATES

PAGE = Page(objects=(PageObjects(count=2, size_bytes=500), PageObjects(count=1, size_bytes=70_000)))
ZERO_NS = 10_000_000_000


def segments(image: bytes) -> list[tuple[int, int]]:
    """(marker, length) of a JPEG's segments up to its scan (ITU-T T.81, B.1.1.4)."""
    assert image[:2] == b"\xff\xd8"
    assert image[-2:] == b"\xff\xd9"
    at = 2
    found: list[tuple[int, int]] = []
    while not found or found[-1][0] != 0xDA:
        assert image[at] == 0xFF
        length = int.from_bytes(image[at + 2 : at + 4], "big")
        found.append((image[at + 1], length))
        at += 2 + length
    return found


@pytest.mark.parametrize(
    "size_bytes", [388, 389, 400, 15_360, 65_535 + 376, 65_540 + 376, 138_240, 10_000_000]
)
def test_an_image_has_its_exact_size_and_the_pictures_own_segments(size_bytes: int) -> None:
    image = jpeg.image(size_bytes, "a")
    assert len(image) == size_bytes
    own = [one for one in segments(image) if one[0] != 0xFE]
    assert own == segments(jpeg.PICTURE.read_bytes())
    assert image.endswith(jpeg.PICTURE.read_bytes()[2:])


def test_images_differ_by_name_and_are_the_same_on_every_machine() -> None:
    assert jpeg.image(15_360, "0000.jpg") != jpeg.image(15_360, "0001.jpg")
    digest = hashlib.sha256(jpeg.image(15_360, "0000.jpg")).hexdigest()
    assert digest == "ccecdc5f2bba698d8085e6d0349e4b93096393eb2ecc0bb1fbf25de86b4d26ac"


def test_an_image_that_cannot_be_so_small_is_refused() -> None:
    assert jpeg.smallest_bytes() <= SMALLEST_OBJECT_BYTES
    with pytest.raises(ValueError, match="smallest"):
        jpeg.image(jpeg.smallest_bytes() - 1, "a")


def test_a_folder_holds_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    folder = site.folder(PAGE)
    document = (folder / "index.html").read_text()
    named = re.findall(r'<img src="([^"]+)"', document)
    assert named == ["0000.jpg", "0001.jpg", "0002.jpg"]
    found = [site.Resource("/", len(document.encode()))]
    found += [site.Resource(f"/{name}", (folder / name).stat().st_size) for name in named]
    assert found == site.resources(PAGE)
    assert len(list(folder.iterdir())) == 4
    assert site.folder(PAGE.model_copy(update={"name": "another-name"})) == folder
    assert not list((tmp_path / "pages").glob("new-*"))


def test_a_document_says_which_images_wait() -> None:
    later = PageObjects(count=1, size_bytes=500, after_ms=1500)
    waits = Page(objects=(PageObjects(count=1, size_bytes=500), later, later))
    tags = re.findall(r"<img .*>", site.document(waits).decode())
    assert [re.findall(r'data-after-ms="([^"]+)"', tag) for tag in tags] == [[], ["1500"], ["1500"]]
    assert waits.pauses
    assert not PAGE.pauses
    assert b"data-after-ms" not in site.document(PAGE)


def test_the_catalogue_is_the_papers_table() -> None:
    sizes = {name: Page.model_validate(table) for name, table in catalogue().items()}
    assert {name: page.count for name, page in sizes.items()} == {
        "beta-large": 161,
        "beta-medium": 52,
        "beta-small": 12,
    }
    assert sizes["beta-large"].size_bytes == 3375 * 1024
    assert sizes["beta-medium"].size_bytes == 1020 * 1024
    assert sizes["beta-small"].size_bytes == 300 * 1024


def test_the_browser_trusts_the_testbeds_key() -> None:
    der = ssl.PEM_cert_to_DER_cert((CERTIFICATES / "cert.pem").read_text())
    # SubjectPublicKeyInfo of an RSA key of 2048 bits is 294 bytes: SEQUENCE, then rsaEncryption's OID
    start = der.index(bytes.fromhex("30820122300d06092a864886f70d010101"))
    assert base64.b64encode(hashlib.sha256(der[start : start + 294]).digest()).decode() == engine.KEY_HASH


@pytest.mark.parametrize(
    ("protocol", "wanted", "unwanted"),
    [("h3", "--origin-to-force-quic-on=a.test:1", "--disable-quic"), ("h2", "--disable-quic", "--origin")],
)
def test_the_browser_is_bound_to_one_http(protocol: str, wanted: str, unwanted: str) -> None:
    load = {"host": "a.test", "port": 1, "address": "10.0.0.2", "protocol": protocol, "key_hash": "k"}
    line = switches.argv(load | {"browser": "/b", "profile": "/p", "netlog": None})
    assert wanted in line
    assert not any(switch.startswith(unwanted) for switch in line)


def reported(**changes: Any) -> list[dict[str, Any]]:
    """What a client says of a load of PAGE: the document after 100 ms, the images 50 ms apart."""
    events = []
    for number, resource in enumerate(site.resources(PAGE)):
        start_ns = ZERO_NS + (100_000_000 if number else 1_000_000)
        events.append(
            {
                "event": "object",
                "path": resource.path,
                "bytes": resource.size_bytes,
                "status": 200,
                "protocol": "h3",
                "start_ns": start_ns,
                "request_ns": start_ns,
                "first_byte_ns": start_ns + 1,
                "end_ns": ZERO_NS + 100_000_000 + 50_000_000 * number,
            }
        )
    events[2] |= changes
    load = {"event": "load", "navigation_start_ns": ZERO_NS + 1_000_000, "load_ns": ZERO_NS + 251_000_000}
    return [{"event": "ready"}, *events, load]


def columns(events: list[dict[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    return (
        objects.objects(0, site.resources(PAGE), events, zero_ns=ZERO_NS),
        objects.page_load(0, "page", "light", events, zero_ns=ZERO_NS),
    )


def test_a_load_is_counted_from_its_navigation() -> None:
    (load,) = pageload.page_loads(*columns(reported()))
    assert load == pageload.PageLoad(
        flow=0, page="page", client="light", plt_ms=250.0, document_ms=99.0, first_object_ms=149.0,
        last_object_ms=249.0, objects=3, complete=3,
    )  # fmt: skip


def verdicts(events: list[dict[str, Any]], error: str | None = None) -> dict[str, bool | None]:
    rows, loads = columns(events)
    gates = page_gates("flow 0", rows, loads.row(0, named=True)["load_ns"], "h3", error)
    return {gate.name: gate.ok for gate in gates}


def test_a_whole_load_passes() -> None:
    assert verdicts(reported()) == {"page load": True, "page objects": True, "page protocol": True}


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"bytes": 499}, "page objects"),
        ({"status": 404}, "page objects"),
        ({"decoded": False}, "page objects"),
        ({"protocol": "h2"}, "page protocol"),
    ],
)
def test_an_object_that_is_not_right_fails(change: dict[str, Any], gate: str) -> None:
    assert [name for name, ok in verdicts(reported(**change)).items() if not ok] == [gate]


def test_an_object_that_never_came_fails_and_is_named() -> None:
    events = [event for event in reported() if event.get("path") != "/0001.jpg"]
    rows, _ = columns(events)
    (missing,) = (gate for gate in page_gates("flow 0", rows, 1, "h3", None) if gate.ok is False)
    assert missing.text == "page objects: flow 0 got 3 of 4 objects complete; not /0001.jpg"


def test_a_load_after_the_trials_end_came_too_late(tmp_path: Path) -> None:
    flow = Flow(contestant=Contestant(stack="quinn", cca="cubic"), page=PAGE, client="light")
    trial = Trial(network=Network(rate_mbps=10, rtt_ms=50, buffer_bdp=1), flows=(flow,), duration_s=1)
    rows, loads = columns(reported())
    said = {"objects": rows, "page_loads": loads}
    for end_ns, ok in ((251_000_000, True), (250_999_999, False)):
        gate = validate._page_gates(trial, said, Programs(tmp_path), end_ns)[0]
        assert (gate.name, gate.ok) == ("page load", ok)
        assert gate.text.endswith(NOT_IN_TIME) is not ok


def test_a_load_without_an_end_or_with_an_error_fails() -> None:
    assert verdicts(reported()[:-1])["page load"] is False
    assert verdicts(reported(), error="net::ERR_CONNECTION_CLOSED")["page load"] is False


@pytest.mark.parametrize("path", ["/0000.jpg", "/other.jpg"])
def test_what_the_page_does_not_have_is_no_trace_of_it(path: str) -> None:
    with pytest.raises(TraceError, match=path):
        columns(reported(path=path))


def test_the_papers_change_of_the_load_time() -> None:
    assert pageload.change_percent(400.0, 300.0) == 25.0
    assert pageload.change_percent(200.0, 210.0) == -5.0
    with pytest.raises(ValueError, match="above 0"):
        pageload.change_percent(0.0, 1.0)


def test_the_browsers_times_become_the_contracts_events() -> None:
    entry = {
        "url": "https://cambrian.test:4433/", "start": 0, "request": 50.1, "first": 100.2, "end": 102.0,
        "status": 200, "protocol": "h3", "bytes": 768, "transfer": 1068, "decoded": False,
    }  # fmt: skip
    image = entry | {"url": "https://cambrian.test:4433/0000.jpg", "start": 103.5}
    collected = {
        "origin": 1_700_000_000_000.1, "contentLoaded": 103, "load": 250.5, "images": 1,
        "document": entry, "resources": [image],
    }  # fmt: skip
    (document, picture), load = timings.events(collected)
    assert document["path"] == "/"
    assert document["decoded"]
    assert document["start_ns"] == 1_700_000_000_000_100_000
    assert document["end_ns"] - document["start_ns"] == 102_000_000
    assert picture["path"] == "/0000.jpg"
    assert not picture["decoded"]
    assert load["load_ns"] - load["navigation_start_ns"] == 250_500_000


def test_only_trials_with_a_browser_get_its_memory() -> None:
    network = Network(rate_mbps=5, rtt_ms=50, buffer_bdp=1)
    contestant = Contestant(stack="quic-go", cca="cubic")
    plain = Flow(contestant=contestant)
    light = Flow(contestant=contestant, page=PAGE, client="light")
    browsing = Flow(contestant=contestant, page=PAGE)

    def memory(*flows: Flow) -> int:
        return engine.memory_mb(Trial(network=network, flows=flows, duration_s=1))

    assert memory(plain, light) == memory(plain) == 768
    assert memory(plain, browsing, browsing) == 768 + 2 * engine.BROWSER_MB
    # ten of Google QUICHE thrash in 768 MiB
    kernel = Flow(contestant=Contestant(stack="tcp", cca="cubic"))
    assert memory(*[plain] * 4, *[kernel] * 20) == 768
    assert memory(*[plain] * 10, *[kernel] * 10) == 768 + 6 * 256 + 10 * 64


@pytest.mark.parametrize("template", ["google-quiche/envoy.yaml.in", "nginx/nginx.conf.in"])
def test_servers_with_a_file_of_settings_take_a_thousand_requests_at_once(template: str) -> None:
    text = (paths.data() / "stacks" / template).read_text()
    assert re.search(r"max_concurrent_streams:? 1024", text)
