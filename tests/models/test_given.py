"""Names of toolsets that a model is given: those of an eval's toolsets, but for what is for measuring alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt import Catalog, Plugin, Tool, ToolLoadout, ToolLoadoutRegistry
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.evals.toolsets.opening import expand_toolsets
from toolbelt.models.given import FORMS, GivenKind, parse_given
from toolbelt.sessions.agent import AgentSpec

CATALOG = Catalog((Plugin("git", (Tool("status"),)),))
REGISTRY = ToolLoadoutRegistry([ToolLoadout("My Tools: all", default_plugins=frozenset({"git"}))])
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
    ],
)
def test_E1_a_toolset_in_its_one_spelling(text: str, spelled: str) -> None:
    assert str(parse_given(text)) == spelled
    assert parse_given(spelled) == parse_given(text)


@pytest.mark.parametrize("text", ["full", "Loadout:DEVELOPER", "loadout: my tools: all", "loadout:auto", "tiered"])
def test_E1_what_is_given_can_be_measured_under_its_name(text: str) -> None:
    [measured] = expand_toolsets([text], CATALOG, REGISTRY, AGENTS)
    assert str(parse_given(text)).casefold() == str(measured).casefold()


def test_E1_agents_are_measured_under_their_name_too() -> None:
    measured = expand_toolsets(["dynamic", str(parse_given("Dynamic : helper"))], CATALOG, REGISTRY, AGENTS)
    assert list(map(str, measured)) == ["dynamic", "dynamic:helper"]


@pytest.mark.parametrize("text", ["oracle", "Oracle+9:near", "loadout", "loadout:", "loadout:*", "dynamic:*", "x", ""])
def test_E1_what_is_no_toolset_or_none_to_give_is_refused(text: str) -> None:
    with pytest.raises(InvalidDefinitionError):
        parse_given(text)


def test_a_bare_loadout_is_told_its_name_here() -> None:
    with pytest.raises(InvalidDefinitionError, match="write 'loadout:Dev'"):
        parse_given("dev", ["minimal", "Dev"])
    with pytest.raises(InvalidDefinitionError, match="Did you mean 'tiered'"):
        parse_given("tired", ["minimal", "Dev"])


def test_every_form_is_one() -> None:
    assert {parse_given(form).kind for form in FORMS} == set(GivenKind)
    assert [form for form in FORMS if parse_given(form).is_auto] == ["loadout:auto"]


parts = st.sampled_from(["full", "loadout", "TIERED", "dynamic", "oracle", ":", "*", " ", ",", "+", "auto", "git", "ı"])


@given(st.lists(parts, max_size=5).map("".join))
def test_what_reads_back_is_the_same_and_nothing_else_is_raised(text: str) -> None:
    try:
        found = parse_given(text)
    except ToolbeltError:
        return
    assert parse_given(str(found)) == found
