"""What tool definitions come to in a model's prompt, against our count of them, by family of models (rule V8).

Measured on 2026-11-28, and to be measured again as described in docs/models.md:

- on 5,900 requests of the public recordings of seven open projects, most of them of 2026, of which each has the tools
  and text that were sent and the prompt tokens that the provider reported;
- with the models' own tokenizers and prompt templates, over 1,319 tools of five catalogs in lists of 1 to 60.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from toolbelt.catalog.tokens import NAMESPACE


class Basis(StrEnum):
    """What a rate was measured on."""

    RECORDED = "recorded requests"
    TEMPLATE = "its tokenizer and template"
    STATED = "`token_factor` of the project"
    NONE = "nothing"


@dataclass(frozen=True, slots=True)
class TokenRate:
    """Tokens of definitions in a prompt: `fixed` + `each` × tools + `factor` × our count.

    Attributes:
        family: Of models.
        fixed: What a prompt has more if it has any tools.
        each: What it has more for each of them.
        factor: On the count.
        error: By what share of it the estimate missed at most in nine of ten prompts.
        samples: Prompts with tools that it was measured on, all different.
        basis: What those are.
        form: `NAMESPACE` where the count is of that form; empty for the format that the provider takes.
    """

    family: str
    fixed: int
    each: int
    factor: float
    error: float
    samples: int = 0
    basis: Basis = Basis.RECORDED
    form: str = ""

    def estimate(self, count: int, tools: int) -> int:
        """Tokens of definitions in a prompt.

        Args:
            count: Our count of the definitions, by `o200k_base`.
            tools: How many they are.
        """
        return round(self.fixed + self.each * tools + self.factor * count) if tools else 0

    def of_sent(self) -> TokenRate:
        """The rate on the count of the definitions as they are sent, where this one is on another form."""
        return replace(self, factor=_OF_SENT, error=_OF_SENT_ERROR, form="") if self.form else self


_OF_SENT, _OF_SENT_ERROR = 0.7, 0.3
"""OpenAI's form against the JSON that is sent: more of it the longer descriptions are."""
AS_COUNTED = TokenRate("", 0, 0, 1.0, 0.0, basis=Basis.NONE)
"""The count itself, for models of no vendor."""
UNKNOWN = TokenRate("any other", 0, 0, 1.0, 0.5, basis=Basis.NONE)
"""Of the families that are known, the dearest takes 1.65 times our count, the cheapest 0.4."""
RATES: tuple[tuple[str, TokenRate], ...] = (
    (r"gpt-oss", TokenRate("gpt-oss", 29, 0, 1.0, 0.05, 8, form=NAMESPACE)),
    (r"gpt-[5-9]", TokenRate("OpenAI, 5 and later", 95, 0, 1.0, 0.05, 79, form=NAMESPACE)),
    (r"gpt-[34]|(?<![a-z])o[134](-|$)", TokenRate("OpenAI, 4 and o", 14, 0, 1.0, 0.05, 51, form=NAMESPACE)),
    (
        r"claude-(fable|mythos|opus-(5|4[-.][789]))",
        TokenRate("Claude Opus 4.7 and later, Fable", 320, 0, 1.65, 0.2, 6),
    ),
    (r"claude-(sonnet|haiku)-[5-9]", TokenRate("Claude Sonnet 5 and later, Haiku 5", 390, 0, 1.65, 0.2, 3)),
    (
        r"claude-(sonnet|haiku|opus)-4[-.][56]",
        TokenRate("Claude 4.5 and 4.6", 505, 0, 1.22, 0.12, 86),
    ),
    (r"claude", TokenRate("older Claude", 330, 0, 1.2, 0.15, 23)),
    (r"vertex_ai/.*gemini|gemini-(1|2\.0)", TokenRate("Gemini on Vertex AI, Gemini 2.0", 0, 0, 0.42, 0.3, 23)),
    (r"gemini", TokenRate("Gemini", 0, 0, 1.04, 0.25, 47)),
    (
        r"mi[sx]tral|pixtral|magistral|ministral|codestral|devstral",
        TokenRate("Mistral", 5, 6, 1.22, 0.08, 300, Basis.TEMPLATE),
    ),
    (r"deepseek-(v[2-9]|chat|reasoner)", TokenRate("DeepSeek", 250, 0, 1.04, 0.07, 25)),
    (r"qwen", TokenRate("Qwen", 83, 5, 1.18, 0.2, 150, Basis.TEMPLATE)),
    (r"llama-?3", TokenRate("Llama 3", 58, 14, 1.42, 0.25, 150, Basis.TEMPLATE)),
    (r"kimi", TokenRate("Kimi", 10, 10, 0.85, 0.15, 9)),
    (r"glm", TokenRate("GLM", 95, 0, 1.1, 0.08, 37)),
    (r"grok", TokenRate("Grok", 230, 0, 1.25, 0.4, 32)),
    (r"nova-2", TokenRate("Nova 2", 790, 60, 1.3, 0.05, 11)),
    (r"nova-(micro|lite|pro|premier)", TokenRate("Nova", 330, 24, 1.0, 0.1, 3)),
)
"""By a pattern in the model's name; the first that is found."""


def find_rate(*names: str | None) -> TokenRate:
    """The rate of a model.

    Args:
        names: Its names: as asked for, as the model table knows it, its base. The first that a family has decides.
    """
    known = [name.lower() for name in names if name]
    return next((rate for name in known for pattern, rate in RATES if re.search(pattern, name)), UNKNOWN)
