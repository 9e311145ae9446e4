"""The loadout for a context window (rule L15), with tokens set by hand so that every edge can be hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt import Catalog, Plugin, Resolution, Tool, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.catalog.tokens import EstimateCounter, ToolTokens, count_tool_tokens
from toolbelt.loadouts.auto import (
    DEFAULT_LADDER,
    AutoChoice,
    AutoOutcome,
    Rung,
    StepVerdict,
    TriedLoadout,
    choose_loadout,
    ladder_of,
)
from toolbelt.loadouts.fit import FitVerdict, ModelFit
from toolbelt.loadouts.loadout import WHOLE_CATALOG
from toolbelt.loadouts.reason_text import describe_choice

PLUGINS = (
    Plugin("file", (Tool("read"),)),  # minimal
    Plugin("git", (Tool("status"),)),  # developer
    Plugin("web", (Tool("fetch"),)),  # full
    Plugin("docker", (Tool("ps"),)),  # in none
)


def tokens(file: int = 0, git: int = 0, web: int = 0, docker: int = 0) -> ToolTokens:
    by_id = {"file/read": file, "git/status": git, "web/fetch": web, "docker/ps": docker}
    return ToolTokens(by_id, "by hand", exact=True)


def choose(
    window: int | None,
    counted: ToolTokens,
    *loadouts: ToolLoadout,
    ladder: tuple[Mapping[str, Any] | str, ...] = (),
) -> AutoChoice:
    catalog = Catalog(PLUGINS, ladder=ladder)  # type: ignore[arg-type]
    return choose_loadout(window, catalog, ToolLoadoutRegistry(loadouts), counted)


def chosen(choice: AutoChoice) -> str | None:
    return choice.loadout.name if choice.loadout else None


@pytest.mark.parametrize(
    ("window", "counted", "name", "taken"),
    [
        (1_000, tokens(docker=499), WHOLE_CATALOG, 499),
        (1_000, tokens(docker=500), WHOLE_CATALOG, 500),
        (1_000, tokens(docker=501), "minimal", 0),
        (1_001, tokens(docker=500), WHOLE_CATALOG, 500),
        (1_001, tokens(docker=501), "minimal", 0),
        (2_000_000, tokens(1, 2, 3, 4), WHOLE_CATALOG, 10),
        (128_000, tokens(1, 2, 3, 64_000), "full", 6),
        (128_000, tokens(docker=1, web=64_000), "full", 64_000),
        (128_000, tokens(git=64_000, web=1), "developer", 64_000),
        (128_000, tokens(file=64_000, git=1), "minimal", 64_000),
        (127_999, tokens(1, 2, 3, 64_000), "developer", 3),
        (64_000, tokens(1, 2, 3, 32_000), "developer", 3),
        (64_000, tokens(git=32_000, docker=1), "developer", 32_000),
        (64_000, tokens(git=32_001), "minimal", 0),
        (63_999, tokens(1, 2, 3, 32_000), "minimal", 1),
        (8_000, tokens(file=4_000, git=1), "minimal", 4_000),
    ],
    ids=[
        "less-than-half-takes-all",
        "exactly-half-takes-all",
        "a-token-over-half-does-not",
        "half-of-an-odd-window-takes-all",
        "half-a-token-over-does-not",
        "a-large-window-takes-all",
        "128000-starts-at-full",
        "full-at-exactly-half",
        "full-too-large-steps-to-developer",
        "developer-too-large-steps-to-minimal",
        "127999-starts-at-developer",
        "64000-starts-at-developer",
        "developer-at-exactly-half",
        "a-token-over-steps-to-minimal",
        "63999-starts-at-minimal",
        "minimal-at-exactly-half",
    ],
)
def test_L15_the_largest_of_the_ladder_that_takes_at_most_half(
    window: int, counted: ToolTokens, name: str, taken: int
) -> None:
    choice = choose(window, counted)
    assert chosen(choice) == name
    assert choice.tokens == taken
    assert choice.window == window
    assert choice.outcome is (AutoOutcome.CATALOG if name == WHOLE_CATALOG else AutoOutcome.LOADOUT)


def test_L15_the_whole_catalog_is_really_the_whole() -> None:
    choice = choose(1_000, tokens(1, 1, 1, 1))
    assert choice.outcome is AutoOutcome.CATALOG
    assert choice.loadout is not None
    resolution = Resolution(WHOLE_CATALOG, (choice.loadout,), Catalog(PLUGINS))
    assert [tool.id for tool in resolution.active_tools] == ["file/read", "git/status", "web/fetch", "docker/ps"]
    assert describe_choice(choice) == ("The whole catalog takes 4 of 1,000 tokens (0%, 50% allowed): it fits.",)


def test_L15_an_unknown_window_is_reported_never_guessed() -> None:
    choice = choose(None, tokens(1, 1, 1, 1))
    assert choice.outcome is AutoOutcome.UNKNOWN
    assert choice.loadout is None
    assert choice.window is None
    assert choice.tokens == 0
    assert describe_choice(choice) == ("The context window is unknown, so nothing can be chosen by it.",)


def test_L15_if_none_fits_none_with_every_reason() -> None:
    choice = choose(128_000, tokens(file=100_000, git=1, web=2, docker=3))
    assert choice.outcome is AutoOutcome.NONE
    assert choice.loadout is None
    assert choice.tokens == 0
    assert choice.window == 128_000
    assert describe_choice(choice) == (
        "The whole catalog takes 100,006 of 128,000 tokens (78%, 50% allowed): too much.",
        "full takes 100,003 of 128,000 tokens (78%, 50% allowed): too much.",
        "developer takes 100,001 of 128,000 tokens (78%, 50% allowed): too much.",
        "minimal takes 100,000 of 128,000 tokens (78%, 50% allowed): too much.",
    )


def test_L15_the_reasons_tell_each_step_down() -> None:
    assert describe_choice(choose(64_000, tokens(file=1, git=40_000))) == (
        "The whole catalog takes 40,001 of 64,000 tokens (63%, 50% allowed): too much.",
        "full is for windows from 128,000; this one is 64,000.",
        "developer takes 40,001 of 64,000 tokens (63%, 50% allowed): too much.",
        "minimal takes 1 of 64,000 tokens (0%, 50% allowed): it fits.",
    )


def test_L15_the_default_ladder() -> None:
    assert (Rung("full", 128_000), Rung("developer", 64_000), Rung("minimal", 0)) == DEFAULT_LADDER
    assert ladder_of(Catalog()) == DEFAULT_LADDER


OWN = (
    ToolLoadoutBuilder.create("large").add_plugin("git").add_plugin("docker").build(),
    ToolLoadoutBuilder.create("small").add_plugin("docker").build(),
)


@pytest.mark.parametrize(
    ("window", "name"),
    [(1_000, "large"), (999, "small"), (150, "small"), (80, None)],
    ids=["from-its-window", "below-its-window", "too-large-steps-down", "none-fits"],
)
def test_L15_a_catalog_with_loadouts_of_its_own_names_its_ladder(window: int, name: str | None) -> None:
    counted = tokens(file=1_000, git=50, docker=50)
    choice = choose(window, counted, *OWN, ladder=({"loadout": "large", "min_window": 1_000}, "small"))
    assert chosen(choice) == name
    assert "minimal" not in {step.loadout for step in choice.steps}


def test_L15_a_ladder_is_read_as_written() -> None:
    catalog = Catalog(PLUGINS, ladder=({"loadout": "large", "min_window": 7}, {"loadout": "small"}))
    assert ladder_of(catalog) == (Rung("large", 7), Rung("small", 0))


def test_L15_a_rung_that_is_no_loadout_is_passed_over_with_a_reason() -> None:
    choice = choose(150, tokens(file=1_000, docker=50), *OWN, ladder=("gone", "small"))
    assert chosen(choice) == "small"
    assert choice.steps[1] == TriedLoadout(StepVerdict.NO_LOADOUT, "gone")


def test_L15_rungs_find_their_loadout_whatever_the_case() -> None:
    assert chosen(choose(150, tokens(file=1_000, docker=50), *OWN, ladder=("SMALL",))) == "small"


def test_L15_a_users_own_developer_is_the_one_that_is_counted() -> None:
    mine = ToolLoadoutBuilder.create("developer").add_plugin("docker").build()
    choice = choose(64_000, tokens(file=40_000, docker=7), mine)
    assert choice.loadout is mine
    assert choice.tokens == 7


def test_L15_disabled_tools_are_not_counted() -> None:
    lean = ToolLoadoutBuilder.create("lean").add_plugin("git").add_plugin("web").disable("web/fetch").build()
    choice = choose(100, tokens(git=50, web=1), lean, ladder=("lean",))
    assert (chosen(choice), choice.tokens) == ("lean", 50)


def test_L15_tokens_are_counted_not_guessed() -> None:
    catalog = Catalog((Plugin("file", (Tool("read", "x" * 400),)), Plugin("web", (Tool("fetch", "y" * 4_000),))))
    counted = count_tool_tokens(catalog, EstimateCounter())
    window = 2 * counted.by_id["file/read"]
    choice = choose_loadout(window, catalog, ToolLoadoutRegistry(), counted)
    assert (chosen(choice), choice.tokens) == ("minimal", counted.by_id["file/read"])
    assert choose_loadout(window - 1, catalog, ToolLoadoutRegistry(), counted).outcome is AutoOutcome.NONE


def test_L15_an_empty_catalog_fits_everywhere() -> None:
    choice = choose_loadout(1, Catalog(), ToolLoadoutRegistry(), ToolTokens({}, "by hand", exact=True))
    assert (choice.outcome, choice.tokens) == (AutoOutcome.CATALOG, 0)


ALL = {"max_tools": 4, "output_reserve": 100, "tool_calling": True}


@pytest.mark.parametrize(
    ("limits", "name", "verdicts"),
    [
        pytest.param({}, WHOLE_CATALOG, ["fits"], id="nothing-known-but-the-window"),
        pytest.param(ALL, WHOLE_CATALOG, ["fits"], id="as-many-tools-as-a-request-may-hold"),
        pytest.param({"max_tools": 3}, "full", ["too_many_tools", "fits"], id="a-tool-too-many"),
        pytest.param({"max_tools": 2}, "developer", ["too_many_tools"] * 2 + ["fits"], id="and-steps-on-down"),
        pytest.param({"max_tools": 0}, None, ["too_many_tools"] * 4, id="to-nothing"),
        pytest.param({"output_reserve": 127_599}, WHOLE_CATALOG, ["fits"], id="a-token-is-left-beside-the-answer"),
        pytest.param({"output_reserve": 127_600}, "full", ["no_room_for_answer", "fits"], id="none-is"),
        pytest.param({"tool_calling": False}, None, ["no_tool_calling"], id="no-tools-are-called"),
        pytest.param({"tool_calling": None}, WHOLE_CATALOG, ["fits"], id="unknown-is-not-no"),
    ],
)
def test_L15_what_it_gives_can_be_sent(limits: Mapping[str, Any], name: str | None, verdicts: list[str]) -> None:
    counted = tokens(100, 100, 100, 100)
    choice = choose_loadout(128_000, Catalog(PLUGINS), ToolLoadoutRegistry(), counted, **limits)
    assert (chosen(choice), choice.outcome is AutoOutcome.NONE) == (name, name is None)
    assert [step.verdict for step in choice.steps] == [StepVerdict(verdict) for verdict in verdicts]


def test_L15_half_of_the_window_is_said_first() -> None:
    choice = choose_loadout(100, Catalog(PLUGINS), ToolLoadoutRegistry(), tokens(51), max_tools=0, output_reserve=99)
    assert choice.steps[0] == TriedLoadout(StepVerdict.OVER_SHARE, WHOLE_CATALOG, 100, 51, 4)


@pytest.mark.parametrize("window", [None, 0, 8_192])
def test_L15_without_tool_calling_nothing_is_chosen_whatever_the_window(window: int | None) -> None:
    choice = choose_loadout(window, Catalog(PLUGINS), ToolLoadoutRegistry(), tokens(), tool_calling=False)
    assert (choice.outcome, choice.loadout, choice.window) == (AutoOutcome.NONE, None, window or None)


LIMITS = st.integers(1, 600)


@given(LIMITS, st.integers(0, 5), st.integers(0, 600), st.tuples(*[st.integers(0, 200)] * 4))
def test_L15_what_is_chosen_is_never_refused(window: int, most: int, reserve: int, taken: tuple[int, ...]) -> None:
    counted = tokens(*taken)
    registry = ToolLoadoutRegistry()
    choice = choose_loadout(window, Catalog(PLUGINS), registry, counted, max_tools=most, output_reserve=reserve)
    if choice.loadout is not None:
        whole = choice.outcome is AutoOutcome.CATALOG
        tools = 4 if whole else len(registry.resolve(choice.loadout.name, Catalog(PLUGINS)).active_tools)
        fit = ModelFit("m", window, choice.tokens, "by hand", True, tools, reserve, most, True)
        assert fit.verdict in (FitVerdict.FITS, FitVerdict.FITS_DEGRADED)
