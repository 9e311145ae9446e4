"""The table of a probe's checks: the subject of each and its number of requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from toolbelt.errors import NotFoundError, nearest

SUITE = 2
"""Version of the checks; it changes when their prompts, their tools or their judging change."""
FIRST = "one_tool"
"""This check runs before all others, which depend on it."""
MAX_TOKENS = 1024
"""The longest answer to a check: a call takes some 30 tokens, a model that thinks first some hundreds."""
TOOL_COUNTS = (16, 64, 128, 256)
"""Numbers of tools that the checks offer at once."""


@dataclass(frozen=True, slots=True)
class ProbeCheck:
    """One check.

    Attributes:
        key: Its name in files.
        title: For a table, two to four words.
        about: What it tries, in one sentence.
        requests: The most requests that it makes, without retries.
    """

    key: str
    title: str
    about: str
    requests: int = 1


def tools_key(count: int) -> str:
    """Key of the check that offers `count` tools."""
    return f"tools_{count}"


CHECKS: tuple[ProbeCheck, ...] = (
    ProbeCheck(
        FIRST,
        "One tool",
        "A tool is named, to be called; where it is not, more requests show whether the server sees tools.",
        3,
    ),
    ProbeCheck("parallel_calls", "Parallel calls", "Two calls are asked for in one reply.", 2),
    ProbeCheck("none_fits", "No tool fits", "Nothing that is offered helps; it is to answer in words."),
    ProbeCheck("choice_none", "Tool choice: none", "A call is asked for, and `tool_choice` forbids it."),
    ProbeCheck("choice_required", "Tool choice: required", "No call is asked for, and `tool_choice` demands one."),
    ProbeCheck("choice_named", "Tool choice: named", "One tool is asked for, and `tool_choice` names the other."),
    ProbeCheck("nested_arguments", "Nested arguments", "Arguments are objects and lists within each other."),
    ProbeCheck("enum_arguments", "Enum arguments", "Arguments are of a few values that the schema lists."),
    ProbeCheck(
        "unicode", "Unicode", "Descriptions, listed values and arguments are not ASCII, and must come back whole."
    ),
    ProbeCheck("long_name", "Long name", "The tool's name has 64 letters, the most that every provider takes."),
    *(
        ProbeCheck(
            tools_key(count), f"{count} tools", f"{count} tools are offered, and the one that is named must be called."
        )
        for count in TOOL_COUNTS
    ),
    ProbeCheck("empty_parameters", "No parameters", "The tool takes no arguments."),
    ProbeCheck(
        "after_result", "Answer after result", "The tool has answered; words that use its answer are to follow.", 2
    ),
    ProbeCheck(
        "growing_tools", "Tools that grow", "A tool is offered only after another was called, as `tiered` does.", 2
    ),
    ProbeCheck("retired_tool", "Tools that go", "A tool that was called before is offered no more, as `dynamic` does."),
    ProbeCheck(
        "cached_tokens", "Reports caching", "A long prompt is sent twice; the usage should say what was cached.", 2
    ),
)
EVERY: tuple[str, ...] = tuple(check.key for check in CHECKS)
"""The keys of all checks, in order."""
CHECK_BY_KEY: Mapping[str, ProbeCheck] = MappingProxyType({check.key: check for check in CHECKS})


def get_check(key: str) -> ProbeCheck:
    """The check of that key.

    Raises:
        NotFoundError: there is none; the error lists the nearest keys, or all keys if none is near.
    """
    if key in CHECK_BY_KEY:
        return CHECK_BY_KEY[key]
    hint = "" if nearest(key, EVERY) else f"Known: {', '.join(EVERY)}."
    raise NotFoundError("check", key, () if hint else EVERY, hint)


def pick_checks(keys: Iterable[str]) -> tuple[ProbeCheck, ...]:
    """The checks of `keys` in the order of the suite, always with `FIRST`; all checks if `keys` is empty.

    Raises:
        NotFoundError: no check has one of the keys; see `get_check`.
    """
    picked = dict.fromkeys(keys)
    for key in picked:
        get_check(key)
    return tuple(check for check in CHECKS if not picked or check.key in picked or check.key == FIRST)


_TITLES: Mapping[str, str] = MappingProxyType({check.key: check.title for check in CHECKS})


def title_of(key: str) -> str:
    """The check's title for tables; for a check of another suite, its key in words."""
    return _TITLES.get(key) or key.replace("_", " ").replace("-", " ")


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """The probe that the user asks for.

    Attributes:
        model: As the user named it.
        api_base: Address of the API, without secrets; `None` for the provider's own.
        planned: Keys of the checks, in the order of the suite.
        tokenizer: Name of the tokenizer for estimates.
        code: Versions of the code, as in `ProbeResult`.
        suite: Version of the checks.
    """

    model: str
    api_base: str | None = None
    planned: tuple[str, ...] = EVERY
    tokenizer: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    suite: int = SUITE
