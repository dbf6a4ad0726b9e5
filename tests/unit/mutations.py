"""Bad input, made from the files that come with Cambrian; the readers must accept it or give one clean error.

Used by tests/unit/test_bad_input.py (some hundreds of inputs) and benchmarks/bad_input.py (thousands).
"""

from __future__ import annotations

import math
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import BaseModel

from cambrian import paths
from cambrian.claims import load as claims
from cambrian.cluster import deploy
from cambrian.gate import baseline
from cambrian.gate import carry_out as gate
from cambrian.published import load as published
from cambrian.run.pool import EngineError
from cambrian.stacks import catalogue, checks, manifest
from cambrian.stacks.manifest import ManifestError
from cambrian.study import builtin, trial_file
from cambrian.study.errors import StudyError
from cambrian.study.expand import expand
from cambrian.study.load import load_study
from cambrian.study.model import Study
from cambrian.study.tracefile import read_trace
from cambrian.suites import find
from cambrian.suites import model as suites
from cambrian.trace import endpoint_log, qlog
from cambrian.trace.packets import TraceError
from cambrian.trial import read

#: good files of kinds that only users, runs and endpoints write
MADE = Path(__file__).parents[1] / "fixtures" / "inputs"
#: errors that the command line turns into one message and exit status 2, and the reason of an invalid trial
CLEAN = (StudyError, ManifestError, EngineError, TraceError)
#: a trial of ten seconds
_SPAN = {"zero_ns": 0, "end_ns": 10 * 10**9}
#: values that replace a value of a TOML file
VALUES = (
    "nan", "-nan", "inf", "-inf", "1e300", "-1e300", "1e-300", "1e400", "9e18", "-1", "0", "-0.0", "1",
    str(10**30), str(-(10**30)), str(2**63), str(10**400), "9" * 5000, "0x" + "f" * 5000, "0.5", "1e6",
    "true", '""', '"x"', r'"a\u0000b"', r'"\u001b[2J"', r'"\n"', '"' + "long " * 500 + '"', "'''\n'''",
    "[]", "[[]]", "[1, 'a']", "{}", "{ a = 1 }", "[{}]", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z",
    "[" * 40 + "]" * 40, "[" * 5000, "{ a = " * 500, "[1, 2, 3, 4]", '["*", "?"]', '"../../x"', '"/dev/zero"',
)  # fmt: skip
#: keys that replace a key
KEYS = (
    "name", "rate_mbps", "buffer_bytes", "buffer_packets", "seeds", "options", "start_ms", "schedule", "",
    '""', r'"a\u0000"', "a.b.c", ".".join("a" * 50), "a" * 300, "'é'", '"a b"', "[x]", "[[network]]",
)  # fmt: skip
#: lines of a trace
TIMES = ("", "0", "-1", "nan", "1e9", "9" * 30, "9" * 15, "1.5", " 1", "\x00", "é", "1 2", "86400001")
_PAIR = re.compile(r"^(\s*)([^\s=#\[][^=\n]*?)(\s*=\s*)(.*)$")
_NUMBER = re.compile(r"(?<![\w.\"'])-?\d[\d_]*(?:\.\d+)?(?![\w.\"'])")


@dataclass(frozen=True)
class Kind:
    """One kind of file: the good files, the name that the reader expects, and the reader."""

    name: str
    files: tuple[Path, ...]
    read: Callable[[Path], object]
    file_name: Callable[[Path], str]


@dataclass(frozen=True)
class Verdict:
    """What a reader did with one input.

    ``outcome``: "accepted", "error", "traceback" or "wrong". ``detail``: the error's kind, the exception,
    or the value that should not have been accepted. ``took_s`` is CPU time: the machine may be busy.
    """

    kind: str
    outcome: str
    detail: str
    took_s: float


def _expanded(path: Path) -> Study:
    """The study, after each of its profiles was expanded as ``cambrian run`` does."""
    study = load_study(path, catalogue.ccas(), catalogue.reference_of, checks)
    profile = "quick" if "quick" in study.profiles else None
    expand(study, profile=profile, reference_of=catalogue.reference_of)
    return study


def kinds() -> dict[str, Kind]:
    """Every kind of input, by name."""
    root = paths.data()
    parts = [found.folder / f"{part}.toml" for found in find.suites() for part in found.suite.parts]
    whole = [path for path in parts if "$STACK" not in path.read_text()]
    listed = (
        Kind("study", (*sorted(builtin.folder().glob("*.toml")), *whole), _expanded, lambda path: path.name),
        Kind("suite", tuple(sorted(builtin.folder().glob("*/suite.toml"))), _suite, lambda path: path.name),
        Kind(
            "manifest",
            tuple(sorted((root / "stacks").glob("*/manifest.toml"))),
            manifest.read,
            lambda path: f"{path.parent.name}.toml",
        ),
        Kind(
            "trace",
            (builtin.folder() / "traces" / "waves-12mbps.trace",),
            lambda path: {"times_ms": read_trace(path).times_ms},
            lambda path: "x.trace",
        ),
        Kind(
            "comparisons",
            tuple(sorted((root / "published").glob("*/comparisons.toml"))),
            lambda path: published.comparisons(path.parent),
            lambda path: path.name,
        ),
        Kind("trial", (MADE / "trial.json",), trial_file.read, lambda path: path.name),
        Kind("gate", (MADE / "gate.toml",), lambda path: gate.read(path).file, lambda path: path.name),
        Kind("baseline", (MADE / "gate.baseline.toml",), baseline.read, lambda path: path.name),
        Kind(
            "cluster", tuple(sorted(MADE.glob("cluster*.toml"))), deploy.description, lambda path: path.name
        ),
        Kind("log", (MADE / "transport.csv",), _log, lambda path: path.name),
        Kind("qlog", tuple(sorted(MADE.glob("*.qlog"))), _qlog, lambda path: path.name),
        Kind(
            "claims",
            tuple(sorted((root / "published").glob("*/claims.toml"))),
            lambda path: claims.load(path.parent.parent),
            lambda path: f"{path.parent.name}/claims.toml",
        ),
    )
    return {kind.name: kind for kind in listed}


def _log(path: Path) -> object:
    """An endpoint's log, as the reader of a trial's results has it."""
    with read.written_by_a_program("the log"):
        return endpoint_log.read(path, 0, **_SPAN).rows.to_dicts()


def _qlog(path: Path) -> object:
    with read.written_by_a_program("the qlog"):
        return qlog.read(path, 0, **_SPAN, realtime_minus_monotonic_ns=10**18, began_ns=0).to_dicts()


def _suite(path: Path) -> object:
    """A suite beside the parts of all suites."""
    return suites.read(path)[0]


def prepare(folder: Path) -> None:
    """Put what the inputs refer to beside them: traces and the parts of suites."""
    shutil.copytree(builtin.folder() / "traces", folder / "traces")
    for found in find.suites():
        for part in found.suite.parts:
            (folder / f"{part}.toml").touch()


def mutated(content: bytes, random: Random, *, trace: bool = False) -> bytes:
    """``content`` with one to three changes."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        content = random.choice(_ON_TRACES if trace else _ON_TOML)(content, random)
    return content


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "surrogateescape").split("\n")


def _joined(lines: list[str]) -> bytes:
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _other_value(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    pairs = [number for number, line in enumerate(lines) if _PAIR.match(line)]
    if not pairs:
        return content
    number = random.choice(pairs)
    lines[number] = _PAIR.sub(lambda pair: pair[1] + pair[2] + pair[3] + random.choice(VALUES), lines[number])
    return _joined(lines)


def _other_number(content: bytes, random: Random) -> bytes:
    """Only one number changes, so that its neighbours stay valid."""
    text = content.decode("utf-8", "surrogateescape")
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return content
    found = random.choice(numbers)
    text = text[: found.start()] + random.choice(VALUES[:21]) + text[found.end() :]
    return text.encode("utf-8", "surrogateescape")


def _other_key(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    pairs = [number for number, line in enumerate(lines) if _PAIR.match(line)]
    if not pairs:
        return content
    number = random.choice(pairs)
    lines[number] = _PAIR.sub(lambda pair: pair[1] + random.choice(KEYS) + pair[3] + pair[4], lines[number])
    return _joined(lines)


def _new_line(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    lines.insert(random.randint(0, len(lines)), f"{random.choice(KEYS)} = {random.choice(VALUES)}")
    return _joined(lines)


def _dropped_line(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    del lines[random.randrange(len(lines))]
    return _joined(lines)


def _doubled_line(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    number = random.randrange(len(lines))
    return _joined([*lines[: number + 1], *lines[number:]])


def _swapped_lines(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return _joined(lines)


def _flipped_bytes(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 8)) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randint(0, len(content))]


def _inserted_bytes(content: bytes, random: Random) -> bytes:
    place = random.randint(0, len(content))
    more = random.choice(
        (b"\x00", b"\xff", b"\r", b"\xef\xbb\xbf", b'"', b"[", b"{", b"=", b".", b"\xc2\x85")
    )
    return content[:place] + more + content[place:]


def _other_time(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    lines[random.randrange(len(lines))] = random.choice(TIMES)
    return _joined(lines)


_COMMON = (_dropped_line, _doubled_line, _swapped_lines, _flipped_bytes, _cut, _inserted_bytes)
_ON_TOML = (*_COMMON, _other_value, _other_value, _other_number, _other_number, _other_key, _new_line)
_ON_TRACES = (*_COMMON, _other_time, _other_time)


def judge(kind: Kind, original: Path, content: bytes, folder: Path) -> Verdict:
    """Write ``content`` where the reader of ``kind`` expects it, read it, and judge what the reader did."""
    path = folder / kind.file_name(original)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    began = time.process_time()
    try:
        outcome, detail = _verdict(kind.read(path))
    except CLEAN as error:
        incomplete = "remedy: " not in str(error) and not isinstance(error, TraceError)
        outcome, detail = ("traceback", f"no remedy: {error}") if incomplete else ("error", _sort(error))
    except Exception as error:  # what this program looks for
        outcome, detail = "traceback", f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        path.unlink()
    return Verdict(kind.name, outcome, detail, time.process_time() - began)


def _verdict(read: object) -> tuple[str, str]:
    wrong = next(absurdities(read), None)
    return ("accepted", "") if wrong is None else ("wrong", wrong)


#: sort of error → words in it
_SORTS: Mapping[str, str] = {
    "syntax": "not TOML",
    "encoding": "not UTF-8|not plain text",
    "nesting or length": "nested more than|thousands of digits|has more than .* bytes|the key ",
    "unknown name": "unknown|no CCA|no such",
    "missing": "missing|add |has no |needs ",
    "value": "is not possible|should be|not a table|list of|this value|more than 64 bits|nan is|control",
}


def _sort(error: Exception) -> str:
    return next((name for name, words in _SORTS.items() if re.search(words, str(error))), "rule")


#: key, or unit at its end → smallest and largest value that makes sense, independent of the models' limits
_SENSE: Mapping[str, tuple[float, float]] = {
    "mbps": (0, 10_000),
    "ms": (0, 86_400_000),
    "us": (0, 1_000_000),
    # of logs, which say what the network did
    "srtt_us": (0, 3_600_000_000),
    "s": (0, 36_000),
    "percent": (0, 100),
    "bytes": (0, 1e12),
    "packets": (0, 1e6),
    "bdp": (0, 10_000),
    "seeds": (0, 10_000),
    "count": (0, 1000),
    "seconds": (0, 86_400),
}
#: Tables whose keys have units too, but no range of ours: options, which belong to a stack, and conditions
#: on the rows of results, where a value that no row has selects nothing.
_FREE = frozenset({"options", "where", "a", "b"})


def absurdities(value: object, key: str = "") -> Iterator[str]:
    """Each number or text in ``value`` that no reader should have accepted, with its key."""
    if isinstance(value, BaseModel):
        for name, one in value:
            yield from absurdities(one, name)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from absurdities(one, "" if key in _FREE else str(name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from absurdities(one, key)
    elif isinstance(value, str):
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", value):
            yield f"{key} = {value!a}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = _SENSE.get(key) or _SENSE.get(key.rpartition("_")[2], (-1e19, 1e19))
        if not math.isfinite(value) or not low <= value <= high:
            yield f"{key} = {str(value)[:40]}"
