"""What may be compared, and what must be said first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from toolbelt.evals.analysis.comparison.comparability import find_incomparable, find_mismatches, find_side_notes
from toolbelt.evals.analysis.comparison.reasons import Aspect, Mismatch, SideNote, SideProblem
from toolbelt.evals.analysis.evidence.evidence import SideInfo

A = SideInfo(
    "a",
    "shipped",
    digest="0123456789abcdef",
    chosen="c",
    cases=724,
    settings={"request_limit": 10},
    aliases={"oak": "oak-1", "elm": "elm-1", "fir": "fir-1"},
    catalog="tools",
    surroundings="s",
    code={"toolbelt": "0.1", "commit": "0123456789abcdef", "changed": "no"},
)
B = replace(A, name="b")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"digest": "d", "chosen": "d", "cases": 3}, [Mismatch(Aspect.DATASET)], id="dataset"),
        pytest.param({"chosen": "d", "cases": 1000}, [Mismatch(Aspect.SELECTION)], id="more-cases"),
        pytest.param({"chosen": "d"}, [Mismatch(Aspect.SELECTION)], id="other-cases"),
        pytest.param({"epochs": 3}, [Mismatch(Aspect.EPOCHS)], id="epochs"),
        pytest.param(
            {"settings": {"request_limit": 5, "temperature": 0.7}},
            [Mismatch(Aspect.SETTING, ("request_limit",)), Mismatch(Aspect.SETTING, ("temperature",))],
            id="settings",
        ),
        pytest.param(
            {"aliases": {"oak": "oak-2", "elm": "elm-1", "ash": "ash-1"}},
            [Mismatch(Aspect.ALIAS, ("oak",))],
            id="what-an-alias-stood-for",
        ),
        pytest.param(
            {"digest": "d", "epochs": 2, "settings": {"request_limit": 10, "seed": 1}},
            [Mismatch(Aspect.DATASET), Mismatch(Aspect.EPOCHS), Mismatch(Aspect.SETTING, ("seed",))],
            id="all-at-once",
        ),
    ],
)
def test_E7_what_must_agree(changes: dict[str, Any], expected: list[Mismatch]) -> None:
    assert list(find_incomparable(A, replace(B, **changes))) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"catalog": "more"}, [Aspect.CATALOG], id="catalog"),
        pytest.param({"surroundings": "t"}, [Aspect.SURROUNDINGS], id="surroundings"),
        pytest.param(
            {"code": {"toolbelt": "0.2", "commit": "fedcba9876543210", "changed": "yes"}},
            [Aspect.VERSION, Aspect.COMMIT, Aspect.UNCOMMITTED_CHANGES],
            id="code",
        ),
        pytest.param({"code": {"toolbelt": "0.1"}}, [], id="an-unknown-commit-is-no-other"),
        pytest.param({"api_base": "http://localhost"}, [Aspect.API_BASE], id="another-server"),
        pytest.param({"api_base": "http://localhost", "is_baseline": True}, [], id="a-baseline-has-no-server"),
        pytest.param({"created": "2026", "reason": "x"}, [], id="when-and-why-do-not-matter"),
    ],
)
def test_E7_what_may_differ_is_no_reason_to_refuse(changes: dict[str, Any], expected: list[Aspect]) -> None:
    other = replace(B, **changes)
    assert [one.aspect for one in find_mismatches(A, other)] == expected
    assert find_incomparable(A, other) == ()


def test_V5_effort_system_prompt_and_params_must_agree() -> None:
    asked: dict[str, Any] = {"effort": "low", "system": "Be short.", "params": {"top_p": 0.5}}
    other = replace(B, settings={**A.settings, **asked})
    assert find_incomparable(A, other) == tuple(Mismatch(Aspect.SETTING, (key,)) for key in sorted(asked))
    assert find_incomparable(replace(A, settings=other.settings), other) == ()


@pytest.mark.parametrize("setting", ["model_params", "toolset_systems"])
def test_V5_what_is_asked_of_one_model_or_toolset_must_agree_where_both_have_it(setting: str) -> None:
    one, other = (
        replace(A, name=name, settings={**A.settings, setting: {"mine": name, "theirs": name}}) for name in ("a", "b")
    )
    assert find_incomparable(one, other, {"mine", "another"}) == (Mismatch(Aspect.SETTING, (setting, "mine")),)
    assert find_incomparable(A, other, {"mine"}) == (Mismatch(Aspect.SETTING, (setting, "mine")),)
    assert find_incomparable(A, other, {"another"}) == ()


def test_E7_unfinished_runs_and_drafts_are_noted() -> None:
    old, new = replace(A, status="incomplete", drafts=1), replace(B, status="killed")
    assert find_side_notes(old, new) == (
        SideNote(SideProblem.UNFINISHED, old),
        SideNote(SideProblem.DRAFTS, old),
        SideNote(SideProblem.UNFINISHED, new),
    )
    assert find_side_notes(A, B) == ()


def test_within_a_run_nothing_is_said_twice() -> None:
    run = replace(A, status="interrupted", drafts=2, code={"changed": "yes"})
    assert (find_incomparable(run, run), find_mismatches(run, run), len(find_side_notes(run, run))) == ((), (), 2)
