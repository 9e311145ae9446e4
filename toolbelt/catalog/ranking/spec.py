"""Rankers as values: how they are written on a command line and in `toolbelt.yaml` (rule S1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.patterns import fold


class RankKind(StrEnum):
    """The kinds of rankers; a ranker's name begins with its kind."""

    WORDS = "words"
    REGEX = "regex"
    EMBEDDING = "embedding"
    PYTHON = "python"


FORMS = ("words", "regex", "embedding:MODEL", "python:MODULE:FUNCTION")


@dataclass(frozen=True, slots=True)
class RankSpec:
    """What the name of a ranker says; `str()` gives the name back, in its one spelling.

    Attributes:
        kind: Its kind.
        target: The model of `embedding`, `MODULE:FUNCTION` of `python`; else empty.
    """

    kind: RankKind = RankKind.WORDS
    target: str = ""

    @property
    def asks_model(self) -> bool:
        """Whether a search takes a request to a hosted model, which nobody should wait for on an event loop."""
        return self.kind is RankKind.EMBEDDING

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}" if self.target else str(self.kind)


def parse_rank(text: str) -> RankSpec:
    """The ranker that a name means; whether its model or function exists is for whoever opens it.

    Args:
        text: As on the command line. Case of the kind and blanks around it do not matter.

    Raises:
        NotFoundError: no kind of ranker is called so.
        ToolbeltError: the name is malformed.
    """
    written, _, target = text.partition(":")
    kind = next((kind for kind in RankKind if kind == fold(written.strip())), None)
    if kind is None:
        raise NotFoundError("ranker", text, [kind.value for kind in RankKind], f"Rankers are {', '.join(FORMS)}.")
    target = target.strip()
    if kind in (RankKind.WORDS, RankKind.REGEX):
        if ":" in text:
            raise ToolbeltError(f"The ranker {kind} takes no name: {text!r}.")
        return RankSpec(kind)
    form = next(form for form in FORMS if form.startswith(kind))
    if not target or (kind is RankKind.PYTHON and not all(map(_is_dotted_name, _split_target(target)))):
        raise ToolbeltError(f"The ranker {kind} is written {form}, not {text!r}.")
    return RankSpec(kind, target)


def _split_target(target: str) -> tuple[str, str]:
    module, _, function = target.partition(":")
    return module, function


def _is_dotted_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
