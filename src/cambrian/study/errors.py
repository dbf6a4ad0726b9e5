"""The one kind of error that a bad study gives."""

from __future__ import annotations


class StudyError(Exception):
    """A study (or a file that it names) cannot be used as it stands.

    ``file`` is the path as the user gave it, ``line`` and ``column`` count from 1
    (``None`` where the fault is not in a file's text), ``key`` is the offending key
    as written (empty for a fault of syntax), ``problem`` says what is wrong and
    ``remedy`` what would be right.
    """

    def __init__(
        self,
        *,
        file: str,
        problem: str,
        remedy: str,
        key: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(file, line, column, key, problem, remedy)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        subject = f"{self.key}: " if self.key else ""
        return f"{place}: {subject}{self.problem}\n  remedy: {self.remedy}"
