"""What tool definitions come to in a model's prompt, against our count of them, by family of models (rule V8).

Measured on 2026-11-28, and to be measured again as described in docs/models.md:

- on 5,900 requests of the public recordings of seven open projects, most of them of 2026, of which each has the tools
  and text that were sent and the prompt tokens that the provider reported;
- with the models' own tokenizers and prompt templates, over 1,319 tools of five catalogs in lists of 1 to 60.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.tokens import NAMESPACE, TOKENIZER_NAMES
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section

if TYPE_CHECKING:
    from toolbelt.models.facts import ModelFacts

IN_PROCESS = ("local/", "scripted/")
"""Prefixes of models that run in this process: nobody makes anything of their definitions."""


class Basis(StrEnum):
    """What a rate was measured on."""

    RECORDED = "recorded requests"
    TEMPLATE = "its tokenizer and template"
    STATED = "`token_rate` of the project"
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
        tokenizer: What counts.
    """

    family: str
    fixed: float
    each: float
    factor: float
    error: float
    samples: int = 0
    basis: Basis = Basis.RECORDED
    form: str = ""
    tokenizer: str = "o200k_base"

    @property
    def is_plain(self) -> bool:
        """Whether the count is taken as it is."""
        return (self.fixed, self.each, self.factor, self.form) == (0, 0, 1.0, "")

    def __str__(self) -> str:
        """What it makes of the count: `o200k_base × 1.22 + 5 + 6 a tool`; the tokenizer alone where that is nothing."""
        of = " of the namespace" if self.form else ""
        each = f" + {self.each:g} a tool" if self.each else ""
        return f"{self.tokenizer}{of}" + ("" if self.is_plain else f" × {self.factor:.4g} + {self.fixed:g}{each}")

    def estimate(self, count: int, tools: int) -> int:
        """Tokens of definitions in a prompt.

        Args:
            count: Our count of the definitions, by `tokenizer`.
            tools: How many they are.
        """
        return round(self.fixed + self.each * tools + self.factor * count) if tools else 0

    def of_sent(self) -> TokenRate:
        """The rate on the count of the definitions as they are sent, where this one is on another form."""
        return replace(self, factor=_OF_SENT, error=_OF_SENT_ERROR, form="") if self.form else self

    def counted_by(self, tokenizer: str) -> TokenRate:
        """The rate on the count of another tokenizer, which may miss by more."""
        if tokenizer == self.tokenizer or self.basis is Basis.NONE:
            return replace(self, tokenizer=tokenizer)
        of_this, of_other = (_TO_DEFAULT.get(name, (1.0, 0.0)) for name in (self.tokenizer, tokenizer))
        error = round(self.error + of_this[1] + of_other[1], 4)
        return replace(self, factor=self.factor * of_other[0] / of_this[0], error=error, tokenizer=tokenizer)


_OF_SENT, _OF_SENT_ERROR = 0.7, 0.3
"""OpenAI's form against the JSON that is sent: more of it the longer descriptions are."""
_TO_DEFAULT: Mapping[str, tuple[float, float]] = MappingProxyType({"cl100k_base": (1.0, 0.04), "estimate": (0.88, 0.1)})
"""By tokenizer, tokens of `o200k_base` for one of its own, and by what share that may miss: measured on the definitions
of seven catalogs of 111 to 3,000 tools, as sent and as a namespace."""
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


def find_model_rate(facts: ModelFacts) -> TokenRate:
    """The rate of a model by what is known of it: the project's own, else that of its family."""
    if (facts.asked_as or facts.name).startswith(IN_PROCESS):
        return AS_COUNTED
    family = find_rate(facts.asked_as or facts.name, facts.known_as)
    stated = facts.token_rate
    return family if stated is None else replace(stated, family=family.family, form=family.form)


def rate_data(rate: TokenRate) -> dict[str, Any]:
    """A rate as plain values, as `read_rate` takes them."""
    return asdict(rate)


def read_rate(data: Mapping[str, Any]) -> TokenRate:
    """A rate from what `rate_data` made."""
    return TokenRate(**{**data, "basis": Basis(data["basis"])})


RATE_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "factor": KeySpec(Kind.PRICE, "On our count of the definitions.", ("token_factor", "ratio")),
        "fixed": KeySpec(Kind.PRICE, "Tokens that a prompt has more if it has any tools.", ("overhead",)),
        "each": KeySpec(Kind.PRICE, "Tokens that it has more for each tool.", ("per_tool",)),
        "error": KeySpec(Kind.PRICE, "By what share of it the estimate may be wrong, such as 0.05.", ("tolerance",)),
        "tokenizer": KeySpec(
            Kind.TOKENIZER, "What counted when it was measured: o200k_base if left out, cl100k_base, or estimate."
        ),
    }
)
"""Each key is the field of `TokenRate` with that name."""
REQUIRED_RATE = ("factor", "error")
_STATED: Mapping[str, Any] = MappingProxyType({"family": "", "fixed": 0, "each": 0, "basis": Basis.STATED})


def stated_rate(rate: TokenRate) -> dict[str, Any]:
    """A rate as it stands in `toolbelt.yaml`; what is as usual is left out."""
    values = {key: getattr(rate, key) for key in RATE_KEYS}
    return {key: value for key, value in values.items() if key in REQUIRED_RATE or value != getattr(AS_COUNTED, key)}


def read_stated_rate(section: Section) -> TokenRate | None:
    """The rate of a mapping in `toolbelt.yaml`; `None` where something is wrong with it, which the section notes."""
    if not isinstance(section.value, dict):
        section.add_wrong_type("a mapping with `factor` and `error`")
        return None
    written = section.read_fields(RATE_KEYS, "token rate").items()
    fields = {key: _read_tokenizer(value) if key == "tokenizer" else _read_figure(value) for key, value in written}
    if missing := [key for key in REQUIRED_RATE if section.value.get(key) is None]:
        section.add_error("missing-key", f"{section.label} lacks {' and '.join(f'`{key}`' for key in missing)}.")
    known = {key: value for key, value in fields.items() if value is not None}
    return TokenRate(**{**_STATED, **known}) if set(REQUIRED_RATE) <= set(known) else None


def _read_figure(section: Section) -> float | None:
    number = section.read_number(least=0)
    return int(number) if number is not None and number.is_integer() else number


def _read_tokenizer(section: Section) -> str | None:
    name = section.read_text()
    return name if name and section.is_known(name, TOKENIZER_NAMES, "tokenizer") else None
