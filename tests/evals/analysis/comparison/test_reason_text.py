"""Reasons, mismatches and notes in words: each sentence once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from toolbelt.evals.analysis.comparison.comparability import find_incomparable, find_mismatches, find_side_notes
from toolbelt.evals.analysis.comparison.reason_text import describe_mismatch, describe_reason, describe_side_note
from toolbelt.evals.analysis.comparison.reasons import (
    CountedAs,
    DifferentTokenizers,
    MissingFigures,
    Reason,
    TooFewCases,
    UncertainLoss,
    UnscoredCases,
)
from toolbelt.evals.analysis.evidence.evidence import SideInfo

A = SideInfo(
    "a",
    "shipped",
    digest="0123456789abcdef",
    chosen="c",
    cases=724,
    settings={"request_limit": 10},
    catalog="tools",
    surroundings="s",
    code={"toolbelt": "0.1", "commit": "0123456789abcdef", "changed": "no"},
)
B = replace(A, name="b")
BASELINE = replace(A, name="base.json", is_baseline=True)

CHANCE = "among 6 verdicts it may be chance (adjusted: 0.078)"
EPOCHS = "are not scored at every epoch in both arms"
NEVER_FITS = "fits the window in neither arm and counts for neither"


def incomparable(old: SideInfo, new: SideInfo) -> tuple[str, ...]:
    return tuple(describe_mismatch(one, old, new) for one in find_incomparable(old, new, {"m"}))


def differences(old: SideInfo, new: SideInfo) -> list[str]:
    return [describe_mismatch(one, old, new) for one in find_mismatches(old, new)]


def notes(old: SideInfo, new: SideInfo) -> tuple[str, ...]:
    return tuple(map(describe_side_note, find_side_notes(old, new)))


@pytest.mark.parametrize(
    ("old", "changes", "expected"),
    [
        pytest.param(
            replace(A, aliases={"oak-latest": "oak-1"}),
            {"aliases": {"oak-latest": "oak-2"}},
            "Not the same model was asked: oak-latest stands for oak-1 in run a, oak-2 in run b; repeat run b, and "
            "name the model itself in both.",
            id="alias",
        ),
        pytest.param(
            A,
            {"dataset": "mine", "digest": "fedcba9876543210", "chosen": "d", "cases": 3},
            "The cases or their grading differ: run a is of shipped (digest 0123456789ab), run b of mine (digest "
            "fedcba987654); repeat run a on the dataset that run b was made with.",
            id="dataset",
        ),
        pytest.param(
            BASELINE,
            {"digest": "fedcba9876543210"},
            "The cases or their grading differ: baseline base.json is of shipped (digest 0123456789ab), run b of "
            "shipped (digest fedcba987654); save a new baseline from a run on the dataset that run b was made with.",
            id="dataset-of-a-baseline",
        ),
        pytest.param(
            A,
            {"chosen": "d", "cases": 1000},
            "Not the same cases were asked: 724 cases in run a, 1,000 in run b; both were chosen alike, so that "
            "another catalog left others out, or the dataset is in another order; repeat run b with the catalog and "
            "the dataset of run a.",
            id="fewer-cases",
        ),
        pytest.param(
            A,
            {"chosen": "d"},
            "Not the same cases were asked: 724 cases in run a, 724 in run b, but others or in another order; both "
            "were chosen alike, so that another catalog left others out, or the dataset is in another order; repeat "
            "run b with the catalog and the dataset of run a.",
            id="other-cases",
        ),
        pytest.param(
            BASELINE,
            {"epochs": 3},
            "Cases were not asked equally often: --epochs is 1 in baseline base.json, 3 in run b; repeat run b with "
            "--epochs 1.",
            id="epochs",
        ),
        pytest.param(
            A,
            {"settings": {"request_limit": 10, "temperature": 0.7}},
            "Models were not asked alike: --temperature is not set in run a, 0.7 in run b; repeat run b without "
            "--temperature.",
            id="a-setting-that-one-lacks",
        ),
        pytest.param(
            A,
            {"settings": {"request_limit": 10, "system": "Be short."}},
            "Models were not asked alike: --system is not set in run a, 'Be short.' in run b; repeat run b without "
            "--system.",
            id="a-system-prompt-too-many",
        ),
        pytest.param(
            replace(A, settings={"request_limit": 10, "system": "Be short. " * 20}),
            {"settings": {"request_limit": 10}},
            f"Models were not asked alike: --system is {('Be short. ' * 20)[:79] + '…'!r} in run a, not set in run b; "
            "repeat run b with the --system of run a.",
            id="a-long-system-prompt-is-cut",
        ),
        pytest.param(
            A,
            {"settings": {"request_limit": 10, "model_params": {"m": {"top_p": 0.5}}}},
            "Models were not asked alike: the params of m are not set in run a, {'top_p': 0.5} in run b; repeat run b "
            "with those of run a in toolbelt.yaml.",
            id="params-of-a-model",
        ),
        pytest.param(
            A,
            {"settings": {"request_limit": 5}},
            "Models were not asked alike: --request-limit is 10 in run a, 5 in run b; repeat run b with "
            "--request-limit 10.",
            id="a-setting",
        ),
    ],
)
def test_E7_what_must_agree_is_refused_with_what_to_do(old: SideInfo, changes: dict[str, Any], expected: str) -> None:
    assert incomparable(old, replace(B, **changes)) == (expected,)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        pytest.param({"limit": 120, "seed": 0}, {}, "with --limit 120 --seed 0", id="a-limit"),
        pytest.param({}, {"limit": 120, "seed": 0}, "without --limit", id="a-limit-too-many"),
        pytest.param({}, {"kind": ["x"], "tag": ["y"]}, "without --kind and --tag", id="two-too-many"),
        pytest.param(
            {"kind": ["single", "no tool"], "limit": 9, "seed": 7},
            {"tag": ["y"], "limit": 8, "seed": 7},
            "with --kind single --kind 'no tool' --limit 9 --seed 7 and without --tag",
            id="one-for-the-other",
        ),
        pytest.param({"case": ["a", "b"]}, {}, "with --case a --case b", id="named-cases"),
        pytest.param({"case": list("abcdefghi")}, {}, "with --case for each of its 9", id="too-many-to-list"),
    ],
)
def test_E7_other_cases_are_told_with_the_flags_that_choose_them(
    old: dict[str, Any], new: dict[str, Any], what: str
) -> None:
    one, other = replace(BASELINE, filter=old), replace(B, filter=new, chosen="d", cases=9)
    (reason,) = incomparable(one, other)
    assert reason.endswith(f"; repeat run b {what}.")


def test_E7_a_baseline_on_the_new_side_is_not_to_be_repeated() -> None:
    (reason,) = incomparable(replace(A, epochs=3), BASELINE)
    assert reason.endswith("; repeat run a with --epochs 1.")


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        pytest.param(A, B, "repeat run b with", id="the-new-run"),
        pytest.param(BASELINE, B, "repeat run b with", id="never-a-baseline-where-a-run-can-be"),
        pytest.param(A, BASELINE, "repeat run a with", id="nor-one-on-the-new-side"),
        pytest.param(A, replace(B, digest="d"), "repeat run a ", id="the-old-run-where-the-dataset-has-changed"),
        pytest.param(BASELINE, replace(B, digest="d"), "save a new baseline from a run ", id="a-baseline-then-too"),
    ],
)
def test_all_advice_is_for_one_side(old: SideInfo, new: SideInfo, again: str) -> None:
    other = replace(new, chosen="x", epochs=2, settings={"request_limit": 10, "seed": 3})
    reasons = incomparable(old, other)
    assert len(reasons) == 3
    assert all(f"; {again}" in reason for reason in reasons), reasons


def test_one_that_is_running_is_not_to_be_resumed() -> None:
    assert notes(replace(A, status="running"), B) == ("Run a is not finished (running).",)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"catalog": "more"}, ["The catalog is tools in run a, more in run b."], id="catalog"),
        pytest.param(
            {"surroundings": "t"},
            ["Tools of the catalog, or loadouts, are not the same: their digest is s in run a, t in run b."],
            id="surroundings",
        ),
        pytest.param(
            {"code": {"toolbelt": "0.2", "commit": "fedcba9876543210", "changed": "yes"}},
            [
                "toolbelt is version 0.1 in run a, 0.2 in run b.",
                "The commit is 0123456789ab in run a, fedcba987654 in run b.",
                "Files were changed and not committed when run b was begun.",
            ],
            id="code",
        ),
        pytest.param({"code": {"toolbelt": "0.1"}}, [], id="an-unknown-commit-is-no-other"),
        pytest.param(
            {"api_base": "http://localhost:8000/v1"},
            ["Hosted models were asked at their providers in run a, at http://localhost:8000/v1 in run b."],
            id="another-server",
        ),
        pytest.param({"api_base": "http://localhost", "is_baseline": True}, [], id="a-baseline-has-no-server"),
        pytest.param({"created": "2026", "reason": "x"}, [], id="when-and-why-do-not-matter"),
    ],
)
def test_E7_what_may_differ_is_told_and_not_refused(changes: dict[str, Any], expected: list[str]) -> None:
    other = replace(B, **changes)
    assert differences(A, other) == expected
    assert incomparable(A, other) == ()


def test_what_must_be_said_first() -> None:
    old = replace(A, status="incomplete", reason="the cap of $5 was reached.", drafts=1)
    new = replace(B, status="killed", drafts=20)
    assert notes(old, new) == (
        "Run a is not finished (incomplete: the cap of $5 was reached); what is left: toolbelt eval resume a.",
        "1 case of the 724 in run a is a draft that nobody has reviewed.",
        "Run b is not finished (killed); what is left: toolbelt eval resume b.",
        "20 cases of the 724 in run b are drafts that nobody has reviewed.",
    )
    assert notes(A, B) == ()


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        *[(one, None) for one in MissingFigures],
        (DifferentTokenizers("o200k", ""), "Counted by different tokenizers: o200k and unknown."),
        (TooFewCases(-0.1, 0.2, 0.02, 9, is_unfinished=False), "Too few cases: -10.0 to +20.0 points are possible."),
        (
            TooFewCases(-0.1, 0.2, 0.02, 1_000, is_unfinished=True),
            "Too few of 1,000 cases are answered yet: -10.0 to +20.0 points are possible.",
        ),
        (UncertainLoss(0.3, 0.3, 1), "A loss is likely but not certain: the p value is 0.3."),
        (
            UncertainLoss(0.016, 0.078, 6),
            f"A loss is likely but not certain: alone its p value would be 0.016; {CHANCE}.",
        ),
        (
            UncertainLoss(0.062, 0.12, 3),
            "A loss is likely but not certain: the p value is 0.062 (adjusted over 3 verdicts: 0.12).",
        ),
        (
            UnscoredCases(4, 40, 2, CountedAs.LOST, 1, 0.1, bound=-0.2),
            f"4 of 40 cases {EPOCHS}; counted as lost, the lower bound is -20.0 points; 1 more {NEVER_FITS}.",
        ),
        (
            UnscoredCases(0, 40, 1, CountedAs.WON, 0, 0.1, adjusted_p=0.0625),
            "Not all cases of other arms are scored; counted as won, the adjusted p value is 0.062.",
        ),
    ],
)
def test_E7_each_reason_is_a_sentence(reason: Reason, sentence: str | None) -> None:
    text = describe_reason(reason)
    assert text.endswith(".")
    assert text[0] == text[0].upper()
    assert sentence is None or text == sentence
