"""What may be changed about a toolset or how it is asked, and how that is written (rule E1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.models.facts import EFFORTS
from toolbelt.patterns import fold

PLAIN = "plain"
"""Nothing is changed."""
FORMS = (PLAIN, "shuffled", "padded:N", "distractors:N", "distractors:N:near", "anonymous", "undescribed", "effort:E")
"""How each is written; several at once are joined by `+`."""
_NUMBER = re.compile(r"[0-9]{1,7}")


@dataclass(frozen=True, slots=True)
class Variant:
    """What is changed about a toolset, to measure the effect of one thing.

    Attributes:
        shuffled: The order is another in each trial, so that a liking for some position averages out.
        padded: Tokens that descriptions are padded to, all tools shown at first together, meta-tools among them: length
            without more tools.
        distractors: Wrong tools that are shown besides.
        near: Whether these are the nearest by words to the right ones, rather than any.
        anonymous: Names say nothing, so that descriptions alone are gone by.
        undescribed: Tools and arguments have no description, so that names alone are gone by.
        effort: How much the model reasons, in place of what the run says; empty for that.
    """

    shuffled: bool = False
    padded: int = 0
    distractors: int = 0
    near: bool = False
    anonymous: bool = False
    undescribed: bool = False
    effort: str = ""

    @property
    def changes_definitions(self) -> bool:
        """Whether tools are shown under other names or descriptions, whatever is shown."""
        return self.anonymous or self.undescribed

    @property
    def changes_offers(self) -> bool:
        """Whether other tools are shown, in another order or at another length."""
        return self.shuffled or bool(self.padded or self.distractors)

    @property
    def name(self) -> str:
        """Its one spelling; empty if nothing is changed."""
        near = ":near" if self.near else ""
        parts = (
            "shuffled" if self.shuffled else "",
            f"padded:{self.padded}" if self.padded else "",
            f"distractors:{self.distractors}{near}" if self.distractors else "",
            "anonymous" if self.anonymous else "",
            "undescribed" if self.undescribed else "",
            f"effort:{self.effort}" if self.effort else "",
        )
        return "+".join(part for part in parts if part)


def parse_variant(text: str) -> Variant:
    """The variant that is meant.

    Args:
        text: `plain`, or one or several forms of `FORMS` joined by `+`; the empty text is `plain`, too.

    Raises:
        NotFoundError: no such variant, with the nearest.
        ToolbeltError: it is malformed, or says a thing twice.
    """
    changes: dict[str, int | bool | str] = {}
    for part in text.split("+") if text.strip() else ():
        for key, value in _parse_part(part.strip(), text).items():
            if key in changes:
                raise ToolbeltError(f"Variant {text!r} says twice what it changes about {key!r}.")
            changes[key] = value
    return Variant(**changes)  # type: ignore[arg-type]


def expand_variants(texts: Iterable[str]) -> tuple[Variant, ...]:
    """The variants that are meant, each once.

    Args:
        texts: As given, each possibly several with commas between.

    Raises:
        NotFoundError: no such variant, with the nearest.
        ToolbeltError: one is malformed, or there is none at all.
    """
    names = [name for text in texts for part in text.split(",") if (name := part.strip())]
    if not names:
        raise ToolbeltError(f"No variant is named. There are: {', '.join(FORMS)}.")
    return tuple(dict.fromkeys(map(parse_variant, names)))


def add_efforts(variants: Iterable[str], efforts: Iterable[str]) -> tuple[str, ...]:
    """Each variant at each effort, as texts; `plain` if there is no variant."""
    return tuple(
        f"effort:{effort}" if variant == PLAIN else f"{variant}+effort:{effort}"
        for variant in tuple(variants) or (PLAIN,)
        for effort in efforts
    )


def _parse_part(part: str, whole: str) -> dict[str, int | bool | str]:
    kind, *rest = (fold(piece.strip()) for piece in part.split(":"))
    match kind, rest:
        case ("plain", []) if fold(whole.strip()) == PLAIN:
            return {}
        case (("shuffled" | "anonymous" | "undescribed"), []):
            return {kind: True}
        case ("padded", [count]) if _is_number(count):
            return {"padded": int(count)}
        case ("distractors", [count]) | ("distractors", [count, "random"]) if _is_number(count):
            return {"distractors": int(count)}
        case ("distractors", [count, "near"]) if _is_number(count):
            return {"distractors": int(count), "near": True}
        case ("effort", [level]) if level in EFFORTS:
            return {"effort": level}
        case ("effort", [level]):
            raise NotFoundError("effort", level, EFFORTS)
        case ("plain", _):
            raise ToolbeltError(f"Variant {whole!r} is malformed: 'plain' changes nothing and stands alone.")
    if kind in {"padded", "distractors"}:
        raise ToolbeltError(f"Variant {part!r} is malformed; write {_forms_of(kind)}, N being a number from 1 on.")
    if kind in {"shuffled", "anonymous", "undescribed"}:
        raise ToolbeltError(f"Variant {part!r} is malformed; write {kind!r} alone.")
    raise NotFoundError("variant", part, FORMS)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and int(text) > 0


def _forms_of(kind: str) -> str:
    return " or ".join(repr(form) for form in FORMS if form.startswith(kind))
