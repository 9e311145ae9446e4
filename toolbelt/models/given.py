"""The toolset that a project gives to a model, by its name: `full`, `loadout:NAME`, `tiered`, `dynamic:AGENT`, ...

The names are those of an eval's toolsets, so that what was measured can be given: without those that go by a case
(`loadout` alone, the oracles) and without patterns, which stand for several.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.errors import InvalidDefinitionError, suggestion
from toolbelt.loadouts.loadout import AUTO
from toolbelt.patterns import fold, is_prefix_pattern


class GivenKind(StrEnum):
    """What sort of toolset is given."""

    FULL = "full"
    LOADOUT = "loadout"
    TIERED = "tiered"
    DYNAMIC = "dynamic"


FORMS = ("full", "loadout:NAME", "loadout:auto", "tiered", "dynamic", "dynamic:AGENT")
"""How one is written."""
_NAMELESS = (GivenKind.FULL, GivenKind.TIERED)
_ANY_CASE = {kind: "".join(f"[{letter}{letter.upper()}]" for letter in kind) for kind in GivenKind}
_NAME = r"\s*:[\s\S]*[^\s*]"
PATTERN = (
    rf"^\s*(?:{_ANY_CASE[GivenKind.FULL]}|{_ANY_CASE[GivenKind.TIERED]}|{_ANY_CASE[GivenKind.LOADOUT]}{_NAME}"
    rf"|{_ANY_CASE[GivenKind.DYNAMIC]}(?:{_NAME})?)\s*$"
)
"""What such a name looks like, for JSON Schema."""


@dataclass(frozen=True, slots=True)
class GivenToolset:
    """A toolset that is given to a model.

    Attributes:
        kind: What sort it is.
        name: Of the loadout, `auto` for the one that goes by the window; of the agent; empty where there is none.
    """

    kind: GivenKind
    name: str = ""

    @property
    def is_auto(self) -> bool:
        """Whether it is the loadout that goes by the model's window, which is what is chosen anyway."""
        return self.kind is GivenKind.LOADOUT and self.name == AUTO

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.name}" if self.name else self.kind.value


def parse_given(text: str, loadouts: Collection[str] = ()) -> GivenToolset:
    """The toolset that `text` names; the case of its kind and blanks around the parts do not matter.

    Args:
        text: As written.
        loadouts: Names that are known to be loadouts, which may stand here without saying so.

    Raises:
        InvalidDefinitionError: no toolset is called so, or none that could be given, with what to write instead.
    """
    before, colon, after = text.partition(":")
    word, name = before.strip(), after.strip()
    # By letters of ASCII alone, as JSON Schema's pattern has it: `casefold` knows more that are alike.
    kind = next((kind for kind in GivenKind if word.isascii() and word.lower() == kind), None)
    if kind is None:
        raise InvalidDefinitionError(_why_unknown(text.strip(), word, loadouts))
    if kind in _NAMELESS and colon:
        raise InvalidDefinitionError(f"toolset {kind.value!r} is written by its name alone.")
    if is_prefix_pattern(name):
        raise InvalidDefinitionError(f"{text.strip()!r} may stand for several toolsets, and a model is given one.")
    if kind is GivenKind.LOADOUT and not name:
        raise InvalidDefinitionError(f"{text.strip()!r} does not say which loadout; write 'loadout:NAME'.")
    if kind is GivenKind.DYNAMIC and colon and not name:
        raise InvalidDefinitionError(f"{text.strip()!r} does not say which agent; write 'dynamic' or 'dynamic:AGENT'.")
    return GivenToolset(kind, AUTO if kind is GivenKind.LOADOUT and fold(name) == AUTO else name)


def _why_unknown(shown: str, word: str, loadouts: Collection[str]) -> str:
    if fold(word).startswith("oracle"):
        return f"toolset {shown!r} knows the answers, which is for measuring alone."
    if (loadout := next((one for one in loadouts if fold(one) == fold(shown)), None)) is not None:
        return f"no toolset is named {shown!r}; for the loadout of that name write 'loadout:{loadout}'."
    return f"no toolset is named {shown!r}.{suggestion(word, FORMS)}"
