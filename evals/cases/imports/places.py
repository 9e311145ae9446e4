"""Which files a user means by what was named."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity

_ANSWERS = "possible_answer"
_QUESTIONS = "BFCL_*.json"


def source_names(references: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Every file, each once, and what a reader should know.

    A folder stands for the files of the Berkeley leaderboard in it, and a question file of that brings the answers
    of its name from `possible_answer/` beside it.

    Args:
        references: As the user wrote them.

    Raises:
        InvalidFileError: a folder without such files.
    """
    made: dict[str, None] = {}
    notes = []
    for reference in references:
        # os.path rather than pathlib: a name the system refuses outright is simply not there.
        if not os.path.isdir(reference):  # noqa: PTH112
            same = _same(reference, made)
            if same is None:
                made[reference] = None
            elif same != reference:
                notes.append(f"{reference} is {same}, and was read once")
        elif found := sorted(Path(reference).glob(_QUESTIONS)):
            made.update(dict.fromkeys(map(str, found)))
        else:
            message = f"This is a folder without files of the leaderboard ({_QUESTIONS}); name the files."
            raise InvalidFileError([Finding("not-a-file", Severity.ERROR, message, reference)])
    for name in list(made):
        answers = Path(name).parent / _ANSWERS / Path(name).name
        if name != "-" and os.path.isfile(answers) and _same(str(answers), made) is None:  # noqa: PTH113
            made[str(answers)] = None
            notes.append(f"read {answers} along with {name}")
    return list(made), tuple(notes)


def _same(reference: str, known: Collection[str]) -> str | None:
    """What the same file was called before."""
    real = _real(reference)
    if reference == "-":
        return reference if reference in known else None
    return next((name for name in known if name != "-" and _real(name) == real), None)


def _real(reference: str) -> str:
    try:
        return os.path.realpath(reference)
    except ValueError:  # a NUL in the name, which opening it will say
        return reference
