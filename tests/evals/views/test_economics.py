"""Bills on the terminal and in Markdown (rule E10): the same figures, each with what it is."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tests.evals.views.bills import arm, billed, full, run
from toolbelt.evals.analysis.economics import ArmEconomics
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate
from toolbelt.evals.views.economics import (
    READING,
    economics_lines,
    economics_view,
    format_usd,
    price_lines,
    why_none,
)
from toolbelt.evals.views.run_markdown import report_markdown
from toolbelt.render.terminal import render_terminal


def _shown(economics: tuple[ArmEconomics, ...], width: int = 100) -> str:
    screen = Console(file=io.StringIO(), width=width)
    return "\n".join(line.plain.rstrip() for line in render_terminal(economics_view(economics), screen))


RUN = (
    full(),
    arm(),
    arm("oracle", solved=9, own_prompt_tokens=300.0, prompt_tokens=300.0, definition_tokens=50.0,
        repeated_tokens=100.0, invalidated_tokens=0.0),
    arm("tiered", solved=0),
    ArmSummary("paid", "loadout", planned=10),
)  # fmt: skip


def test_E6_the_whole_table() -> None:
    assert (
        _shown(billed(*RUN), 120) + "\n"
        == """\
What a provider's cache makes of it
In USD per solved case.

                 without  cached within    also across
toolset  solved  caching  conversations  conversations    re-billed
full       5/10   $16.40         $11.25          $3.17           $0
dynamic    5/10    $4.40          $3.56          $2.52  $0.230 (6%)
oracle     9/10   $0.556         $0.511         $0.454           $0
tiered     0/10        –              –              –            –
loadout     0/0        –              –              –            –

  Cheapest per solved case, with caching and without: dynamic; oracle arms, which know the answer, are left out.
  Changed tool lists add $0.230 to each solved case of dynamic: 6% of what is paid with caching within conversations.
"""
    )


@pytest.mark.parametrize("width", [30, 60, 80])
def test_no_figure_is_ever_cut(width: int) -> None:
    text = _shown(billed(*RUN), width)
    assert all(len(line) <= width for line in text.splitlines())
    for figure in ("$16.40", "$11.25", "$3.56", "$2.52", "$0.454", "0/10"):
        assert figure in text


def test_E6_what_was_really_read_and_paid_stands_beside() -> None:
    economics = billed(arm(cached_read_tokens=600.0, cost_usd=1.2), arm("tiered"))
    text = _shown(economics)
    assert "really" in text
    assert "1,200" in text  # 600 tokens a trial, of ten trials, of which five were solved
    assert "$2.40" in text
    assert "really" not in _shown(billed(arm()))


def test_E6_where_nothing_repeats_nothing_is_said() -> None:
    economics = billed(arm(repeated_tokens=0.0, invalidated_tokens=0.0, first_offers=10))
    assert _shown(economics) == ""


def test_E10_a_section_of_the_report() -> None:
    arms = (full(), arm("a|b"))
    text = report_markdown(run(*arms), economics=billed(*arms))
    section = text.split("## What a provider's cache makes of it\n")[1].split("## How to read this")[0]
    assert "| 2 | paid | a\\|b | 5/10 | \\$4.40 |" in section
    assert "- Cheapest per solved case, with caching and without: a\\|b." in section
    assert READING in section
    assert "What a provider's cache" not in report_markdown(run(*arms))


def test_E6_the_cheapest_is_not_called_so_for_sure_where_too_few_are_solved() -> None:
    def line(high: float, low: float) -> str:
        """A solved case costs $4.40 and $5.50 without caching, as five and four of ten were solved."""
        arms = replace(arm(), solved=Rate(5, 10, low, 0.9)), replace(arm("tiered"), solved=Rate(4, 10, 0.1, high))
        return economics_lines(billed(*arms))[0]

    unsure = "dynamic; the intervals of the shares solved allow tiered as well."
    sure = "dynamic."
    assert [line(high, low).partition(": ")[2] for high, low in ((0.4, 0.41), (0.45, 0.41), (0.4, 0.3))] == [
        *(sure, unsure, unsure)
    ]


_TURNED = (
    "Without caching and with caching within conversations dynamic takes the fewest prompt tokens billed in full per "
    "solved case; with caching across conversations full does."
)
_WITHIN = "with caching within conversations."
_BILLED = f"billed in full {_WITHIN}"
_DYNAMIC = f"Changed tool lists add $0.230 to each solved case of dynamic: 6% of what is paid {_WITHIN}"


@pytest.mark.parametrize(
    ("arms", "lines"),
    [
        pytest.param(
            [full(model="free"), arm(model="free")],
            [
                _TURNED,
                f"Changed tool lists add 200 tokens to each solved case of dynamic: 8% of what is {_BILLED}",
            ],
            id="tokens-are-not-called-cheap",
        ),
        pytest.param([arm()], [_DYNAMIC], id="one-arm-is-not-the-cheapest"),
        pytest.param(
            [full(), arm("full", "paid-too"), full(solved=Rate(0, 10))],
            [_DYNAMIC.replace("dynamic", "paid-too · full")],
            id="models-are-not-compared-with-each-other",
        ),
        pytest.param(
            [arm("oracle", solved=9, invalidated_tokens=0.0), arm("oracle+9")],
            [
                "Cheapest per solved case, with caching and without: oracle.",
                _DYNAMIC.replace("dynamic", "oracle+9"),
            ],
            id="oracles-among-themselves",
        ),
    ],
)
def test_E6_what_the_figures_say(arms: list[ArmSummary], lines: list[str]) -> None:
    assert economics_lines(billed(*arms)) == lines


def test_E6_what_the_dollars_are_is_said() -> None:
    silent = arm(model="free", completion_tokens=None)
    assert price_lines(billed(arm(), silent, priced_as="paid")) == [
        "As if at the price of paid: free.",
        "Prompts alone, as the tokens of the answers are not known: free.",
    ]
    assert price_lines(billed(arm(), silent)) == []
    assert price_lines(billed(arm(solved=0), silent)) == [
        "No price is known; toolbelt eval report --priced-as MODEL takes that of another model."
    ]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        pytest.param(ArmSummary("m", "full"), "nothing scored", id="nothing-scored"),
        pytest.param(arm(own_prompt_tokens=None), "unknown", id="unknown"),
        pytest.param(arm(solved=0), "nothing solved", id="nothing-solved"),
        pytest.param(arm(), "", id="there-is-one"),
    ],
)
def test_why_there_is_no_figure(one: ArmSummary, why: str) -> None:
    assert why_none(billed(one)[0]) == why


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        pytest.param(None, "–", id="unknown"),
        pytest.param(0.0, "$0", id="nothing"),
        pytest.param(1e-300, "<$0.000000001", id="next-to-nothing"),
        pytest.param(0.000012345, "$0.0000123", id="tiny"),
        pytest.param(0.13649, "$0.136", id="three-digits"),
        pytest.param(9.9999, "$10.00", id="cents"),
        pytest.param(1234.5, "$1,234", id="no-cents-above-a-hundred"),
    ],
)
def test_dollars_that_can_be_told_apart(usd: float | None, text: str) -> None:
    assert format_usd(usd) == text
