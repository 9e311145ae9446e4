"""Text that says nothing, to make descriptions longer by."""

from __future__ import annotations

import random
from functools import lru_cache

from toolbelt.evals.offers import Offered, ToolRenderer

_SENTENCES = (
    "This entry follows the same conventions as every other entry of the list.",
    "Nothing in this part changes what was said above.",
    "The wording was kept plain on purpose, and may be revised from time to time.",
    "Spelling follows the house style, and figures are written out where that is easier on the eye.",
    "What is written here holds for all versions that are in service at present.",
    "Remarks of earlier editions were left out where they had lost their point.",
    "The usual terms apply here as they do elsewhere, without exception.",
    "Names that occur more than once mean the same each time.",
    "Where a sentence could be read in two ways, the simpler one is meant.",
    "No particular order is implied by the order of these sentences.",
    "This paragraph is for completeness and calls for no attention.",
    "Whatever is not mentioned stays as it was.",
    "The text ends where it ends, and no continuation of it exists.",
    "Readers who know the general part already may pass over these lines.",
    "These lines have been checked for typing errors alone.",
    "Earlier wordings of this passage were equal in meaning.",
)
_STEPS = 64
"""Lengths of filler within a doubling: near enough to any, and few, so that each tool is counted a few times only."""


class Filler:
    """Makes tools longer without saying more about them.

    Args:
        shelf: Counts, and has the tools.
        seed: Of the order of sentences, which each tool has of its own.
    """

    def __init__(self, renderer: ToolRenderer, seed: int) -> None:
        self._shelf = renderer
        self._seed = seed
        sample = " ".join(_SENTENCES)
        self._words_per_token = len(sample.split()) / renderer.count_text(sample)
        self._made = lru_cache(20_000)(self._make)

    def padded(self, tools: tuple[Offered, ...], tokens: int) -> tuple[Offered, ...]:
        """The tools, together about so many tokens long; as they are where they are longer.

        It comes to within 2 per cent of what is added, or within a word and a half for each tool where little is.

        Each is made longer by the same, so that length does not tell one from another.

        Args:
            tools: As they are shown.
            tokens: In all, by the shelf's tokenizer.
        """
        lacking = tokens - sum(offered.tokens for offered in tools)
        if not tools or lacking < len(tools):
            return tools
        words = _rounded(lacking / len(tools) * self._words_per_token)
        return tuple(self._made(offered, words) for offered in tools)

    def _make(self, offered: Offered, words: int) -> Offered:
        own = offered.definition["function"]["description"]
        text = self._text(offered.tool.id, words)
        return self._shelf.redescribed(offered, f"{own} {text}" if own else text)

    def _text(self, tool_id: str, words: int) -> str:
        chance = random.Random(f"{self._seed}\0{tool_id}")  # noqa: S311  no secret
        made: list[str] = []
        while len(made) < words:
            made.extend(" ".join(chance.sample(_SENTENCES, len(_SENTENCES))).split())
        return f"{' '.join(made[:words]).rstrip('.,')}."


def _rounded(words: float) -> int:
    """The nearest of the lengths that are used; at least one word."""
    if words < _STEPS:
        return max(1, round(words))
    step: int = 2 ** (int(words) // _STEPS).bit_length() // 2
    return round(words / step) * step
