"""Puts the built kernel into the wheel, with all that the GPL asks for; and its source beside the wheel."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

from cambrian import paths
from cambrian.kernel import locate

SOURCE = """# The source of this kernel

`linux` is Linux {version}, built as User-mode Linux by Cambrian. It is under the GNU General Public License,
version 2 (`COPYING`), as Linux is. It was built from:

| | |
|---|---|
| source | Debian package {source}, version {source_version} |
| its file | `{archive}`, SHA-256 {source_sha256} |
| configuration | `config`, made of `tinyconfig` and `config-fragment`, SHA-256 {config_sha256} |
| patches | `patches/`, in the order of their names |
| compiler | {compiler} |
| binary | SHA-256 {binary_sha256} |

`README.md` has the commands of a build. `cambrian kernel build --source {archive}` does it all; the same
compiler gives the same bytes.

Who gives this wheel to others must offer them `{archive}` at the same place:
`make dist-kernel` puts it beside the wheel. Debian has it under the name and the version above.
"""


class Kernel(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling calls :meth:`initialize` before it makes the wheel, and :meth:`finalize` with its path."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files that go into the wheel."""
        del version
        kernel = locate.find()
        if kernel is None or not kernel.key:
            raise SystemExit("no kernel is built; remedy: unset CAMBRIAN_KERNEL; cambrian kernel build")
        home = kernel.path.parent
        manifest = json.loads((home / "manifest.json").read_text())
        name = f"{manifest['source']}_{manifest['source_sha256'][:16]}.deb"
        self._archive = paths.cache() / "kernel" / "source" / name
        if not self._archive.is_file():
            raise SystemExit(
                f"the kernel's source is not at {self._archive}: the GPL asks for it with the kernel"
            )
        self._text = Path(self.directory) / "SOURCE.md"
        self._text.parent.mkdir(parents=True, exist_ok=True)
        self._text.write_text(SOURCE.format(archive=name, **manifest))
        inside = f"cambrian_kernel/{home.name}"
        recipe = paths.data() / "kernel"
        build_data["tag"] = "py3-none-linux_x86_64"
        build_data["force_include"] |= {
            **{str(home / file): f"{inside}/{file}" for file in ("linux", "config", "manifest.json")},
            **{
                str(recipe / file): f"{inside}/{file}" for file in ("config-fragment", "patches", "README.md")
            },
            str(recipe / "COPYING"): f"{inside}/COPYING",
            str(self._text): f"{inside}/SOURCE.md",
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Copy the source to the wheel's folder."""
        del version, build_data
        self._text.unlink()
        shutil.copy2(self._archive, Path(artifact_path).parent)
