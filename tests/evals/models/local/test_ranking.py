"""Whether the best tool is good enough is told on one scale, however many are offered."""

from __future__ import annotations

import pytest

from tests.evals.models.local.asking import TOOLS, offer
from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.text import split_words
from toolbelt.evals.models.local.call_planning import ENOUGH, enough_for_a_part
from toolbelt.evals.models.local.ranking import Match, rank_offer


def best(text: str, *tools: Tool) -> Match | None:
    return rank_offer(offer(*tools)).find_best(split_words(text))


def test_nothing_in_common_is_no_match() -> None:
    assert best("penguins", *TOOLS) is None
    assert best("", *TOOLS) is None


def test_the_more_of_the_query_is_met_the_better_it_fits() -> None:
    texts = ["weather", "weather forecast", "weather forecast city"]
    fits = [match.fit for text in texts if (match := best(text, *TOOLS))]
    assert fits == sorted(fits)
    assert len(fits) == 3


def test_the_more_else_is_asked_for_the_worse_it_fits() -> None:
    texts = ["weather forecast", "weather forecast zebra", "weather forecast zebra quagga okapi"]
    fits = [match.fit for text in texts if (match := best(text, *TOOLS))]
    assert fits == sorted(fits, reverse=True)


def fits_among(others: int) -> tuple[float, float]:
    """Of a query that asks for the weather, and of one that has a word in common with it by chance."""
    tools = (TOOLS[0], *(Tool(f"other_{n}", f"Does subject{n} with thing{n}.") for n in range(others)))
    clear = best("the weather forecast for a city", *tools)
    stray = best("write a long poem about love and loss for my grandmother who lives in a big old city", *tools)
    assert clear is not None
    assert stray is not None
    return clear.fit, stray.fit


@pytest.mark.parametrize("others", [9, 100, 1000])
def test_a_fit_means_the_same_among_any_number_of_tools(others: int) -> None:
    assert fits_among(others) == pytest.approx(fits_among(30), rel=0.2)


@pytest.mark.parametrize("others", [0, 9, 100, 1000])
def test_a_clear_match_is_a_request_and_a_stray_one_is_none(others: int) -> None:
    clear, stray = fits_among(others)
    assert ENOUGH < enough_for_a_part(others + 1) < clear
    assert stray < clear / 3
    assert stray < enough_for_a_part(others + 1)


def test_only_those_asked_about_are_compared() -> None:
    ranking = rank_offer(offer(*TOOLS))
    match = ranking.find_best(split_words("weather song"), among=[4, 5])
    assert match is not None
    assert match.position == 4
