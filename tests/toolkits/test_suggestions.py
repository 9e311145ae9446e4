"""Suggester on mistakes, as long as there are few: what thousands cost is bounded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import MAX_SUGGESTIONS, InvalidDefinitionError, Suggester
from toolbelt.sessions.agent import read_agents
from toolbelt.sources import parse_yaml
from toolbelt.toolkits.expand import expand_toolkits
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec

CATALOG = Catalog((Plugin("git", (Tool("status"), Tool("push"))),))
WRONG = tuple(f"statuz{number}" for number in range(MAX_SUGGESTIONS + 10))


def test_the_first_mistakes_are_given_advice_and_the_rest_none() -> None:
    suggest = Suggester()
    given = [suggest("statuz", ["status"]) for _ in range(MAX_SUGGESTIONS + 10)]
    assert given == [" Did you mean 'status'?"] * MAX_SUGGESTIONS + [""] * 10


def of_a_config() -> list[str]:
    _, notes = expand_toolkits([], CATALOG).read_config(dict.fromkeys(WRONG, True))
    return [note.message for note in notes]


def of_a_checked_config() -> list[str]:
    catalog = ToolkitCatalog((ToolSpec("status"),))
    return [note.message for note in catalog.check_config(dict.fromkeys(WRONG, True))]


def of_entries() -> list[str]:
    made = expand_toolkits([Toolkit("kit", member_tools=WRONG[:-5]), Toolkit("two", member_tools=WRONG[-5:])], CATALOG)
    return [missing.message for missing in made.unmatched]


def of_strange_members() -> list[str]:
    with pytest.raises(InvalidDefinitionError) as refused:
        ToolkitCatalog((ToolSpec("status"),), (Toolkit("kit", member_tools=WRONG),))
    return str(refused.value).splitlines()


def of_a_file() -> list[str]:
    document = parse_yaml(f"agents: {{one: {{allowed_toolkits: [{', '.join(WRONG)}]}}}}", "toolbelt.yaml")
    _, findings = read_agents(document, "agents", toolkits=[Toolkit("status")])
    return [finding.message for finding in findings]


@pytest.mark.parametrize(
    "messages",
    [of_a_config, of_a_checked_config, of_entries, of_strange_members, of_a_file],
    ids=lambda one: one.__name__,
)
def test_every_mistake_is_told_and_the_first_with_the_nearest_name(messages: Callable[[], list[str]]) -> None:
    told = messages()
    assert len(told) == len(WRONG)
    assert ["status'?" in message for message in told] == [True] * MAX_SUGGESTIONS + [False] * 10
