"""What `auto` makes of a toolset that the project gives to a model (rule L15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from toolbelt import Catalog, Plugin, Tool, ToolLoadout, ToolLoadoutRegistry
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.loadouts.auto import AutoChoice, AutoOutcome
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.loadout import WHOLE_CATALOG
from toolbelt.models.given_choice import choose_given, find_unmet, lint_given
from toolbelt.models.written import read_models
from toolbelt.sources import examine_yaml

CATALOG = Catalog((Plugin("git", (Tool("status"), Tool("push"))), Plugin("web", (Tool("fetch"),))))
REGISTRY = ToolLoadoutRegistry(
    [ToolLoadout("Mine", default_plugins=frozenset({"git"})), ToolLoadout("none", default_plugins=frozenset({"x"}))]
)
STEPPED = AutoChoice(AutoOutcome.NONE, None, 0, 1_000, ("It was stepped down.",))
TOKENS = 100
"""Of each tool."""


def measured(
    window: int | None = 1_000, max_tools: int | None = None, tool_calling: bool | None = True
) -> Callable[[Sequence[Tool]], ModelFit]:
    return lambda tools: ModelFit(
        "m", window, TOKENS * len(tools), "by hand", True, len(tools), 100, max_tools, tool_calling
    )


def choose(toolset: str, measure: Callable[[Sequence[Tool]], ModelFit] | None = None) -> AutoChoice:
    return choose_given(toolset, CATALOG, REGISTRY, measure or measured(), lambda: STEPPED)


@pytest.mark.parametrize(
    ("toolset", "outcome", "name", "tokens"),
    [
        ("loadout:mine", AutoOutcome.LOADOUT, "Mine", 200),
        ("full", AutoOutcome.CATALOG, WHOLE_CATALOG, 300),
    ],
)
def test_L15_what_is_given_is_chosen_and_the_reason_says_who_gave_it(
    toolset: str, outcome: AutoOutcome, name: str, tokens: int
) -> None:
    choice = choose(toolset)
    assert (choice.outcome, choice.loadout and choice.loadout.name, choice.tokens, choice.window) == (
        outcome,
        name,
        tokens,
        1_000,
    )
    assert "toolbelt.yaml gives it to this model" in choice.reasons[0]
    assert choice.reasons[1].endswith("it fits.")


@pytest.mark.parametrize(
    ("window", "said"),
    [
        pytest.param(501, "(40%): it fits.", id="two-fifths"),
        pytest.param(350, "(57%): it fits, with little room.", id="over-half-is-for-the-project-to-say"),
        pytest.param(301, "(66%): it fits, with little room.", id="the-last-that-leaves-room"),
        pytest.param(None, "the context window is unknown, and so is whether it fits.", id="an-unknown-window"),
    ],
)
def test_L15_what_is_given_is_held_to_no_half(window: int | None, said: str) -> None:
    choice = choose("loadout:Mine", measured(window))
    assert (choice.outcome, choice.window) == (AutoOutcome.LOADOUT, window)
    assert choice.reasons[-1].endswith(said)


@pytest.mark.parametrize(
    ("toolset", "measure", "said"),
    [
        pytest.param("loadout:mine", measured(300), "leave no room in a window of 300", id="no-room-for-an-answer"),
        pytest.param("full", measured(max_tools=2), "A request may hold 2 tools; these are 3", id="too-many-tools"),
        pytest.param("full", measured(tool_calling=False), "It does not call tools.", id="no-tool-calling"),
        pytest.param("loadout:none", measured(), "it matches nothing of this catalog", id="nothing-of-it"),
    ],
)
def test_L15_what_cannot_fit_is_stepped_down_from_and_says_why(
    toolset: str, measure: Callable[[Sequence[Tool]], ModelFit], said: str
) -> None:
    choice = choose(toolset, measure)
    assert (choice.outcome, choice.loadout) == (STEPPED.outcome, STEPPED.loadout)
    assert "toolbelt.yaml gives it to this model, but" in choice.reasons[0]
    assert said in choice.reasons[0]
    assert choice.reasons[1:] == STEPPED.reasons


@pytest.mark.parametrize("toolset", ["tiered", "dynamic", "dynamic:helper"])
def test_L15_what_is_no_loadout_leaves_the_choice_to_the_ladder_and_is_told(toolset: str) -> None:
    choice = choose(toolset)
    assert choice.loadout is STEPPED.loadout
    assert repr(toolset) in choice.reasons[0]
    assert choice.reasons[1:] == STEPPED.reasons


def test_L15_auto_that_is_given_is_what_is_chosen_anyway() -> None:
    assert choose("loadout:auto") == STEPPED


def test_L15_a_loadout_that_is_not_there_is_an_error_where_it_is_used() -> None:
    with pytest.raises(NotFoundError, match=r"'min'.*Did you mean .*under `toolset`"):
        choose("loadout:min")
    with pytest.raises(InvalidDefinitionError):
        choose("oracle")


def test_L10_loadouts_that_are_not_there_are_found_with_their_lines() -> None:
    text = """\
models:
- gpt-4o
- name: a
  toolset: loadout:mine
- name: b
  toolset: loadout:Mnie
- {name: c, toolset: tiered}
- name: d
  context_window: 5
  toolset: loadout:zzz
- {name: e, toolset: "loadout:auto"}
"""
    document, _ = examine_yaml(text, "toolbelt.yaml")
    assert document is not None
    _, own, findings = read_models(document, "models")
    assert not findings
    found = list(lint_given(document, own, REGISTRY))
    assert [(one.rule, one.line) for one in found] == [("unknown-loadout", 6), ("unknown-loadout", 10)]
    assert "`models[2].toolset`: no loadout is named 'Mnie'. Did you mean 'Mine'?" in found[0].message


@pytest.mark.parametrize(
    ("toolset", "measure", "is_unmet"),
    [
        pytest.param("tiered", measured(), True, id="no-loadout"),
        pytest.param("full", measured(max_tools=2), True, id="cannot-fit"),
        pytest.param("loadout:none", measured(), True, id="matches-nothing"),
        pytest.param("loadout:mine", measured(), False, id="given-and-taken"),
        pytest.param("loadout:auto", measured(), False, id="what-is-chosen-anyway"),
    ],
)
def test_L15_it_is_known_where_what_is_given_is_not_what_is_chosen(
    toolset: str, measure: Callable[[Sequence[Tool]], ModelFit], is_unmet: bool
) -> None:
    choice = choose(toolset, measure)
    assert find_unmet(choice) == (choice.reasons[0] if is_unmet else "")


def test_a_choice_without_reasons_hides_nothing() -> None:
    assert find_unmet(AutoChoice(AutoOutcome.NONE, None, 0, None, ())) == ""
