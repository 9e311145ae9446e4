"""Which files a user means by what was named."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
            made[reference] = None
        elif found := sorted(Path(reference).glob(_QUESTIONS)):
            made.update(dict.fromkeys(map(str, found)))
        else:
            message = f"This is a folder without files of the leaderboard ({_QUESTIONS}); name the files."
            raise InvalidFileError([Finding("not-a-file", Severity.ERROR, message, reference)])
    for name in list(made):
        answers = Path(name).parent / _ANSWERS / Path(name).name
        if name != "-" and os.path.isfile(answers) and str(answers) not in made:  # noqa: PTH113
            made[str(answers)] = None
            notes.append(f"read {answers} along with {name}")
    return list(made), tuple(notes)
