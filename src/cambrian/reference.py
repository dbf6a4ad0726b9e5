"""``python -m cambrian.reference`` writes the generated pages of docs/reference/ (`make reference`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cambrian import paths
from cambrian.cli import reference as cli
from cambrian.measure import reference as quantities
from cambrian.stacks import reference as options
from cambrian.study import keys
from cambrian.trace import reference as files

#: page → function that makes its text
PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli.page,
    "parquet.md": files.page,
    "quantities.md": quantities.page,
    "stack-options.md": options.page,
    "study-keys.md": keys.page,
}


def main() -> None:
    """Write every page, and print its path."""
    folder = paths.data() / "docs" / "reference"
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
