"""The arguments of a call, held against what a case expects (rule E3).

Literal values are compared as JSON values (`toolbelt.evals.scoring.literal`); the cases of the Berkeley Function
Calling Leaderboard by its own rules, which `toolbelt.evals.scoring.bfcl` lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from toolbelt.evals.cases.case import ArgumentRules, ExpectedArguments
from toolbelt.evals.scoring.bfcl import check_bfcl
from toolbelt.evals.scoring.literal import check_literal


def check_arguments(arguments: Mapping[str, Any], expected: ExpectedArguments, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments of a call; `None` if they are right.

    Args:
        arguments: As the model gave them.
        expected: What is right, and by which rules.
        schema: JSON Schema of the tool's arguments, for rules that go by types; need not be a valid one.

    Returns:
        A clause that names the first argument that is wrong, what was given and what is accepted; short, however
        long those are.
    """
    match expected.rules:
        case ArgumentRules.LITERAL:
            return check_literal(arguments, expected)
        case ArgumentRules.BFCL:
            return check_bfcl(arguments, expected, schema)
        case _:
            assert_never(expected.rules)
