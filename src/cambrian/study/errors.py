"""The error that every faulty study file raises."""

from __future__ import annotations

from collections.abc import Callable

#: a longer line of a file is not shown
LONGEST_SHOWN = 100


class StudyError(Exception):
    """A study, or a file that it names, has an error.

    ``file`` is the path as the user gave it. ``line`` and ``column`` count from 1
    (``None`` if the error is outside a file's text). ``key`` is the wrong key
    as written (empty for a syntax error). ``problem`` says what is wrong,
    ``remedy`` how to correct it. ``source`` is the text of the line, if it is known;
    ``others`` are further errors of the same reading, in the file's order.
    """

    #: errors that are printed; more are counted
    MOST = 10

    def __init__(
        self,
        *,
        file: str,
        problem: str,
        remedy: str,
        key: str = "",
        line: int | None = None,
        column: int | None = None,
        source: str = "",
    ) -> None:
        super().__init__(file, line, column, key, problem, remedy)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.problem = problem
        self.remedy = remedy
        self.source = source
        self.others: tuple[StudyError, ...] = ()

    def __reduce__(self) -> tuple[Callable[..., StudyError], tuple[object, ...]]:
        """A worker process may raise it."""
        return _again, (self.__dict__,)

    def __str__(self) -> str:
        shown = [self, *self.others][: self.MOST]
        more = 1 + len(self.others) - len(shown)
        return "\n".join([*(one._alone() for one in shown), *([f"and {more} more errors"] if more else [])])

    def _alone(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        subject = f"{self.key}: " if self.key else ""
        return f"{place}: {subject}{self.problem}\n{self._marked()}  remedy: {self.remedy}"

    def _marked(self) -> str:
        """The line with a mark below the column; empty for a long or unknown line."""
        if not self.source.strip() or self.column is None or len(self.source) > LONGEST_SHOWN:
            return ""
        # the file may be a stranger's: nothing of it controls the terminal
        text = "".join(one if one.isprintable() else "?" for one in self.source.replace("\t", " "))
        return f"    {text}\n    {' ' * (self.column - 1)}^\n"


def _again(state: dict[str, object]) -> StudyError:
    """The error with these attributes."""
    error = StudyError(file="", problem="", remedy="")
    error.__dict__.update(state)
    return error
