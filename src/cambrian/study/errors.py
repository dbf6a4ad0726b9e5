"""The error that every faulty study file raises."""

from __future__ import annotations


class StudyError(Exception):
    """A study, or a file that it names, has an error.

    ``file`` is the path as the user gave it. ``line`` and ``column`` count from 1
    (``None`` if the error is outside a file's text). ``key`` is the wrong key
    as written (empty for a syntax error). ``problem`` says what is wrong,
    ``remedy`` how to correct it.
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
