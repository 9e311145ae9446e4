"""The checks themselves, by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from toolbelt.evals.probing import longer_checks, single_checks
from toolbelt.evals.probing.checks import FIRST, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.kit import Kit
from toolbelt.evals.probing.scripted import Scripted


def make_scripts(kit: Kit) -> Mapping[str, Scripted]:
    """All checks, by key."""
    made = {key: make(kit) for key, make in _MAKERS.items()}
    made.update({tools_key(count): single_checks.crowd(kit, count) for count in TOOL_COUNTS})
    return MappingProxyType(made)


_MAKERS: Mapping[str, Callable[[Kit], Scripted]] = MappingProxyType(
    {
        FIRST: single_checks.one_tool,
        "parallel_calls": longer_checks.parallel,
        "none_fits": single_checks.none_fits,
        "choice_none": single_checks.choice_none,
        "choice_required": single_checks.choice_required,
        "choice_named": single_checks.choice_named,
        "nested_arguments": single_checks.nested,
        "enum_arguments": single_checks.enum,
        "unicode": single_checks.unicode,
        "long_name": single_checks.long_name,
        "empty_parameters": single_checks.empty,
        "after_result": longer_checks.after_result,
        "growing_tools": longer_checks.growing,
        "retired_tool": longer_checks.retired,
        "cached_tokens": longer_checks.cached,
    }
)
