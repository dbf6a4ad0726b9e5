"""Makes a page's folder of files, which a page server serves; the cache keeps it."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cambrian import paths
from cambrian.pages import jpeg
from cambrian.study.model import Page

DOCUMENT = "index.html"
#: path that a client requests for the document
DOCUMENT_PATH = "/"

# with an icon here, no browser requests one from the server
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page to load</title>
<link rel="icon" href="data:,">
</head>
<body>
"""
_TAIL = "</body>\n</html>\n"


class Resource(NamedTuple):
    """One file of a page: the path that a client requests, and its size."""

    path: str
    size_bytes: int


class _Image(NamedTuple):
    """An image file; it is requested ``after_ms`` after all earlier ones have arrived (None: at once)."""

    name: str
    size_bytes: int
    after_ms: float | None

    @property
    def tag(self) -> str:
        """Its HTML element; only the light client reads ``data-after-ms``."""
        after = "" if self.after_ms is None else f' data-after-ms="{self.after_ms:g}"'
        return f'<img src="{self.name}" width="{jpeg.WIDTH}" height="{jpeg.HEIGHT}" alt=""{after}>\n'


def _images(page: Page) -> Iterator[_Image]:
    groups = [group for group in page.objects for _ in range(group.count)]
    for number, group in enumerate(groups):
        yield _Image(f"{number:04}.jpg", group.size_bytes, group.after_ms)


def document(page: Page) -> bytes:
    """The page's HTML: every image in order, and no other resource."""
    tags = [image.tag for image in _images(page)]
    return (_HEAD + "".join(tags) + _TAIL).encode()


def resources(page: Page) -> list[Resource]:
    """The files that a load of ``page`` fetches: the document, then its images in the document's order."""
    images = [Resource(f"/{image.name}", image.size_bytes) for image in _images(page)]
    return [Resource(DOCUMENT_PATH, len(document(page))), *images]


def folder(page: Page) -> Path:
    """The folder with the page's files; created atomically if it does not exist."""
    objects = json.dumps([list(group.model_dump().values()) for group in page.objects])
    code = Path(__file__).read_bytes() + Path(jpeg.__file__).read_bytes() + jpeg.PICTURE.read_bytes()
    home = paths.cache() / "pages" / hashlib.sha256(objects.encode() + code).hexdigest()[:16]
    if home.exists():
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent, prefix="new-"))
    try:
        fresh.chmod(0o755)
        (fresh / DOCUMENT).write_bytes(document(page))
        for image in _images(page):
            (fresh / image.name).write_bytes(jpeg.image(image.size_bytes, image.name))
        try:
            fresh.rename(home)
        except OSError:
            # another process was faster; its files are the same
            if not home.exists():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return home
