"""Names of toolsets that a model is given: those of an eval's toolsets, but for what is for measuring alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt import Catalog, Plugin, Tool, ToolLoadout, ToolLoadoutRegistry
from toolbelt.errors import InvalidDefinitionError, NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.opening import expand_toolsets
from toolbelt.loadouts.auto import (
    AutoChoice,
    AutoOutcome,
    Recommendation,
    RecommendationOutcome,
    StepVerdict,
    TriedLoadout,
)
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.loadout import WHOLE_CATALOG
from toolbelt.loadouts.reason_text import describe_choice, describe_unmet_recommendation
from toolbelt.models.project_models import read_models
from toolbelt.models.recommended import FORMS, RecommendedKind, choose_recommended, lint_recommended, parse_recommended
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sources import examine_yaml

NAMES_CATALOG = Catalog((Plugin("git", (Tool("status"),)),))
NAMES_REGISTRY = ToolLoadoutRegistry([ToolLoadout("My Tools: all", default_plugins=frozenset({"git"}))])
AGENTS = (AgentSpec("helper", tools=("git",)),)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("full", "full"),
        (" Tiered\n", "tiered"),
        ("LOADOUT : Developer ", "loadout:Developer"),
        ("loadout:My Tools: all", "loadout:My Tools: all"),
        ("loadout:AUTO", "loadout:auto"),
        ("Dynamic", "dynamic"),
        ("dynamic:helper", "dynamic:helper"),
        ("search", "search"),
        ("Search:toolbelt-1", "search"),
        ("search:FASTMCP:K=8", "search:fastmcp:k=8"),
        ("search:fastmcp:k=5", "search:fastmcp"),
        ("search:of-the-project", "search:of-the-project"),
    ],
)
def test_E1_a_toolset_in_its_one_spelling(text: str, spelled: str) -> None:
    assert str(parse_recommended(text)) == spelled
    assert parse_recommended(spelled) == parse_recommended(text)


@pytest.mark.parametrize("text", ["full", "Loadout:DEVELOPER", "loadout: my tools: all", "loadout:auto", "tiered"])
def test_E1_what_is_given_can_be_measured_under_its_name(text: str) -> None:
    [measured] = expand_toolsets([text], NAMES_CATALOG, NAMES_REGISTRY, AGENTS)
    assert str(parse_recommended(text)).casefold() == str(measured).casefold()


def test_E1_agents_are_measured_under_their_name_too() -> None:
    measured = expand_toolsets(
        ["dynamic", str(parse_recommended("Dynamic : helper"))], NAMES_CATALOG, NAMES_REGISTRY, AGENTS
    )
    assert list(map(str, measured)) == ["dynamic", "dynamic:helper"]


@pytest.mark.parametrize(
    "text",
    ["oracle", "Oracle+9:near", "loadout", "loadout:", "loadout:*", "dynamic:*", "search:*", "search:k=0", "x", ""],
)
def test_E1_what_is_no_toolset_or_none_to_give_is_refused(text: str) -> None:
    with pytest.raises(InvalidDefinitionError):
        parse_recommended(text)


def test_a_bare_loadout_is_told_its_name_here() -> None:
    with pytest.raises(InvalidDefinitionError, match="write 'loadout:Dev'"):
        parse_recommended("dev", ["minimal", "Dev"])
    with pytest.raises(InvalidDefinitionError, match="Did you mean 'tiered'"):
        parse_recommended("tired", ["minimal", "Dev"])


def test_every_form_is_one() -> None:
    assert {parse_recommended(form).kind for form in FORMS} == set(RecommendedKind)
    assert [form for form in FORMS if parse_recommended(form).is_auto] == ["loadout:auto"]


parts = st.sampled_from(["full", "loadout", "TIERED", "dynamic", "oracle", ":", "*", " ", ",", "+", "auto", "git", "ı"])


@given(st.lists(parts, max_size=5).map("".join))
def test_what_reads_back_is_the_same_and_nothing_else_is_raised(text: str) -> None:
    try:
        found = parse_recommended(text)
    except ToolbeltError:
        return
    assert parse_recommended(str(found)) == found


CATALOG = Catalog((Plugin("git", (Tool("status"), Tool("push"))), Plugin("web", (Tool("fetch"),))))
REGISTRY = ToolLoadoutRegistry(
    [ToolLoadout("Mine", default_plugins=frozenset({"git"})), ToolLoadout("none", default_plugins=frozenset({"x"}))]
)
STEPPED = AutoChoice(AutoOutcome.NONE, None, 0, 1_000, (TriedLoadout(StepVerdict.FITS, "small", 1_000, 1, 1),))
DOES_NOT_FIT = RecommendationOutcome.DOES_NOT_FIT
TOKENS = 100
"""Of each tool."""


def measured(
    window: int | None = 1_000, max_tools: int | None = None, tool_calling: bool | None = True
) -> Callable[[Sequence[Tool]], ModelFit]:
    return lambda tools: ModelFit(
        "m", window, TOKENS * len(tools), "by hand", True, len(tools), 100, max_tools, tool_calling
    )


def choose(toolset: str, measure: Callable[[Sequence[Tool]], ModelFit] | None = None) -> AutoChoice:
    return choose_recommended(toolset, CATALOG, REGISTRY, measure or measured(), lambda: STEPPED)


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
    assert choice.recommendation is not None
    assert (choice.recommendation.outcome, choice.unmet_recommendation) == (RecommendationOutcome.TAKEN, None)
    source, fits = describe_choice(choice)
    assert "toolbelt.yaml gives it to this model" in source
    assert fits.endswith("it fits.")


@pytest.mark.parametrize(
    ("window", "named"),
    [
        pytest.param(501, "(40%): it fits.", id="two-fifths"),
        pytest.param(350, ("57%", "fits"), id="over-half-is-for-the-project-to-say"),
        pytest.param(301, ("66%", "fits"), id="the-last-that-leaves-room"),
        pytest.param(None, "window is unknown", id="an-unknown-window"),
    ],
)
def test_L15_what_is_given_is_held_to_no_half(window: int | None, named: object) -> None:
    choice = choose("loadout:Mine", measured(window))
    assert (choice.outcome, choice.window) == (AutoOutcome.LOADOUT, window)
    assert mentions(describe_choice(choice)[-1], named)


@pytest.mark.parametrize(
    ("toolset", "measure", "outcome", "named"),
    [
        pytest.param("loadout:mine", measured(300), DOES_NOT_FIT, 300, id="no-room-for-an-answer"),
        pytest.param("full", measured(max_tools=2), DOES_NOT_FIT, ("2 tools", 3), id="too-many-tools"),
        pytest.param(
            "full", measured(tool_calling=False), DOES_NOT_FIT, "It does not call tools.", id="no-tool-calling"
        ),
        pytest.param(
            "loadout:none", measured(), RecommendationOutcome.MATCHES_NOTHING, "matches nothing", id="nothing-of-it"
        ),
    ],
)
def test_L15_what_cannot_fit_is_stepped_down_from_and_says_why(
    toolset: str, measure: Callable[[Sequence[Tool]], ModelFit], outcome: RecommendationOutcome, named: object
) -> None:
    choice = choose(toolset, measure)
    assert (choice.outcome, choice.loadout) == (STEPPED.outcome, STEPPED.loadout)
    assert choice.recommendation is not None
    assert choice.recommendation.outcome is outcome
    assert choice.steps == STEPPED.steps
    assert mentions(describe_unmet_recommendation(choice), named)
    assert describe_unmet_recommendation(choice) == describe_choice(choice)[0]


@pytest.mark.parametrize("toolset", ["tiered", "dynamic", "dynamic:helper"])
def test_L15_what_is_no_loadout_leaves_the_choice_to_the_ladder_and_is_told(toolset: str) -> None:
    choice = choose(toolset)
    assert choice.loadout is STEPPED.loadout
    assert choice.recommendation == Recommendation(RecommendationOutcome.NOT_A_LOADOUT, toolset)
    assert choice.steps == STEPPED.steps


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
    found = list(lint_recommended(document, own, REGISTRY))
    assert [(one.rule, one.line) for one in found] == [("unknown-loadout", 6), ("unknown-loadout", 10)]
    assert mentions(found[0].message, "`models[2].toolset`", "Mnie", "Mine")


def test_a_choice_without_a_recommendation_has_none_unmet() -> None:
    assert STEPPED.recommendation is None
    assert STEPPED.unmet_recommendation is None
    assert describe_unmet_recommendation(STEPPED) == ""
