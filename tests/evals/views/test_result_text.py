"""The result of a run in plain English."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.comparison.samples import ACCURACY
from toolbelt.evals.analysis.comparison.sample_size import Advice
from toolbelt.evals.analysis.matrix.matrix import Pick
from toolbelt.evals.analysis.matrix.pick_reasons import (
    CasesWanted,
    MaybeBetter,
    MeasuredToolset,
    SmallerChoice,
    UnsureBest,
)
from toolbelt.evals.analysis.result import RunResult, TradeOff
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate
from toolbelt.evals.views.result_data import describe_result
from toolbelt.evals.views.result_text import NOT_AN_LLM, describe_trade_off, result_sentence, result_title
from toolbelt.views.json_values import to_json

FULL = ArmSummary("gpt-4o", "full", accuracy=Rate(164, 600), prompt_tokens=63_539, cost_usd=0.16)
LOADOUT = ArmSummary("gpt-4o", "loadout", accuracy=Rate(174, 600), prompt_tokens=27_932, cost_usd=0.07)
PICK = Pick(
    "gpt-4o", best=0, choice=1, sure=True,
    reasons=(SmallerChoice("loadout", "full", ACCURACY, 0.02, 0.95, 0.5),),
)  # fmt: skip
OPEN = Pick(
    "gpt-4o", best=0, choice=0, advice=Advice(1, settled=1, cases=1200),
    reasons=(
        UnsureBest(
            MeasuredToolset("full", FULL.accuracy), is_smallest=False, is_of_calling=False,
            doubt=MaybeBetter("tiered", None, 0.02, 0),
        ),
        CasesWanted("full", Advice(1, settled=1, cases=1200)),
    ),
)  # fmt: skip
TAKEN = RunResult(
    "20260101-120000-ab12", "mine", 600, 1, "gpt-4o", 1, is_word_matching=False, reference=FULL, recommended=LOADOUT,
    trade_off=TradeOff.NOT_WORSE, contrast=ACCURACY, tokens_saved=0.5604, cost_saved_usd=0.09, pick=PICK,
)  # fmt: skip


def test_the_whole_sentence_and_title() -> None:
    assert result_title(TAKEN) == "loadout: 56% fewer prompt tokens, not worse than full by more than 2.0 points"
    assert result_sentence(TAKEN) == (
        "Take loadout: it is the smallest that is surely within 2.0 points of the best, full: 29.0% against 27.3% over "
        "all cases (+1.7 points, 95% interval -0.4 to +3.7), with 50% fewer definition tokens. Against full, it takes "
        "56% fewer prompt tokens (~27.9k instead of ~63.5k a trial), $0.070 instead of $0.16. As it depends on the "
        "role of each case, toolbelt.yaml cannot name it for a model: serve each role its own (toolbelt serve NAME). "
        "600 cases of mine; gpt-4o."
    )


def test_what_is_not_sure_is_for_now_with_the_cases_that_would_settle_it() -> None:
    result = replace(TAKEN, recommended=FULL, pick=OPEN, trade_off=None, contrast=None)
    assert result_title(result) == "full for now: the best as measured, not sure"
    assert result_sentence(result) == (
        "Stay with full for now: it is the best as measured (27.3% of 600 trials); not sure: tiered may be better by "
        "more than 2.0 points. To be sure of full: about 1,200 cases would decide. 600 cases of mine; gpt-4o."
    )


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(TAKEN, id="taken"),
        pytest.param(replace(TAKEN, recommended=FULL, trade_off=None, contrast=None, pick=OPEN), id="stays"),
        pytest.param(replace(TAKEN, recommended=None, trade_off=None, contrast=None), id="one-arm"),
    ],
)
def test_every_sentence_names_toolset_cases_and_model(result: RunResult) -> None:
    text = result_sentence(result)
    assert "600 cases" in text
    assert "gpt-4o" in text
    assert "full" in text
    assert "full" in result_title(result)


def test_the_word_matching_baseline_is_never_named_without_saying_what_it_is() -> None:
    assert NOT_AN_LLM in result_sentence(replace(TAKEN, model="local/bm25", is_word_matching=True))


def test_arms_of_one_run_have_not_regressed() -> None:
    assert not [each for each in TradeOff if "regress" in describe_trade_off(each, 0.02)]


def test_its_json_names_both_arms_the_difference_and_what_is_saved() -> None:
    data = to_json(describe_result(replace(TAKEN, others=((2, TradeOff.UNDECIDED),))))
    assert data == {
        "title": result_title(TAKEN),
        "sentence": result_sentence(TAKEN),
        "model": "gpt-4o",
        "is_word_matching": False,
        "is_complete": True,
        "cases": 600,
        "epochs": 1,
        "margin": 0.02,
        "recommended": _arm("loadout", 174 / 600, 27_932, 0.07),
        "reference": _arm("full", 164 / 600, 63_539, 0.16),
        "is_sure": True,
        "finding": "not_worse",
        "difference": ACCURACY.difference,
        "low": ACCURACY.low,
        "high": ACCURACY.high,
        "compared_cases": ACCURACY.cases,
        "tokens_saved": 0.5604,
        "cost_saved_usd": 0.09,
        "others": [{"arm": 2, "finding": "undecided"}],
        "cases_wanted": None,
    }


def _arm(toolset: str, accuracy: float, tokens: int, cost: float) -> dict[str, object]:
    named = {"model": "gpt-4o", "toolset": toolset, "variant": ""}
    return {**named, "accuracy": accuracy, "right_of_asked": accuracy, "prompt_tokens": tokens, "cost_usd": cost}


def test_its_json_of_a_run_without_a_choice_has_nulls_in_every_field_of_the_choice() -> None:
    none = replace(TAKEN, reference=None, recommended=None, trade_off=None, contrast=None, tokens_saved=None)
    data = to_json(describe_result(none))
    assert data.keys() == to_json(describe_result(TAKEN)).keys()
    assert {data[key] for key in ("recommended", "reference", "finding", "difference", "low", "compared_cases")} == {
        None
    }
